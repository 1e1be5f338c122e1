#include "graph/stream/stream.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* The plan's memories, and the arrays over the positions of their channels. */

polytile_status pti_stream_fail_memory(const polytile_stream *stream, int64_t n_bytes) {
    return pti_fail_memory(stream->object.context, stream->name, (double)n_bytes);
}

polytile_status pti_stream_copy_within(polytile_device *device, bool is_on_gpu, void *to,
                                       const void *from, int64_t n_bytes) {
    if (is_on_gpu) {
        const pti_byte_copy copy = {
            .way = PTI_WAY_WITHIN, .to = to, .from = from, .n_bytes = n_bytes};
        return device->functions->copy_bytes(device, &copy);
    }
    if (n_bytes > 0 && from != NULL)
        memcpy(to, from, (size_t)n_bytes);
    else if (n_bytes > 0)
        memset(to, 0, (size_t)n_bytes);
    return POLYTILE_OK;
}

/** Return the device of the unit that computes in a memory of a GPU; NULL: it is the host's. */
static polytile_device *find_gpu(const polytile_stream *stream, int memory) {
    for (int l = 0; l < stream->n_lanes; l++)
        if (stream->lane[l].is_unit && stream->lane[l].memory == memory &&
            stream->lane[l].cut_bytes == 0 && stream->lane[l].device->cuda_capability > 0)
            return stream->lane[l].device;
    return NULL;
}

enum { PAGE_BYTES = 4096 };

/** Pin pages for the first lane whose device can, since that serves all. */
static void pin_pages(const polytile_stream *stream, int64_t n_bytes, pti_stream_pages *pages) {
    for (int l = 0; l < stream->n_lanes && pages->pinned == NULL; l++) {
        polytile_device *device = stream->lane[l].device;
        if (device == NULL || device->functions->pin == NULL)
            continue;
        if (device->functions->pin(device, pages->base, n_bytes))
            pages->pinned = device;
        return;
    }
}

static polytile_status take_pages(const polytile_stream *stream, int64_t n_bytes,
                                  pti_stream_pages *pages) {
    n_bytes = pti_ceil_div(pti_max(n_bytes, 1), PAGE_BYTES) * PAGE_BYTES;
    pages->base = aligned_alloc(PAGE_BYTES, (size_t)n_bytes);
    if (pages->base == NULL)
        return pti_stream_fail_memory(stream, n_bytes);
    memset(pages->base, 0, (size_t)n_bytes);
    pin_pages(stream, n_bytes, pages);
    return POLYTILE_OK;
}

static void free_pages(pti_stream_pages *pages) {
    if (pages->pinned != NULL)
        pages->pinned->functions->unpin(pages->pinned, pages->base);
    free(pages->base);
}

/** Memory of the host, also for units that stand in for a device with a memory of its own, is the
 * library's; that of a GPU is its device's. */
static polytile_status take_one(polytile_stream *stream, int memory, int64_t n_bytes) {
    pti_stream_memory *stream_memory = &stream->memory[memory];
    void *base = NULL;
    polytile_status status;
    stream_memory->device = find_gpu(stream, memory);
    stream_memory->is_on_gpu = stream_memory->device != NULL;
    n_bytes = pti_max(n_bytes, 1);
    if (!stream_memory->is_on_gpu) {
        status = take_pages(stream, n_bytes, &stream_memory->pages);
        stream_memory->base = stream_memory->pages.base;
        return status;
    }
    PTI_TRY(stream_memory->device->functions->reserve(stream_memory->device, n_bytes, &base));
    stream_memory->base = base;
    PTI_TRY(pti_stream_copy_within(stream_memory->device, true, base, NULL, n_bytes));
done:
    return status;
}

polytile_status pti_stream_describe_rows(const polytile_stream *stream,
                                         const pti_graph_array *array, int memory,
                                         polytile_range rows, char *bytes,
                                         polytile_array **described) {
    polytile_domain domain = array->domain;
    domain.range[0] = rows;
    const polytile_status status =
        pti_array_create(stream->object.context, array->name, array->type, &domain, described);
    if (status == POLYTILE_OK)
        (*described)->whole = array->domain;
    if (status == POLYTILE_OK && stream->memory[memory].is_on_gpu)
        (*described)->device_data = bytes;
    else if (status == POLYTILE_OK)
        (*described)->data = bytes;
    return status;
}

