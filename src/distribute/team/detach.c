#include "queue/detach.h"
#include "distribute/team/state.h"
#include "queue/member.h"

/* How arrays leave the queues of local members, all at once, and are discarded there. */

/** An array that was refused never was the team's. */
static bool is_array_known(const pti_team *team, const polytile_array *array) {
    return array->position < team->n_arrays && team->array[array->position].array == array;
}

polytile_status pti_team_begin_leaving(pti_team *team, const polytile_array *array) {
    if (!is_array_known(team, array))
        return POLYTILE_OK;
    pti_team_array *of = &team->array[array->position];
    for (int m = 0; m < team->transport->n_local && !of->is_leaving; m++) {
        if (of->member[m] != NULL)
            pti_queue_begin_leaving(team->member[m], of->member[m]);
    }
    of->is_leaving = true;
    return POLYTILE_OK;
}

polytile_status pti_team_finish_leaving(pti_team *team, const polytile_array *array) {
    pti_error first = {0};
    if (!is_array_known(team, array))
        return POLYTILE_OK;
    pti_team_array *of = &team->array[array->position];
    pti_team_begin_leaving(team, array);
    for (int m = 0; m < team->transport->n_local; m++) {
        if (of->member[m] == NULL)
            continue;
        pti_queue_finish_leaving(team->member[m], 1, &of->member[m]);
        pti_error_keep(&first, team->ctx, pti_queue_take_error(team->member[m]));
        polytile_array_destroy(of->member[m]);
        of->member[m] = NULL;
        team->reached[array->position * team->transport->n_local + m] = NULL;
    }
    return pti_error_restore(team->ctx, &first);
}

/** Discard an array in local members' queues, once. */
static polytile_status discard_on_members(pti_team *team, const polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    pti_team_array *of = &team->array[array->position];
    for (int m = 0; m < team->transport->n_local && !of->is_discarded; m++) {
        if (of->member[m] != NULL)
            PTI_TRY(pti_queue_discard(team->member[m], of->member[m]));
    }
    of->is_discarded = true;
done:
    return status;
}

polytile_status pti_team_discard(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays) {
    pti_team *team = queue->team;
    pti_error first = {0};
    pti_team_run_to_end(team, &(pti_team_last){n_arrays, arrays, discard_on_members});
    for (int a = 0; a < n_arrays; a++) {
        pti_error_keep(&first, team->ctx, discard_on_members(team, arrays[a]));
        team->array[arrays[a]->position].is_discarded = false;
        pti_array_set_state(arrays[a], PTI_ARRAY_DISCARDED);
    }
    return pti_error_restore(team->ctx, &first);
}
