#include "base/clock.h"
#include "distribute/team/state.h"

/* What a run of a team notes and asks between supersteps, for other threads. */

polytile_status pti_team_refuse_cancelled(const pti_team *team) {
    const polytile_queue *queue = team->queue;
    if (!pti_cancel_covers(&queue->cancel, queue->n_queued - team->n_recorded + 1))
        return POLYTILE_OK;
    return pti_fail(team->ctx, POLYTILE_CANCELLED, "queue on %s: cancelled", pti_queue_text(queue));
}

static void write_count(int *count, int value) {
    __atomic_store_n(count, value, __ATOMIC_RELAXED);
}

void pti_team_note_progress(pti_team *team, int n_done, int n_running) {
    double begun_s = team->progress.begun_s;
    if (n_done == 0)
        begun_s = pti_now_s();
    __atomic_store(&team->progress.begun_s, &begun_s, __ATOMIC_RELAXED);
    write_count(&team->progress.n_done, n_done);
    write_count(&team->progress.n_running, n_running);
    write_count(&team->progress.n_launches, team->n_recorded);
}
