#include "base/text.h"
#include "distribute/team/state.h"
#include "launch/device/completeness.h"

/* Running what is recorded. A process that fails goes on through the exchanges of all supersteps,
 * without computing, until all agree on the error. */

/** Of several failures of this process the first stays. */
static bool has_failure(const pti_team *team) {
    return team->failure.status != POLYTILE_OK;
}

/** Where no member may still use what is lent, and another is about to write, nobody waits first.
 * Notes what is lent after the superstep. */
static int find_first_op(pti_team *team, const pti_prepared_superstep *prepared) {
    const pti_superstep superstep = {.n_arrays = team->n_arrays,
                                     .ownerships = team->ownership,
                                     .n_members = team->transport->n_members};
    const pti_joint_request request =
        pti_team_joint_request(team, &superstep, &prepared->parts, prepared->runs_once);
    const int first = team->transport->first, n_local = team->transport->n_local;
    const bool waits = pti_joint_waits_first(&request, first, n_local);
    pti_joint_lend(&request, first, n_local, team->is_lent);
    return waits ? 0 : prepared->n_lent_ops;
}

/** A superstep that can run ahead leaves a gate behind it, at which the next one begins. */
static void run_superstep(pti_team *team, pti_prepared_superstep *prepared,
                          const pti_recorded *recorded, const pti_team_last *last, bool is_ahead) {
    pti_team_run_list(&(pti_list_run){.team = team,
                                      .list = &prepared->list,
                                      .first_op = find_first_op(team, prepared),
                                      .messages = &prepared->messages,
                                      .prepared = prepared,
                                      .recorded = recorded,
                                      .last = last,
                                      .is_ahead = is_ahead});
    pti_team_open_used_gates(team);
}

/** A process that fails here finds the supersteps that others find, too. */
static polytile_status adopt_copies(pti_team *team, const pti_prepared_superstep *prepared) {
    team->copies_id = prepared->ends;
    return pti_copies_assign(&team->copies, &prepared->copies)
               ? POLYTILE_OK
               : pti_fail_memory(team->ctx, pti_queue_text(team->queue),
                                 team->transport->n_members * (double)sizeof(pti_boxes));
}

/** Have memory for the messages of all prepared supersteps that have none: of a new one, and, if
 * arrays lie elsewhere for it, of those before it. */
static polytile_status open_messages(pti_team *team) {
    polytile_status status = POLYTILE_OK;
    if (team->transport->functions->open == NULL)
        return POLYTILE_OK;
    for (pti_prepared_superstep *prepared = team->prepared_supersteps; prepared != NULL;
         prepared = prepared->next)
        if (prepared->messages.state == NULL)
            PTI_TRY(team->transport->functions->open(team->transport, &prepared->messages));
done:
    return status;
}

/** Whether members over one memory have room for what they compute twice, now that it is known what
 * they reach. */
static bool have_members_room(const pti_team *team, const pti_prepared_superstep *prepared) {
    bool has = true;
    for (int m = 0; m < team->transport->n_local; m++)
        has &= pti_team_fits(team, m);
    return has || !team->transport->shares_memory || prepared->runs_once;
}

/** What is new is prepared, and proved, when all before it is done. */
static void find_superstep_and_reach(pti_team *team, int at, pti_prepared_superstep **prepared,
                                     bool *is_new) {
    *prepared = pti_team_find_prepared(team, at, is_new);
    if (*is_new || *prepared == NULL)
        pti_team_open_gates(team);
    if (*prepared == NULL)
        pti_team_note_failure(
            team, pti_fail_memory(team->ctx, team->recorded[at].prepared->instance->kernel_name,
                                  team->transport->n_members * (double)sizeof(pti_boxes)));
    else if (!has_failure(team))
        pti_team_note_failure(team, pti_team_reach_prepared(team, *prepared, &team->recorded[at]));
}

/** Prepare a superstep, or find it prepared. Of a new one all agree that they can take part in it.
 * Returns what they agree on. */
static polytile_status prepare_superstep(pti_team *team, int at, pti_prepared_superstep **prepared,
                                         bool *is_new) {
    const pti_transport_functions *functions = team->transport->functions;
    find_superstep_and_reach(team, at, prepared, is_new);
    if (!has_failure(team) && !have_members_room(team, *prepared)) {
        team->is_shallow = true;
        find_superstep_and_reach(team, at, prepared, is_new);
    }
    if (*is_new && !has_failure(team))
        pti_team_note_failure(team, pti_team_prove_superstep(team, at, *prepared));
    if (*is_new && !has_failure(team))
        pti_team_note_failure(team, open_messages(team));
    return *is_new ? functions->agree(team->transport, pti_error_restore(team->ctx, &team->failure))
                   : POLYTILE_OK;
}

/** The arrays that leave with the launches of a superstep: none unless it is the last. */
static const pti_team_last *leaving_with(const pti_team *team,
                                         const pti_prepared_superstep *prepared, int at,
                                         const pti_team_last *all) {
    static const pti_team_last none = {0};
    return at + prepared->n_launches == team->n_recorded ? all : &none;
}

