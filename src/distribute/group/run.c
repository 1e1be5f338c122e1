#include "distribute/group/run.h"
#include "base/text.h"
#include "distribute/deal/launch.h"
#include "distribute/members/gates.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/member_array.h"
#include "distribute/members/prepared_superstep.h"
#include "distribute/members/wait.h"
#include "launch/device/completeness.h"
#include "message/program.h"

/* Running what is recorded. A process that fails goes on through the exchanges of all supersteps,
 * without computing, until all agree on the error. */

/** Return whether this process has failed. */
static bool has_failure(const pti_group *group) {
    return group->failure.status != POLYTILE_OK;
}

/** Return the first operation that is run of a superstep's list: those before it wait until nobody
 * uses lent arrays, and are left out where no member writes what another may still use. Notes what
 * is lent after the superstep. */
static int find_first_op(pti_group *group, const pti_prepared_superstep *prepared) {
    const pti_superstep superstep = {.n_arrays = group->n_arrays,
                                     .ownerships = group->ownership,
                                     .n_members = group->transport->n_members};
    const pti_joint_request request =
        pti_group_joint_request(group, &superstep, &prepared->parts, prepared->runs_once, false);
    const int first = group->transport->first, n_local = group->transport->n_local;
    const bool waits = pti_joint_waits_first(&request, first, n_local);
    pti_joint_lend(&request, first, n_local, group->is_lent);
    return waits ? 0 : prepared->n_lent_ops;
}

/** Run a superstep. One that can run ahead leaves a gate behind it, at which the next one begins.
 */
static void run_superstep(pti_group *group, pti_prepared_superstep *prepared,
                          const pti_recorded *recorded, const pti_group_last *last, bool is_ahead) {
    pti_group_run_list(&(pti_list_run){.group = group,
                                       .list = pti_group_choose_list(group, prepared, !is_ahead),
                                       .first_op = find_first_op(group, prepared),
                                       .messages = &prepared->messages,
                                       .prepared = prepared,
                                       .recorded = recorded,
                                       .last = last,
                                       .is_ahead = is_ahead});
    pti_group_open_used_gates(group);
}

/** End a team kernel's launch as this process has failed, or as another one has. */
static void give_up_slots(pti_group *group, pti_server *server) {
    const pti_error of_peer =
        pti_error_of(POLYTILE_DEVICE, "another rank has failed; its next wait says why");
    pti_server_give_up(server,
                       group->failure.status == PTI_PEER_FAILED ? &of_peer : &group->failure);
}

/** Have the slots of a team kernel run. After a failure those that do run must not wait for
 * others. */
static void begin_slots(pti_group *group, pti_prepared_superstep *prepared,
                        const pti_recorded *recorded) {
    static const pti_group_last none = {0};
    if (!has_failure(group))
        pti_group_note_failure(group, pti_group_deal_slots(group, prepared, recorded));
    pti_group_run_list(&(pti_list_run){.group = group,
                                       .list = &prepared->list,
                                       .first_op = find_first_op(group, prepared),
                                       .messages = &prepared->messages,
                                       .prepared = prepared,
                                       .recorded = recorded,
                                       .last = &none,
                                       .only_launches = true});
    if (has_failure(group))
        give_up_slots(group, recorded->server);
}

/** Carry the messages of slots between processes until all have returned. */
static void carry_messages(pti_group *group, const pti_recorded *recorded) {
    bool is_of_peer;
    if (pti_transport_count_processes(group->transport) == 1)
        return;
    const polytile_status status = pti_server_carry(recorded->server, group->ctx, &is_of_peer);
    pti_group_note_failure(group, is_of_peer ? PTI_PEER_FAILED : status);
}

/** Run what comes after the slots in their superstep. */
static void run_behind_slots(pti_group *group, pti_prepared_superstep *prepared,
                             const pti_recorded *recorded, const pti_group_last *last) {
    const int end = pti_group_end_of_launches(&prepared->list, prepared->n_launches);
    pti_group_run_list(&(pti_list_run){.group = group,
                                       .list = &prepared->list,
                                       .first_op = end,
                                       .messages = &prepared->messages,
                                       .prepared = prepared,
                                       .recorded = recorded,
                                       .last = last});
}

