#include "launch/cuda/staging/staging_state.h"

#include "base/checked.h"
#include "launch/device/execution.h"

/** Downloads of pageable memory all go through the ring. Others may have been enqueued straight
 * into the user's memory, which staging does not see. */
static bool may_download_directly(const pti_staging *staging, int operand) {
    return staging->kinds[operand] != PTI_CUDA_PAGEABLE;
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

int64_t pti_newest_unseen(pti_staging *staging, const pti_command *command) {
    int64_t since = pti_n_drained(staging);
    if (may_download_directly(staging, command->operand))
        since = pti_min(since, staging->n_direct);
    return pti_newest_conflict(staging, command, since);
}

/** Wait for the direct downloads that were enqueued; rare, so all of the stream will do. */
static polytile_status wait_for_direct(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    staging->n_direct = staging->n_handed;
    return PTI_CUDA(cuda, cudaStreamSynchronize, (cuda->stream[PTI_STREAM_OUT]));
}

/** Whether the elements of the upload that was found are in the user's memory. */
static polytile_status is_there(pti_staging *staging, bool *there) {
    const pti_cursor *cursor = &staging->uploads;
    bool is_direct = may_download_directly(staging, cursor->command.operand) &&
                     cursor->conflict >= staging->n_direct;
    *there = cursor->conflict < pti_n_drained(staging);
    if (!*there || !is_direct)
        return POLYTILE_OK;
    *there = cursor->op_index <= staging->n_handed;
    return *there ? wait_for_direct(staging) : POLYTILE_OK;
}

polytile_status pti_look_ahead(pti_staging *staging) {
    polytile_status status = POLYTILE_OK;
    int64_t n_ops = staging->execution->schedule->n_ops;
    while (pti_ring_has_free(&staging->in) && pti_cursor_find(staging, &staging->uploads, n_ops)) {
        bool there;
        PTI_TRY(is_there(staging, &there));
        if (!there)
            break;
        pti_buffer_fill(pti_cursor_take(&staging->uploads, &staging->in), staging->copiers);
        staging->n_steps++;
    }
done:
    return status;
}

polytile_status pti_look_back(pti_staging *staging) {
    polytile_status status = POLYTILE_OK;
    pti_ring *in = &staging->in;
    while (in->n_returned < in->n_passed_on) {
        bool has_arrived;
        PTI_TRY(
            pti_cuda_is_done(staging->cuda, pti_ring_at(in, in->n_returned)->event, &has_arrived));
        if (!has_arrived)
            break;
        in->n_returned++;
        staging->n_steps++;
    }
done:
    return status;
}

static polytile_status send_oldest(pti_staging *staging) {
    pti_ring *in = &staging->in;
    polytile_status status = POLYTILE_OK;
    while (in->n_passed_on == in->n_taken ||
           !pti_buffer_is_copied(pti_ring_at(in, in->n_passed_on)))
        PTI_TRY(pti_staging_wait(staging));
    PTI_TRY(pti_buffer_send(staging->cuda, pti_ring_at(in, in->n_passed_on)));
    in->n_passed_on++;
    staging->n_steps++;
done:
    return status;
}

polytile_status pti_staging_upload(pti_staging *staging, const pti_command *command) {
    const pti_move *move = &command->move;
    polytile_status status = POLYTILE_OK;
    pti_chunks chunks = pti_chunks_of(move->box, move->element_bytes, staging->buffer_bytes);
    staging->n_handed = command->index;
    for (int64_t k = 0; k < chunks.n_chunks; k++) {
        PTI_TRY(pti_staging_pump(staging));
        PTI_TRY(send_oldest(staging));
    }
done:
    return status;
}
