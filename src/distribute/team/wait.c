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
    team->was_meeting = false;
    for (int p = 0; p < team->n_arrays; p++)
        team->is_lent[p] = false;
    return pti_team_wait_members(team, POLYTILE_OK);
}

polytile_status pti_team_wait_meeting(pti_team *team) {
    bool was_meeting = team->was_meeting;
    team->was_meeting = false;
    return was_meeting ? pti_team_wait_members(team, POLYTILE_OK) : POLYTILE_OK;
}

/** Whether any local member reads an array in a superstep. */
static bool is_read(const pti_team *team, const pti_prepared_superstep *prepared, int position) {
    bool is = false;
    for (int m = 0; m < team->transport->n_local && !is; m++)
        is = prepared->parts.work[m].reads[position].n_boxes > 0;
    return is;
}

/** Let an owner's device give up elements, which come home first if anybody reads them. */
static polytile_status give_up_transfer(const pti_team *team, const pti_transfer *passed,
                                        bool is_read) {
    int local = passed->to - team->transport->first;
    polytile_queue *queue = team->member[local];
    polytile_array *array = team->reached[passed->array * team->transport->n_local + local];
    polytile_status status = POLYTILE_OK;
    if (is_read)
        PTI_TRY(pti_queue_fetch(queue, array, &passed->boxes));
    PTI_TRY(pti_queue_invalidate(queue, array, &passed->boxes));
done:
    return status;
}

polytile_status pti_team_give_up_passed(const pti_team *team,
                                        const pti_prepared_superstep *prepared) {
    polytile_status status = POLYTILE_OK;
    bool is_given_up = false;
    for (int t = 0; team->transport->shares_memory && t < prepared->parts.after.n_transfers; t++) {
        const pti_transfer *passed = &prepared->parts.after.transfer[t];
        if (!team->is_shared[passed->array])
            continue;
        PTI_TRY(give_up_transfer(team, passed, is_read(team, prepared, passed->array)));
        is_given_up = true;
    }
    if (is_given_up)
        PTI_TRY(pti_team_wait_members(team, POLYTILE_OK));
done:
    return status;
}

polytile_status pti_team_wait_lent(pti_team *team, const pti_prepared_superstep *prepared) {
    const pti_superstep superstep = {.n_arrays = team->n_arrays,
                                     .ownerships = team->ownership,
                                     .n_members = team->transport->n_members};
    const pti_joint_request request =
        pti_team_joint_request(team, &superstep, &prepared->parts, prepared->runs_once);
    const int first = team->transport->first, n_local = team->transport->n_local;
    polytile_status status = POLYTILE_OK;
    if (pti_joint_waits_first(&request, first, n_local))
        PTI_TRY(pti_team_wait_members(team, POLYTILE_OK));
    pti_joint_lend(&request, first, n_local, team->is_lent);
    team->was_meeting = prepared->meets;
done:
    return status;
}