/** Take over the copies that members have after a superstep; so this process goes on to find the
 * supersteps that others find, also if it fails here. */
static polytile_status adopt_copies(pti_group *group, const pti_prepared_superstep *prepared) {
    group->copies_id = prepared->ends;
    return pti_copies_assign(&group->copies, &prepared->copies)
               ? POLYTILE_OK
               : pti_fail_memory(group->ctx, pti_queue_text(group->queue),
                                 group->transport->n_members * (double)sizeof(pti_boxes));
}

/** Return whether members over one memory have room for what they compute twice, now that it is
 * known what they touch. */
static bool have_members_room(const pti_group *group, const pti_prepared_superstep *prepared) {
    bool has = true;
    for (int m = 0; m < group->transport->n_local; m++)
        has &= pti_group_fits(group, m);
    return has || !group->transport->shares_memory || prepared->runs_once;
}

/** Find or prepare the next superstep, and extend members' arrays for it. Opens the gates first if
 * it is new: it is prepared and proved when all before it is done. */
static void find_superstep_and_extend_arrays(pti_group *group, int at,
                                             pti_prepared_superstep **prepared, bool *is_new) {
    *prepared = pti_group_find_prepared(group, at, is_new);
    if (*is_new || *prepared == NULL)
        pti_group_open_gates(group);
    if (*prepared == NULL)
        pti_group_note_failure(
            group, pti_fail_memory(group->ctx, group->recorded[at].prepared->instance->kernel_name,
                                   group->transport->n_members * (double)sizeof(pti_boxes)));
    else if (!has_failure(group))
        pti_group_note_failure(
            group, pti_group_extend_for_superstep(group, *prepared, &group->recorded[at]));
}

/** Prepare a superstep, or find it prepared. Of a new one all agree that they can take part in it.
 * Returns what they agree on. */
static polytile_status prepare_superstep(pti_group *group, int at,
                                         pti_prepared_superstep **prepared, bool *is_new) {
    const pti_transport_functions *functions = group->transport->functions;
    find_superstep_and_extend_arrays(group, at, prepared, is_new);
    if (!has_failure(group) && !have_members_room(group, *prepared)) {
        group->is_shallow = true;
        find_superstep_and_extend_arrays(group, at, prepared, is_new);
    }
    if (*is_new && !has_failure(group))
        pti_group_note_failure(group, pti_group_prove_superstep(group, at, *prepared));
    if (*is_new && !has_failure(group))
        pti_group_note_failure(group, pti_group_open_messages(group));
    return *is_new
               ? functions->agree(group->transport, pti_error_restore(group->ctx, &group->failure))
               : POLYTILE_OK;
}

/** The arrays that leave with the launches of a superstep: none unless it is the last. */
static const pti_group_last *leaving_with(const pti_group *group,
                                          const pti_prepared_superstep *prepared, int at,
                                          const pti_group_last *all) {
    static const pti_group_last none = {0};
    return at + prepared->n_launches == group->n_recorded ? all : &none;
}

/** Note that launches begin, behind others that may still run. */
static void note_begun(pti_group *group, int at, int n_launches) {
    if (group->n_gates == 0)
        group->ahead_from = at;
    pti_group_note_progress(group, group->ahead_from, at + n_launches - group->ahead_from);
}

/** What was run before finds its arrays, and its devices room, so that nobody has to wait for
 * it. */
static bool runs_ahead(const pti_group *group, const pti_prepared_superstep *prepared, bool is_new,
                       const pti_group_last *last) {
    return !is_new && last->n_arrays == 0 && pti_group_may_run_ahead(group, prepared);
}

/** Return whether a superstep is of a team kernel. */
static bool has_slots(const pti_group *group, int at) {
    return group->recorded[at].server != NULL;
}

/** This process's failure so far, whose text is the last error. */
static polytile_status failure_so_far(const pti_group *group) {
    return pti_error_restore(group->ctx, &group->failure);
}

/** Try to deal out a launch's rows, with all that it reads in one place. */
static void deal_launch(pti_group *group, int at, bool *is_done) {
    pti_group_note_failure(
        group, pti_group_settle_used(group, group->recorded[at].prepared, failure_so_far(group)));
    pti_group_note_failure(group, pti_group_deal_launch(group, at, is_done));
}

