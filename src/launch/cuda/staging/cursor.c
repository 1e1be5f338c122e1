#include "launch/cuda/staging/staging_state.h"

#include "base/checked.h"
#include "launch/device/execution.h"

void pti_cursor_begin(pti_cursor *cursor, pti_op_kind kind) {
    *cursor = (pti_cursor){.kind = kind, .conflict = -1};
}

int64_t pti_n_received(const pti_staging *staging) {
    return staging->downloads.op_index;
}

int64_t pti_n_drained(const pti_staging *staging) {
    const pti_ring *out = &staging->out;
    if (out->n_returned == out->n_taken)
        return pti_n_received(staging);
    return out->buffer[out->n_returned % out->n_buffers].op_index;
}

int64_t pti_newest_conflict(pti_staging *staging, const pti_command *command, int64_t since) {
    const pti_op *op = staging->execution->schedule->op;
    polytile_domain common;
    int64_t other = staging->download_before[command->index];
    for (int n = 0; n < PTI_MOST_LOOKS && other >= since; n++) {
        staging->n_looks++;
        if (pti_box_intersect(&op[other].box, &op[command->index].box, &common))
            return other;
        other = staging->download_before[other];
    }
    return other >= since ? other : -1;
}

/** Return the newest conflict of an upload that threads read from the user's memory with downloads
 * that may not be there yet, also direct ones. */
static int64_t newest_unseen(pti_staging *staging, const pti_command *command) {
    int64_t since = pti_n_drained(staging);
    if (pti_may_download_directly(staging, command->operand))
        since = pti_min(since, staging->n_direct);
    return pti_newest_conflict(staging, command, since);
}

static bool open_next(const pti_staging *staging, pti_cursor *cursor, int64_t end) {
    const pti_op *op = staging->execution->schedule->op;
    for (; cursor->op_index < end; cursor->op_index++) {
        if (op[cursor->op_index].kind != cursor->kind)
            continue;
        cursor->command = pti_execution_resolve(staging->execution, cursor->op_index);
        if (pti_cuda_is_staged(&cursor->command, staging->kinds))
            return true;
    }
    return false;
}

bool pti_cursor_find(pti_staging *staging, pti_cursor *cursor, int64_t end) {
    while (!cursor->is_open || cursor->n_taken == cursor->chunks.n_chunks) {
        cursor->op_index += cursor->is_open;
        cursor->is_open = false;
        if (!open_next(staging, cursor, end))
            return false;
        const pti_move *move = &cursor->command.move;
        cursor->chunks = pti_chunks_of(move->box, move->element_bytes, staging->buffer_bytes);
        cursor->n_taken = 0;
        cursor->is_open = true;
        if (cursor->kind == PTI_UPLOAD)
            cursor->conflict = newest_unseen(staging, &cursor->command);
    }
    return true;
}

pti_buffer *pti_cursor_hold_chunk(pti_cursor *cursor, pti_ring *ring) {
    polytile_domain chunk = pti_chunks_get(&cursor->chunks, cursor->n_taken++);
    pti_buffer *buffer = pti_ring_at(ring, ring->n_taken++);
    pti_buffer_hold(buffer, &cursor->command, &chunk);
    return buffer;
}
