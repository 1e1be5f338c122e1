#include "distribute/team_state.h"
#include "queue/failure.h"

/* Members over one memory: who waits for whom. */

/** Whether local members read elements of each other in a stage. */
static bool is_read_across(const pti_team *team, const pti_stage *stage, int position) {
    bool is_across = false;
    for (int m = 0; m < team->transport->n_local && !is_across; m++) {
        const pti_boxes *reads = &stage->work[m].reads[position];
        polytile_domain owned =
            pti_ownership_hull(&team->ownership[position], team->transport->first + m);
        for (int b = 0; b < reads->n_boxes && !is_across; b++)
            is_across = !pti_box_contains(&owned, &reads->box[b]);
    }
    return is_across || !pti_ownership_is_whole(&team->ownership[position]);
}

static bool is_written(const pti_team *team, const pti_stage *stage, int position) {
    bool is = false;
    for (int m = 0; m < team->transport->n_local && !is; m++)
        is = stage->work[m].writes[position].n_boxes > 0;
    return is;
}

polytile_status pti_team_settle_members(const pti_team *team, polytile_status status) {
    char *text = pti_error_keep(team->queue, status);
    for (int m = 0; m < team->transport->n_local; m++) {
        polytile_status ended = polytile_queue_wait(team->member[m]);
        if (status != POLYTILE_OK || ended == POLYTILE_OK)
            continue;
        status = ended;
        text = pti_error_keep(team->queue, status);
    }
    pti_error_restore(team->queue, status, text);
    return status;
}

polytile_status pti_team_settle_all(pti_team *team) {
    team->was_deep = false;
    for (int p = 0; p < team->n_arrays; p++)
        team->array[p].is_lent = false;
    return pti_team_settle_members(team, POLYTILE_OK);
}

polytile_status pti_team_settle_deep(pti_team *team) {
    bool was_deep = team->was_deep;
    team->was_deep = false;
    return was_deep ? pti_team_settle_members(team, POLYTILE_OK) : POLYTILE_OK;
}

polytile_status pti_team_settle_lent(pti_team *team, const pti_stage *stage) {
    bool must_wait = false;
    polytile_status status = POLYTILE_OK;
    for (int p = 0; team->transport->shares_memory && p < team->n_arrays; p++)
        must_wait |= team->array[p].is_lent && is_written(team, stage, p);
    if (must_wait)
        PTI_TRY(pti_team_settle_members(team, POLYTILE_OK));
    for (int p = 0; team->transport->shares_memory && p < team->n_arrays; p++)
        team->array[p].is_lent =
            team->array[p].array != NULL &&
            ((team->array[p].is_lent && !must_wait) || is_read_across(team, stage, p));
    team->was_deep = team->transport->shares_memory && stage->n_launches > 1;
done:
    return status;
}