/** Begin a team kernel as a superstep; *prepared stays NULL if some fail to take part, as is
 * returned. */
static polytile_status begin_team(pti_group *group, int at, pti_prepared_superstep **prepared) {
    pti_prepared_superstep *found;
    bool is_new;
    *prepared = NULL;
    note_begun(group, at, 1);
    if (!has_failure(group))
        pti_group_note_failure(group, pti_group_refuse_cancelled(group));
    pti_group_note_failure(group, pti_group_settle_all(group, failure_so_far(group)));
    polytile_status stopped = prepare_superstep(group, at, &found, &is_new);
    if (stopped != POLYTILE_OK || found == NULL)
        return stopped;
    *prepared = found;
    pti_group_open_gates(group);
    pti_server_open(group->recorded[at].server, ++group->n_teams);
    begin_slots(group, found, &group->recorded[at]);
    return POLYTILE_OK;
}

/** Run a team kernel's superstep to its end, of which the slots run; *at moves on after it. */
static void end_team(pti_group *group, const pti_group_last *all, pti_prepared_superstep *prepared,
                     int *at) {
    carry_messages(group, &group->recorded[*at]);
    run_behind_slots(group, prepared, &group->recorded[*at],
                     leaving_with(group, prepared, *at, all));
    pti_group_note_failure(group, adopt_copies(group, prepared));
    (*at)++;
}

/** Run the next recorded launches, as a superstep or row by row; *at moves on after them.
 * Returns the failure of some to take part, which all know, and which ends the run. */
static polytile_status run_next(pti_group *group, const pti_group_last *all, int *at) {
    pti_prepared_superstep *prepared;
    bool is_done = false, is_new;
    if (has_slots(group, *at)) {
        const polytile_status begun = begin_team(group, *at, &prepared);
        if (prepared != NULL)
            end_team(group, all, prepared, at);
        return begun;
    }
    note_begun(group, *at, 1);
    if (!has_failure(group))
        pti_group_note_failure(group, pti_group_refuse_cancelled(group));
    if (!has_failure(group) || !pti_transport_is_alone(group->transport))
        deal_launch(group, *at, &is_done);
    if (is_done) {
        (*at)++;
        return POLYTILE_OK;
    }
    pti_group_note_failure(group, pti_group_settle_all(group, failure_so_far(group)));
    polytile_status stopped = prepare_superstep(group, *at, &prepared, &is_new);
    if (stopped != POLYTILE_OK)
        return stopped;
    const pti_group_last *last = leaving_with(group, prepared, *at, all);
    const bool is_ahead = runs_ahead(group, prepared, is_new, last);
    if (!is_ahead)
        pti_group_open_gates(group);
    note_begun(group, *at, prepared->n_launches);
    run_superstep(group, prepared, &group->recorded[*at], last, is_ahead);
    pti_group_note_failure(group, adopt_copies(group, prepared));
    *at += prepared->n_launches;
    return POLYTILE_OK;
}

