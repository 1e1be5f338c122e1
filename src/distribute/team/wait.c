#include "distribute/team/state.h"

/* Members over one memory: who waits for whom. */

bool pti_team_writes(const pti_team *team, const pti_prepared_superstep *prepared, int position) {
    bool is = false;
    for (int m = 0; m < team->transport->n_local && !is; m++)
        is = prepared->parts.work[m].writes[position].n_boxes > 0;
    return is;
}

polytile_status pti_team_wait_members(const pti_team *team, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, team->ctx, status);
    for (int m = 0; m < team->transport->n_local; m++)
        pti_error_keep(&first, team->ctx, polytile_queue_wait(team->member[m]));
    return pti_error_restore(team->ctx, &first);
}

polytile_status pti_team_wait_all(pti_team *team) {
    for (int p = 0; p < team->n_arrays; p++)
        team->is_lent[p] = false;
    return pti_team_wait_members(team, POLYTILE_OK);
}
