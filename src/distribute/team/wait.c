#include "distribute/team/state.h"

/* Members over one memory: who waits for whom. */

/** Whether a local member touches elements of others. */
static bool is_across(const pti_team *team, int position, int local, const pti_boxes *touched) {
    polytile_domain owned =
        pti_ownership_hull(&team->ownership[position], team->transport->first + local);
    bool is = false;
    for (int b = 0; b < touched->n_boxes && !is; b++)
        is = !pti_box_contains(&owned, &touched->box[b]);
    return is;
}

/** Whether local members read elements of each other in a superstep. */
static bool is_read_across(const pti_team *team, const pti_prepared_superstep *prepared,
                           int position) {
    bool is = !pti_ownership_is_whole(&team->ownership[position]);
    for (int m = 0; m < team->transport->n_local && !is; m++)
        is = is_across(team, position, m, &prepared->parts.work[m].reads[position]);
    return is;
}

static bool is_programs(const pti_team *team, int position) {
    return team->array[position].array != NULL && team->array[position].memory == PTI_TEAM_PROGRAMS;
}

/** Whether local members write elements of each other in the program's memory: their owners may
 * still use them. */
static bool is_written_across(const pti_team *team, const pti_prepared_superstep *prepared,
                              int position) {
    bool is_whole = pti_ownership_is_whole(&team->ownership[position]);
    bool is = false;
    for (int m = 0; m < team->transport->n_local && is_programs(team, position) && !is; m++) {
        const pti_boxes *writes = &prepared->parts.work[m].writes[position];
        is = writes->n_boxes > 0 && (!is_whole || is_across(team, position, m, writes));
    }
    return is;
}

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
        team->array[p].is_lent = false;
    return pti_team_wait_members(team, POLYTILE_OK);
}

/** Whether a thread that runs twice would read what it wrote the first time. What it reduces into,
 * starting from the identity, it does not read. */
static bool rereads_results(const pti_team *team, const pti_shared_launch *launch) {
    const pti_instance *instance = launch->call.instance;
    bool does = false;
    for (int w = 0; w < instance->n_operands; w++) {
        const pti_operand *written = &instance->operand[w];
        bool is_shared = written->writes && !(written->reduces && written->fresh) &&
                         team->array[launch->call.array[w]].memory == PTI_TEAM_PROGRAMS;
        for (int r = 0; is_shared && r < instance->n_operands; r++)
            does |= instance->operand[r].reads && launch->call.array[r] == launch->call.array[w];
    }
    return does;
}

bool pti_team_meets(const pti_team *team, const pti_superstep *superstep, const pti_home *homes) {
    if (!team->transport->shares_memory)
        return false;
    return superstep->n_launches > 1 ||
           (rereads_results(team, superstep->launch) &&
            pti_home_repeats(homes, superstep->launch, superstep->ownerships));
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
        if (!is_programs(team, passed->array))
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
    bool must_wait = false;
    polytile_status status = POLYTILE_OK;
    for (int p = 0; team->transport->shares_memory && p < team->n_arrays; p++)
        must_wait |= (team->array[p].is_lent && pti_team_writes(team, prepared, p)) ||
                     is_written_across(team, prepared, p);
    if (must_wait)
        PTI_TRY(pti_team_wait_members(team, POLYTILE_OK));
    for (int p = 0; team->transport->shares_memory && p < team->n_arrays; p++)
        team->array[p].is_lent =
            team->array[p].array != NULL &&
            ((team->array[p].is_lent && !must_wait) || is_read_across(team, prepared, p));
    team->was_meeting = prepared->meets;
done:
    return status;
}
