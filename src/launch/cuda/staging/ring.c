#include "launch/cuda/staging/ring.h"

#include "base/checked.h"
#include "launch/cuda/runtime/copy.h"
#include "launch/host/copy/chunks.h"

polytile_status pti_ring_create(pti_cuda_device *cuda, char *memory, int n_buffers,
                                int64_t buffer_bytes, pti_ring *ring) {
    polytile_status status = POLYTILE_OK;
    ring->n_buffers = n_buffers;
    for (int k = 0; k < n_buffers; k++) {
        pti_buffer *buffer = &ring->buffer[k];
        buffer->memory = memory + k * buffer_bytes;
        buffer->slice_bytes = buffer_bytes / PTI_BUFFER_SLICES;
        PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&buffer->event, cudaEventDisableTiming)));
    }
done:
    return status;
}

void pti_ring_destroy(const pti_cuda_device *cuda, pti_ring *ring) {
    for (int k = 0; k < PTI_RING_BUFFERS; k++) {
        if (ring->buffer[k].event != NULL)
            cuda->api->cudaEventDestroy(ring->buffer[k].event);
    }
}

void pti_ring_clear(pti_ring *ring) {
    ring->n_taken = ring->n_passed_on = ring->n_returned = 0;
}

static polytile_domain places_of(const polytile_domain *chunk) {
    polytile_domain places = {.n_dims = chunk->n_dims};
    for (int d = 0; d < chunk->n_dims; d++)
        places.range[d] = (polytile_range){0, pti_range_count(chunk->range[d]) - 1, 1};
    return places;
}

/** Return the span of a chunk's elements, by their places. */
static pti_memory_span span_of(const pti_memory_span *whole, const polytile_domain *chunk,
                               const polytile_domain *places, pti_memory_layout *layout) {
    layout->hull = *places;
    for (int d = 0; d < chunk->n_dims; d++)
        layout->stride_bytes[d] =
            pti_mul_wrapped(chunk->range[d].step, whole->layout->stride_bytes[d]);
    return (pti_memory_span){
        (char *)whole->base + pti_memory_layout_offset_of(whole->layout, chunk), layout};
}

void pti_buffer_hold(pti_buffer *buffer, const pti_command *command, const polytile_domain *chunk) {
    const pti_move *move = &command->move;
    bool is_upload = command->op->kind == PTI_UPLOAD;
    buffer->op_index = command->index;
    buffer->operand = command->operand;
    buffer->element_bytes = move->element_bytes;
    buffer->chunk = *chunk;
    buffer->places = places_of(chunk);
    buffer->packed_layout = pti_memory_layout_of(&buffer->places, move->element_bytes);
    buffer->packed = (pti_memory_span){buffer->memory, &buffer->packed_layout};
    buffer->host =
        span_of(is_upload ? &move->from : &move->to, chunk, &buffer->places, &buffer->host_layout);
    buffer->device = span_of(is_upload ? &move->to : &move->from, chunk, &buffer->places,
                             &buffer->device_layout);
}

static void submit_slices(pti_buffer *buffer, pti_copiers *copiers, pti_memory_span to,
                          pti_memory_span from, bool keeps_cache) {
    pti_chunks slices = pti_chunks_of(&buffer->places, buffer->element_bytes, buffer->slice_bytes);
    buffer->n_slices = (int)slices.n_chunks;
    buffer->n_slices_done = 0;
    for (int k = 0; k < buffer->n_slices; k++) {
        pti_buffer_slice *slice = &buffer->slice[k];
        slice->box = pti_chunks_get(&slices, k);
        slice->task.move = (pti_move){&slice->box, buffer->element_bytes, to, from};
        slice->task.keeps_cache = keeps_cache;
        pti_copiers_submit(copiers, &slice->task);
    }
}

void pti_buffer_fill(pti_buffer *buffer, pti_copiers *copiers) {
    submit_slices(buffer, copiers, buffer->packed, buffer->host, true);
}

void pti_buffer_drain(pti_buffer *buffer, pti_copiers *copiers) {
    submit_slices(buffer, copiers, buffer->host, buffer->packed, false);
}

bool pti_buffer_is_copied(pti_buffer *buffer) {
    while (buffer->n_slices_done < buffer->n_slices &&
           pti_copiers_is_done(&buffer->slice[buffer->n_slices_done].task))
        buffer->n_slices_done++;
    return buffer->n_slices_done == buffer->n_slices;
}

static polytile_status enqueue_copy(pti_cuda_device *cuda, pti_buffer *buffer, pti_memory_span to,
                                    pti_memory_span from, enum cudaMemcpyKind kind,
                                    pti_stream stream) {
    polytile_status status;
    pti_move move = {&buffer->places, buffer->element_bytes, to, from};
    PTI_TRY(pti_cuda_copy(cuda, &move, kind, cuda->stream[stream]));
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (buffer->event, cuda->stream[stream])));
done:
    return status;
}

polytile_status pti_buffer_send(pti_cuda_device *cuda, pti_buffer *buffer) {
    return enqueue_copy(cuda, buffer, buffer->device, buffer->packed, cudaMemcpyHostToDevice,
                        PTI_STREAM_IN);
}

polytile_status pti_buffer_receive(pti_cuda_device *cuda, pti_buffer *buffer) {
    return enqueue_copy(cuda, buffer, buffer->packed, buffer->device, cudaMemcpyDeviceToHost,
                        PTI_STREAM_OUT);
}