/** Return the rows of an array that a buffer has. */
static polytile_range find_rows(const pti_graph_array *array, int64_t offset_bytes,
                                int64_t n_bytes) {
    const int64_t row_bytes = pti_graph_row_bytes(array);
    const polytile_range *whole = &array->domain.range[0];
    if (n_bytes == array->n_bytes)
        return *whole;
    const int64_t lo = whole->lo + offset_bytes / row_bytes;
    return (polytile_range){lo, lo + n_bytes / row_bytes - 1, 1};
}

static polytile_status describe_positions(polytile_stream *stream, const pti_graph_array *array,
                                          int64_t offset_bytes, pti_stream_buffer *buffer) {
    const polytile_range rows = find_rows(array, offset_bytes, buffer->frame_bytes);
    polytile_status status = POLYTILE_OK;
    buffer->array = calloc((size_t)buffer->capacity, sizeof *buffer->array);
    if (buffer->array == NULL)
        return pti_stream_fail_memory(stream, buffer->capacity);
    for (int64_t s = 0; s < buffer->capacity; s++) {
        char *bytes = buffer->base == NULL ? NULL : buffer->base + s * buffer->frame_bytes;
        PTI_TRY(pti_stream_describe_rows(stream, array, buffer->memory, rows, bytes,
                                         &buffer->array[s]));
    }
done:
    return status;
}

/** Say where a buffer lies, and describe its positions as arrays. */
static polytile_status describe_buffer(polytile_stream *stream, const polytile_graph *graph,
                                       const pti_channel *channel, int b) {
    pti_stream_buffer *buffer = &stream->buffer[b];
    const int array = stream->expansion.buffer[b].array;
    char *base = stream->memory[channel->memory].base;
    const bool is_here = pti_stream_has_memory(stream, channel->memory);
    const int64_t n_spare = pti_stream_n_spare(stream, b);
    polytile_status status = POLYTILE_OK;
    *buffer = (pti_stream_buffer){.frame_bytes = stream->expansion.tasks.buffer[b].frame_bytes,
                                  .capacity = channel->capacity,
                                  .base = base == NULL ? NULL : base + channel->offset_bytes,
                                  .memory = channel->memory,
                                  .is_state = pti_expansion_is_state(&stream->expansion, b)};
    buffer->capacity += n_spare;
    if (is_here)
        stream->n_bytes += channel->n_bytes + n_spare * buffer->frame_bytes;
    if (is_here && n_spare > 0) {
        PTI_TRY(take_pages(stream, buffer->capacity * buffer->frame_bytes, &buffer->pages));
        buffer->base = buffer->pages.base;
    }
    buffer->is_lost = calloc((size_t)buffer->capacity, sizeof *buffer->is_lost);
    if (buffer->is_lost == NULL)
        return pti_stream_fail_memory(stream, buffer->capacity);
    status = array < 0 || !is_here
                 ? POLYTILE_OK
                 : describe_positions(stream, &graph->array[array % graph->n_arrays],
                                      stream->expansion.buffer[b].offset_bytes, buffer);
done:
    return status;
}

polytile_status pti_stream_take_memory(polytile_stream *stream, const polytile_graph *graph,
                                       const polytile_graph_plan *plan) {
    const int n_buffers = stream->expansion.tasks.n_buffers;
    polytile_status status = POLYTILE_OK;
    stream->n_memories = plan->n_memories;
    stream->memory = calloc((size_t)plan->n_memories + 1, sizeof *stream->memory);
    stream->buffer = calloc((size_t)n_buffers + 1, sizeof *stream->buffer);
    if (stream->memory == NULL || stream->buffer == NULL)
        return pti_stream_fail_memory(stream, n_buffers);
    for (int m = 0; m < plan->n_memories; m++)
        if (pti_stream_has_memory(stream, m))
            PTI_TRY(take_one(stream, m, plan->memory[m].channel_bytes));
    for (int b = 0; b < n_buffers; b++)
        PTI_TRY(describe_buffer(stream, graph, &plan->channel[b], b));
done:
    return status;
}

static void free_buffer(pti_stream_buffer *buffer) {
    for (int64_t s = 0; buffer->array != NULL && s < buffer->capacity; s++)
        polytile_array_destroy(buffer->array[s]);
    free(buffer->array);
    free(buffer->is_lost);
    free_pages(&buffer->pages);
}

void pti_stream_free_memory(polytile_stream *stream) {
    for (int b = 0; stream->buffer != NULL && b < stream->expansion.tasks.n_buffers; b++)
        free_buffer(&stream->buffer[b]);
    for (int m = 0; stream->memory != NULL && m < stream->n_memories; m++)
        free_pages(&stream->memory[m].pages);
    free(stream->buffer);
    free(stream->memory);
}
