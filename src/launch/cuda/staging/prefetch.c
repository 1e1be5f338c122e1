#include "launch/cuda/staging/staging_state.h"

#include "launch/device/execution.h"

/** Wait for enqueued direct downloads: for the whole stream, since this is rare. */
static polytile_status wait_for_direct(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    staging->n_direct = staging->n_handed;
    return PTI_CUDA(cuda, cudaStreamSynchronize, (cuda->stream[PTI_STREAM_OUT]));
}

/** Find out whether the found upload's elements are in the user's memory. */
static polytile_status is_there(pti_staging *staging, bool *there) {
    const pti_cursor *cursor = &staging->uploads;
    bool is_direct = pti_may_download_directly(staging, cursor->command.operand) &&
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
        pti_buffer_fill(pti_cursor_hold_chunk(&staging->uploads, &staging->in), staging->copiers);
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
