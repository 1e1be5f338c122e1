#include "base/clock.h"
#include "distribute/group/run.h"

/* What a run of a group notes and asks between supersteps, for other threads. */

polytile_status pti_group_refuse_cancelled(const pti_group *group) {
    const polytile_queue *queue = group->queue;
    if (!pti_cancel_covers(&queue->cancel, queue->n_queued - group->n_recorded + 1))
        return POLYTILE_OK;
    return pti_fail(group->ctx, POLYTILE_CANCELLED, "queue on %s: cancelled",
                    pti_queue_text(queue));
}

static void write_count(int *count, int value) {
    __atomic_store_n(count, value, __ATOMIC_RELAXED);
}

void pti_group_note_progress(pti_group *group, int n_done, int n_running) {
    double begun_s = group->progress.begun_s;
    if (n_done == 0)
        begun_s = pti_now_s();
    __atomic_store(&group->progress.begun_s, &begun_s, __ATOMIC_RELAXED);
    write_count(&group->progress.n_done, n_done);
    write_count(&group->progress.n_running, n_running);
    write_count(&group->progress.n_launches, group->n_recorded);
}
