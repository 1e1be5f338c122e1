#include "distribute/group/run.h"

/* What runs before all that is recorded is run: launches up to a team kernel that the program sends
 * messages to, and a first superstep while more launches come. */

/** Return the newest team kernel that is recorded; -1: none is. */
static int find_newest_team(const pti_group *group) {
    int at = group->n_recorded - 1;
    while (at >= 0 && !pti_group_has_slots(group, at))
        at--;
    return at;
}

/** Begin to run what is recorded, unless some of it runs already. */
static void begin_recorded(pti_group *group) {
    if (group->begun.is_begun)
        return;
    const polytile_status status = pti_group_compare_recorded(group, &group->begun.differs);
    group->begun.is_begun = true;
    group->failure = (pti_error){0};
    pti_group_note_failure(group, status);
}

/** Run what is recorded before a team kernel, and begin that. */
static polytile_status run_up_to(pti_group *group, int team) {
    static const pti_group_last none = {0};
    pti_group_begun *begun = &group->begun;
    polytile_status stopped = begun->stopped;
    while (begun->at < team && stopped == POLYTILE_OK)
        stopped = pti_group_run_next(group, &none, &begun->at);
    return stopped == POLYTILE_OK ? pti_group_begin_team(group, team, &begun->prepared) : stopped;
}

void pti_group_begin_messages(polytile_queue *queue) {
    pti_group *group = queue->group;
    const int team = find_newest_team(group);
    if (group->begun.has_messages || team < 0)
        return;
    if (group->is_given_up) {
        pti_server_give_up(group->recorded[team].server, NULL);
        return;
    }
    begin_recorded(group);
    group->begun.has_messages = true;
    if (group->is_given_up)
        pti_queue_keep_error(group->queue, pti_group_failure_so_far(group));
    if (!group->begun.differs)
        group->begun.stopped = run_up_to(group, team);
    if (group->begun.stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
    if (pti_group_has_failure(group))
        pti_group_give_up_slots(group, group->recorded[team].server);
}

void pti_group_end_messages(pti_group *group) {
    if (group->begun.has_messages)
        pti_group_run(group);
}

/* What runs while more launches come. */

/** Return whether more launches would not change the first superstep, which is not the last, and
 * members take it without waiting for others: neither processes nor the program. */
static bool may_begin_first(const pti_group *group) {
    bool may = group->n_recorded == PTI_SUPERSTEP_LAUNCHES + 1 && !group->begun.is_begun &&
               !group->is_paused && pti_transport_is_alone(group->transport) &&
               group->queue->error.status == POLYTILE_OK;
    for (int k = 0; k < group->n_recorded && may; k++)
        may = !pti_group_has_slots(group, k);
    return may;
}

void pti_group_begin_first(pti_group *group) {
    static const pti_group_last none = {0};
    if (!may_begin_first(group))
        return;
    begin_recorded(group);
    if (!pti_group_has_failure(group))
        group->begun.stopped = pti_group_run_next(group, &none, &group->begun.at);
    if (group->begun.stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
}

void pti_group_end_begun(pti_group *group) {
    if (group->begun.is_begun)
        pti_group_run(group);
}
