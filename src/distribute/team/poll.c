#include "base/clock.h"
#include "distribute/team/state.h"

#include <math.h>

/* What programs ask of a team without waiting, or have called when it is done. */

/** Bring a local member's own elements of an array to the program's memory, where its own array
 * lies. */
static polytile_status bring_member_home(pti_team *team, const polytile_array *array, int local) {
    polytile_array *of = team->array[array->position].member[local];
    pti_boxes owned = {0};
    polytile_status status;
    if (of == NULL)
        return POLYTILE_OK;
    pti_ownership_boxes(&team->ownership[array->position], team->transport->first + local, &owned);
    pti_boxes_clip(&owned, &of->domain);
    if (owned.failed)
        PTI_TRY(pti_fail_memory(team->ctx, array->name, sizeof *owned.box));
    PTI_TRY(pti_queue_fetch(team->member[local], of, &owned));
    PTI_TRY(pti_queue_wait_for_elements(team->member[local], of));
done:
    pti_boxes_free(&owned);
    return status;
}

static polytile_status bring_all_home(pti_team *team, const polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++)
        PTI_TRY(bring_member_home(team, array, m));
done:
    return status;
}

/** While the function runs, the queue refuses all calls. */
static void call_user(polytile_queue_callback *callback, polytile_status status, void *user) {
    pti_error inside = {0};
    pti_redirect_errors(&inside);
    callback(status, user);
    pti_redirect_errors(NULL);
}

polytile_status pti_team_notify_program(polytile_queue *queue, polytile_array *array,
                                        polytile_queue_callback *callback, void *user) {
    pti_team *team = queue->team;
    if (!pti_transport_is_alone(team->transport))
        return pti_fail(
            team->ctx, POLYTILE_UNSUPPORTED,
            "queue on %s: no function can be called when array %s is done: over ranks "
            "launches run, and messages are sent, only in the program's own calls; wait "
            "for the array",
            pti_queue_text(queue), array->name);
    pti_team_run(team);
    if (queue->error.status == POLYTILE_OK)
        pti_queue_keep_error(queue, bring_all_home(team, array));
    const polytile_status status = queue->error.status;
    call_user(callback, status, user);
    return POLYTILE_OK;
}

/** The share of a superstep that is done: that of the slowest member. */
static double share_of_superstep(const pti_team *team) {
    double least = 1;
    for (int m = 0; m < team->transport->n_local; m++)
        least = fmin(least, polytile_queue_get_progress(team->member[m]).fraction);
    return least;
}

static int read_count(const int *count) {
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

polytile_progress pti_team_get_progress(polytile_queue *queue) {
    const pti_team *team = queue->team;
    const pti_team_progress *at = &team->progress;
    const int n_launches = read_count(&at->n_launches);
    double begun_s;
    __atomic_load(&at->begun_s, &begun_s, __ATOMIC_RELAXED);
    if (n_launches == 0)
        return (polytile_progress){.fraction = 1, .left_s = 0};
    const double fraction =
        (read_count(&at->n_done) + read_count(&at->n_running) * share_of_superstep(team)) /
        n_launches;
    const double taken_s = pti_now_s() - begun_s;
    return (polytile_progress){.fraction = fmin(fraction, 1),
                               .left_s = begun_s == 0 || fraction <= 0
                                             ? INFINITY
                                             : taken_s * fmax(1 - fraction, 0) / fraction};
}

void pti_team_cancel(polytile_queue *queue) {
    const pti_team *team = queue->team;
    for (int m = 0; m < team->transport->n_local; m++)
        polytile_queue_cancel(team->member[m]);
}