/** Note that launches begin, behind others that may still run. */
static void note_begun(pti_team *team, int at, int n_launches) {
    if (team->n_gates == 0)
        team->ahead_from = at;
    pti_team_note_progress(team, team->ahead_from, at + n_launches - team->ahead_from);
}

/** What was run before finds its arrays, and its devices room, so that nobody has to wait for
 * it. */
static bool runs_ahead(const pti_team *team, const pti_prepared_superstep *prepared, bool is_new,
                       const pti_team_last *last) {
    return !is_new && last->n_arrays == 0 && pti_team_may_run_ahead(team, prepared);
}

/** Run the next recorded launches, as a superstep or row by row; *at moves on after them.
 * Returns the failure of some to take part, which all know, and which ends the run. */
static polytile_status run_next(pti_team *team, const pti_team_last *all, int *at) {
    pti_prepared_superstep *prepared;
    bool is_done = false, is_new;
    note_begun(team, *at, 1);
    if (!has_failure(team))
        pti_team_note_failure(team, pti_team_refuse_cancelled(team));
    if (!has_failure(team))
        pti_team_note_failure(team, pti_team_deal_launch(team, *at, &is_done));
    if (is_done) {
        (*at)++;
        return POLYTILE_OK;
    }
    polytile_status stopped = prepare_superstep(team, *at, &prepared, &is_new);
    if (stopped != POLYTILE_OK)
        return stopped;
    const pti_team_last *last = leaving_with(team, prepared, *at, all);
    const bool is_ahead = runs_ahead(team, prepared, is_new, last);
    if (!is_ahead)
        pti_team_open_gates(team);
    note_begun(team, *at, prepared->n_launches);
    run_superstep(team, prepared, &team->recorded[*at], last, is_ahead);
    pti_team_note_failure(team, adopt_copies(team, prepared));
    *at += prepared->n_launches;
    return POLYTILE_OK;
}

/** All that is recorded. */
static void run_supersteps(pti_team *team, const pti_team_last *all) {
    polytile_status stopped = POLYTILE_OK;
    for (int at = 0; at < team->n_recorded && stopped == POLYTILE_OK;)
        stopped = run_next(team, all, &at);
    pti_team_open_gates(team);
    if (stopped != POLYTILE_OK)
        pti_team_note_failure(team, PTI_PEER_FAILED);
}

/** Returns this process's first failure, whose text is the last error. */
static polytile_status run_recorded(pti_team *team, const pti_team_last *all,
                                    polytile_status status) {
    team->failure = (pti_error){0};
    pti_team_note_failure(team, status);
    run_supersteps(team, all);
    return pti_team_wait_members(team, pti_error_restore(team->ctx, &team->failure));
}

/* The end. */

static void note_operand(pti_team *team, const pti_prepared *prepared, int operand,
                         polytile_status status) {
    pti_team_array *of = &team->array[prepared->position[operand]];
    of->is_written = true;
    if (status != POLYTILE_OK)
        pti_team_note_changed(team, of->array);
    if (status != POLYTILE_OK || pti_completeness_is_overwritten(prepared->instance, operand))
        pti_array_set_complete(of->array, status == POLYTILE_OK);
}

static void note_written_arrays(pti_team *team, polytile_status status) {
    for (int k = 0; k < team->n_recorded; k++) {
        const pti_prepared *prepared = team->recorded[k].prepared;
        for (int a = 0; a < prepared->n_arrays; a++) {
            if (prepared->instance->operand[a].writes)
                note_operand(team, prepared, a, status);
        }
    }
}

/** Name the queue's arrays that failures left incomplete, in place of those that one member
 * named. */
static void name_incomplete(const pti_team *team, polytile_status status) {
    pti_text names = {0};
    if (status == POLYTILE_OK)
        return;
    for (int p = 0; p < team->n_arrays; p++) {
        const polytile_array *array = team->array[p].array;
        if (array != NULL && pti_array_get_state(array) == PTI_ARRAY_HARMED)
            pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_set_incomplete(team->ctx, status, &names);
}

void pti_team_run(pti_team *team) {
    pti_team_run_to_end(team, &(pti_team_last){0});
}

/** That ranks differ is known to all of them; who could not compare still goes through what the
 * others do. */
void pti_team_run_to_end(pti_team *team, const pti_team_last *last) {
    if (team->is_given_up)
        return;
    bool differs;
    polytile_status status = pti_team_compare(team, NULL, POLYTILE_OK, &differs);
    if (status == POLYTILE_OK)
        status = pti_team_balance_load(team);
    if (!differs) {
        status = run_recorded(team, last, status);
        status = team->transport->functions->agree(team->transport, status);
        note_written_arrays(team, status);
        name_incomplete(team, status);
    }
    if (status == POLYTILE_OK)
        team->n_launches += team->n_recorded;
    pti_queue_keep_error(team->queue, status);
    if (status == POLYTILE_OK)
        pti_team_drop_recorded(team);
    else
        pti_team_forget_all(team);
}

polytile_status pti_team_wait(pti_team *team) {
    pti_team_run(team);
    return pti_queue_take_error(team->queue);
}
