#include "launch/cuda/staging/staging_state.h"

#include "launch/cuda/runtime/order.h"
#include "launch/cuda/runtime/timing.h"

/** Enqueue the copy of the found chunk, and with an operation's first and last one what goes before
 * and after the operation. */
static polytile_status receive_chunk(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    pti_cursor *cursor = &staging->downloads;
    polytile_status status = POLYTILE_OK;
    if (cursor->n_taken == 0) {
        PTI_TRY(pti_cuda_order_wait(cuda->order, &cursor->command));
        PTI_TRY(pti_cuda_timing_start(cuda->timing, &cursor->command));
    }
    PTI_TRY(pti_buffer_receive(cuda, pti_cursor_hold_chunk(cursor, &staging->out)));
    staging->n_steps++;
    if (cursor->n_taken == cursor->chunks.n_chunks) {
        PTI_TRY(pti_cuda_timing_stop(cuda->timing, &cursor->command));
        PTI_TRY(pti_cuda_order_record(cuda->order, &cursor->command));
    }
done:
    return status;
}

/** Receive chunks while there are buffers. Errors name the download, not the current command. */
static polytile_status receive_what_fits(pti_staging *staging) {
    const pti_command *at_hand = staging->cuda->command;
    pti_cursor *cursor = &staging->downloads;
    polytile_status status = POLYTILE_OK;
    while (status == POLYTILE_OK && pti_cursor_find(staging, cursor, staging->n_handed) &&
           pti_ring_has_free(&staging->out)) {
        staging->cuda->command = &cursor->command;
        status = receive_chunk(staging);
        staging->cuda->command = at_hand;
    }
    return status;
}

/** Return whether a buffer's operation comes later: two may download the same element, the later
 * one its newer value. */
static bool comes_after(const pti_buffer *later, const pti_buffer *earlier) {
    polytile_domain common;
    return later->op_index != earlier->op_index && later->operand == earlier->operand &&
           pti_box_intersect(&later->chunk, &earlier->chunk, &common);
}

static bool comes_after_a_drain(pti_ring *out, const pti_buffer *buffer) {
    for (int64_t k = out->n_returned; k < out->n_passed_on; k++) {
        if (comes_after(buffer, pti_ring_at(out, k)))
            return true;
    }
    return false;
}

static polytile_status drain_what_arrived(pti_staging *staging) {
    pti_ring *out = &staging->out;
    polytile_status status = POLYTILE_OK;
    while (out->n_passed_on < out->n_taken) {
        pti_buffer *buffer = pti_ring_at(out, out->n_passed_on);
        bool has_arrived;
        PTI_TRY(pti_cuda_is_done(staging->cuda, buffer->event, &has_arrived));
        if (!has_arrived || comes_after_a_drain(out, buffer))
            break;
        pti_buffer_drain(buffer, staging->copiers);
        out->n_passed_on++;
        staging->n_steps++;
    }
done:
    return status;
}

static void take_back_what_is_drained(pti_staging *staging) {
    pti_ring *out = &staging->out;
    while (out->n_returned < out->n_passed_on &&
           pti_buffer_is_copied(pti_ring_at(out, out->n_returned))) {
        out->n_returned++;
        staging->n_steps++;
    }
}

polytile_status pti_serve_downloads(pti_staging *staging) {
    polytile_status status;
    take_back_what_is_drained(staging);
    PTI_TRY(drain_what_arrived(staging));
    PTI_TRY(receive_what_fits(staging));
done:
    return status;
}
