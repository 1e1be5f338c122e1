#include "base/clock.h"
#include "distribute/group/run.h"

#include <math.h>

/* What programs ask of a group without waiting, or have called when it is done. */

/** Bring a local member's own elements of an array to the program's memory, where its own array
 * lies. */
static polytile_status fetch_from_member(pti_group *group, const polytile_array *array, int local) {
    polytile_array *of = group->array[array->position].member[local];
    pti_boxes owned = {0};
    polytile_status status;
    if (of == NULL)
        return POLYTILE_OK;
    pti_ownership_boxes(&group->ownership[array->position], group->transport->first + local,
                        &owned);
    pti_boxes_clip(&owned, &of->domain);
    if (owned.failed)
        PTI_TRY(pti_fail_memory(group->ctx, array->name, sizeof *owned.box));
    PTI_TRY(pti_queue_fetch(group->member[local], of, &owned));
    PTI_TRY(pti_queue_wait_for_elements(group->member[local], of));
done:
    pti_boxes_free(&owned);
    return status;
}

static polytile_status fetch_from_all(pti_group *group, const polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local; m++)
        PTI_TRY(fetch_from_member(group, array, m));
done:
    return status;
}

/** While the function runs, the queue refuses all calls. */
static void call_user(polytile_queue_callback *callback, polytile_status status, void *user) {
    pti_error inside = {0};
    pti_error *before = pti_redirect_errors(&inside);
    callback(status, user);
    pti_redirect_errors(before);
}

polytile_status pti_group_notify_program(polytile_queue *queue, polytile_array *array,
                                         polytile_queue_callback *callback, void *user) {
    pti_group *group = queue->group;
    if (!pti_transport_is_alone(group->transport))
        return pti_fail(
            group->ctx, POLYTILE_UNSUPPORTED,
            "queue on %s: no function can be called when array %s is done: over ranks "
            "launches run, and messages are sent, only in the program's own calls; wait "
            "for the array",
            pti_queue_text(queue), array->name);
    pti_group_run(group);
    if (queue->error.status == POLYTILE_OK)
        pti_queue_keep_error(queue, fetch_from_all(group, array));
    const polytile_status status = queue->error.status;
    call_user(callback, status, user);
    return POLYTILE_OK;
}

/** The share of a superstep that is done: that of the slowest member. */
static double share_of_superstep(const pti_group *group) {
    double least = 1;
    for (int m = 0; m < group->transport->n_local; m++)
        least = fmin(least, polytile_queue_get_progress(group->member[m]).fraction);
    return least;
}

static int read_count(const int *count) {
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

polytile_progress pti_group_get_progress(polytile_queue *queue) {
    const pti_group *group = queue->group;
    const pti_group_progress *at = &group->progress;
    const int n_launches = read_count(&at->n_launches);
    double begun_s;
    __atomic_load(&at->begun_s, &begun_s, __ATOMIC_RELAXED);
    if (n_launches == 0)
        return (polytile_progress){.fraction = 1, .left_s = 0};
    const double fraction =
        (read_count(&at->n_done) + read_count(&at->n_running) * share_of_superstep(group)) /
        n_launches;
    const double taken_s = pti_now_s() - begun_s;
    return (polytile_progress){.fraction = fmin(fraction, 1),
                               .left_s = begun_s == 0 || fraction <= 0
                                             ? INFINITY
                                             : taken_s * fmax(1 - fraction, 0) / fraction};
}

void pti_group_cancel(polytile_queue *queue) {
    const pti_group *group = queue->group;
    for (int m = 0; m < group->transport->n_local; m++)
        polytile_queue_cancel(group->member[m]);
}
