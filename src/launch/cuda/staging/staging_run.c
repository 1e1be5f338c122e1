#include "launch/cuda/staging/staging_state.h"

#include "base/checked.h"
#include "launch/device/execution.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/** How often the thread looks, for about a microsecond each, before it sleeps. */
enum { LOOKS_BEFORE_SLEEP = 200, SLEEP_NS = 20 * 1000 };

/** Set download_before; newest: a list to be overwritten, one an operand. */
static void chain_downloads(pti_staging *staging, const pti_schedule *schedule, int64_t *newest) {
    for (int a = 0; a < schedule->instance->n_operands; a++)
        newest[a] = -1;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        staging->download_before[k] = -1;
        if (op->kind != PTI_UPLOAD && op->kind != PTI_DOWNLOAD)
            continue;
        int64_t *newest_of_operand = &newest[schedule->placement[op->placement].operand];
        staging->download_before[k] = *newest_of_operand;
        if (op->kind == PTI_DOWNLOAD)
            *newest_of_operand = k;
    }
}

polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution,
                                  const pti_cuda_host_memory *kinds) {
    const pti_schedule *schedule = execution->schedule;
    size_t n_entries = (size_t)schedule->n_ops + (size_t)schedule->instance->n_operands;
    staging->download_before = malloc((n_entries + 1) * sizeof *staging->download_before);
    if (staging->download_before == NULL)
        return pti_fail_memory(staging->cuda->device.object.context,
                               schedule->instance->kernel_name, (double)n_entries * 8);
    chain_downloads(staging, schedule, staging->download_before + schedule->n_ops);
    staging->execution = execution;
    staging->kinds = kinds;
    staging->n_handed = staging->n_direct = 0;
    pti_ring_clear(&staging->in);
    pti_ring_clear(&staging->out);
    pti_cursor_begin(&staging->uploads, PTI_UPLOAD);
    pti_cursor_begin(&staging->downloads, PTI_DOWNLOAD);
    return POLYTILE_OK;
}

/** Advance all buffers that can advance, without waiting. */
static polytile_status pump_staging(pti_staging *staging) {
    polytile_status status;
    PTI_TRY(pti_look_back(staging));
    PTI_TRY(pti_serve_downloads(staging));
    PTI_TRY(pti_look_ahead(staging));
done:
    return status;
}

/** Sleep only when nothing has moved for as long as a copy may take. */
static void rest_briefly(pti_staging *staging) {
    static const struct timespec pause = {.tv_nsec = SLEEP_NS};
    if (++staging->n_idle < LOOKS_BEFORE_SLEEP)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

/** Pump between two looks, and leave the processor to others briefly if nothing moves. */
static polytile_status pump_or_rest(pti_staging *staging) {
    int64_t n_steps = staging->n_steps;
    polytile_status status = pump_staging(staging);
    if (staging->n_steps != n_steps)
        staging->n_idle = 0;
    else
        rest_briefly(staging);
    return status;
}

static polytile_status send_oldest(pti_staging *staging) {
    pti_ring *in = &staging->in;
    polytile_status status = POLYTILE_OK;
    while (in->n_passed_on == in->n_taken ||
           !pti_buffer_is_copied(pti_ring_at(in, in->n_passed_on)))
        PTI_TRY(pump_or_rest(staging));
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
        PTI_TRY(pump_staging(staging));
        PTI_TRY(send_oldest(staging));
    }
done:
    return status;
}

polytile_status pti_staging_download(pti_staging *staging, const pti_command *command) {
    staging->n_handed = command->index + 1;
    return pump_staging(staging);
}

/** Return the last download that must be recorded before a command is enqueued. */
static int64_t last_needed(const pti_staging *staging, const pti_command *command, bool is_staged) {
    const pti_schedule *schedule = staging->execution->schedule;
    int64_t last = -1;
    if (command->op->kind == PTI_DOWNLOAD && !is_staged)
        return command->index - 1;
    for (int w = 0; w < command->op->n_waits; w++) {
        int64_t other = schedule->wait[command->op->first_wait + w];
        if (schedule->op[other].kind == PTI_DOWNLOAD)
            last = pti_max(last, other);
    }
    return last;
}

/** Return the newest staged download that must be in the user's memory before a direct transfer is
 * enqueued. The schedule orders direct ones. */
static int64_t newest_to_drain(pti_staging *staging, const pti_command *command, bool is_staged) {
    bool is_transfer = command->op->kind == PTI_UPLOAD || command->op->kind == PTI_DOWNLOAD;
    return is_transfer && !is_staged ? pti_newest_conflict(staging, command, pti_n_drained(staging))
                                     : -1;
}

polytile_status pti_staging_wait_command(pti_staging *staging, const pti_command *command) {
    polytile_status status;
    bool is_staged = pti_cuda_is_staged(command, staging->kinds);
    int64_t needed = last_needed(staging, command, is_staged);
    staging->n_handed = command->index;
    PTI_TRY(pump_staging(staging));
    while (pti_n_received(staging) <= needed)
        PTI_TRY(pump_or_rest(staging));
    int64_t conflict = newest_to_drain(staging, command, is_staged);
    while (pti_n_drained(staging) <= conflict)
        PTI_TRY(pump_or_rest(staging));
done:
    return status;
}

static bool is_at_rest(const pti_staging *staging) {
    return staging->in.n_returned == staging->in.n_taken &&
           pti_n_drained(staging) == staging->execution->schedule->n_ops;
}

polytile_status pti_staging_finish(pti_staging *staging, bool succeeded) {
    polytile_status status = POLYTILE_OK;
    if (succeeded && staging->execution != NULL) {
        staging->n_handed = staging->execution->schedule->n_ops;
        do
            PTI_TRY(pump_or_rest(staging));
        while (!is_at_rest(staging));
    }
done:
    pti_copiers_wait(staging->copiers);
    free(staging->download_before);
    staging->download_before = NULL;
    staging->execution = NULL;
    return status;
}