/** Run all that is recorded. */
static void run_supersteps(pti_group *group, const pti_group_last *all) {
    polytile_status stopped = group->begun.stopped;
    int at = group->begun.at;
    if (group->begun.prepared != NULL)
        end_team(group, all, group->begun.prepared, &at);
    while (at < group->n_recorded && stopped == POLYTILE_OK)
        stopped = run_next(group, all, &at);
    pti_group_open_gates(group);
    if (stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
}

/** Return this process's first failure, whose text is the last error. */
static polytile_status run_recorded(pti_group *group, const pti_group_last *all,
                                    polytile_status status) {
    if (!group->begun.is_begun)
        group->failure = (pti_error){0};
    pti_group_note_failure(group, status);
    run_supersteps(group, all);
    return pti_group_wait_members(group, pti_error_restore(group->ctx, &group->failure));
}

/* The end. */

static void note_operand(pti_group *group, const pti_prepared *prepared, int operand,
                         polytile_status status) {
    pti_group_array *array = &group->array[prepared->position[operand]];
    array->is_written = true;
    if (status != POLYTILE_OK)
        pti_group_note_changed(group, array->array);
    if (status != POLYTILE_OK || pti_completeness_is_overwritten(prepared->instance, operand))
        pti_array_set_complete(array->array, status == POLYTILE_OK);
}

static void note_written_arrays(pti_group *group, polytile_status status) {
    for (int k = 0; k < group->n_recorded; k++) {
        const pti_prepared *prepared = group->recorded[k].prepared;
        for (int a = 0; a < prepared->n_arrays; a++) {
            if (prepared->instance->operand[a].writes)
                note_operand(group, prepared, a, status);
        }
    }
}

/** Name the queue's arrays that failures left incomplete, in place of those that one member
 * named. */
static void name_incomplete(const pti_group *group, polytile_status status) {
    pti_text names = {0};
    if (status == POLYTILE_OK)
        return;
    for (int p = 0; p < group->n_arrays; p++) {
        const polytile_array *array = group->array[p].array;
        if (array != NULL && pti_array_get_state(array) == PTI_ARRAY_HARMED)
            pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_set_incomplete(group->ctx, status, &names);
}

void pti_group_run(pti_group *group) {
    pti_group_run_to_end(group, &(pti_group_last){0});
}

/** Compare what is recorded, unless that was done when it began for the program's messages. */
static polytile_status compare_recorded(pti_group *group, bool *differs) {
    *differs = group->begun.differs;
    if (group->begun.is_begun)
        return pti_error_restore(group->ctx, &group->failure);
    polytile_status status = pti_group_compare(group, NULL, POLYTILE_OK, differs);
    return status == POLYTILE_OK ? pti_group_balance_load(group) : status;
}

/** That ranks differ is known to all of them; who could not compare still goes through what the
 * others do. */
static void run_to_end(pti_group *group, const pti_group_last *last) {
    bool differs;
    polytile_status status = compare_recorded(group, &differs);
    if (!differs) {
        status = run_recorded(group, last, status);
        status = group->transport->functions->agree(group->transport, status);
        note_written_arrays(group, status);
        name_incomplete(group, status);
    }
    if (status == POLYTILE_OK)
        group->n_launches += group->n_recorded;
    pti_queue_keep_error(group->queue, status);
    if (status == POLYTILE_OK)
        pti_group_drop_recorded(group);
    else
        pti_group_forget_all(group);
}

void pti_group_run_to_end(pti_group *group, const pti_group_last *last) {
    pti_server *server = group->queue->server;
    if (group->is_given_up) {
        pti_group_drop_recorded(group);
        return;
    }
    pti_program_begin_wait(server);
    run_to_end(group, last);
    pti_program_end_wait(server);
}

/* Messages of the program. */

/** The newest team kernel that is recorded; -1: none is. */
static int find_newest_team(const pti_group *group) {
    int at = group->n_recorded - 1;
    while (at >= 0 && !has_slots(group, at))
        at--;
    return at;
}

/** Begin to run what is recorded, unless some of it runs already. */
static void begin_recorded(pti_group *group) {
    if (group->begun.is_begun)
        return;
    const polytile_status status = compare_recorded(group, &group->begun.differs);
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
        stopped = run_next(group, &none, &begun->at);
    return stopped == POLYTILE_OK ? begin_team(group, team, &begun->prepared) : stopped;
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
        pti_queue_keep_error(group->queue, failure_so_far(group));
    if (!group->begun.differs)
        group->begun.stopped = run_up_to(group, team);
    if (group->begun.stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
    if (has_failure(group))
        give_up_slots(group, group->recorded[team].server);
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
        may = !has_slots(group, k);
    return may;
}

void pti_group_begin_first(pti_group *group) {
    static const pti_group_last none = {0};
    if (!may_begin_first(group))
        return;
    begin_recorded(group);
    if (!has_failure(group))
        group->begun.stopped = run_next(group, &none, &group->begun.at);
    if (group->begun.stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
}

void pti_group_end_begun(pti_group *group) {
    if (group->begun.is_begun)
        pti_group_run(group);
}

polytile_status pti_group_wait(pti_group *group) {
    pti_group_run(group);
    return pti_queue_take_error(group->queue);
}
