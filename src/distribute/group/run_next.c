#include "distribute/group/run.h"

#include "base/text.h"
#include "distribute/deal/launch.h"
#include "distribute/members/gates.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/member_array.h"
#include "distribute/members/prepared_superstep.h"

/* Supersteps, one after the other. A process that fails goes on through the exchanges of all
 * supersteps, without computing, until all agree on the error. */

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

void pti_group_give_up_slots(pti_group *group, pti_server *server) {
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
    if (!pti_group_has_failure(group))
        pti_group_note_failure(group, pti_group_deal_slots(group, prepared, recorded));
    pti_group_run_list(&(pti_list_run){.group = group,
                                       .list = &prepared->list,
                                       .first_op = find_first_op(group, prepared),
                                       .messages = &prepared->messages,
                                       .prepared = prepared,
                                       .recorded = recorded,
                                       .last = &none,
                                       .only_launches = true});
    if (pti_group_has_failure(group))
        pti_group_give_up_slots(group, recorded->server);
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

/** Let each member's device have room for all arrays. The members wait for it, unless nothing came,
 * or used the memory otherwise, since they last had it. */
static bool make_room(pti_group *group) {
    bool has = group->has_room;
    if (has)
        return true;
    pti_group_open_gates(group);
    has = true;
    for (int m = 0; m < group->transport->n_local && has; m++)
        pti_group_note_failure(group, pti_queue_make_room(group->member[m], &has));
    pti_group_set_room(group, has);
    return has || pti_group_has_failure(group);
}

/** Return whether members over one memory have room for what they compute twice, now that it is
 * known what they touch. */
static bool have_members_room(pti_group *group, const pti_prepared_superstep *prepared) {
    bool has = true;
    if (!group->transport->shares_memory || prepared->runs_once)
        return true;
    for (int m = 0; m < group->transport->n_local; m++)
        has &= pti_group_fits(group, m);
    return has && make_room(group);
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
    else if (!pti_group_has_failure(group))
        pti_group_note_failure(
            group, pti_group_extend_for_superstep(group, *prepared, &group->recorded[at]));
}

/** Prepare a superstep, or find it prepared. Of a new one all agree that they can take part in it.
 * Returns what they agree on. */
static polytile_status prepare_superstep(pti_group *group, int at,
                                         pti_prepared_superstep **prepared, bool *is_new) {
    const pti_transport_functions *functions = group->transport->functions;
    find_superstep_and_extend_arrays(group, at, prepared, is_new);
    if (!pti_group_has_failure(group) && !have_members_room(group, *prepared)) {
        group->is_shallow = true;
        find_superstep_and_extend_arrays(group, at, prepared, is_new);
    }
    if (*prepared != NULL && (*prepared)->runs_once)
        pti_group_set_room(group, false);
    if (*is_new && !pti_group_has_failure(group))
        pti_group_note_failure(group, pti_group_prove_superstep(group, at, *prepared));
    if (*is_new && !pti_group_has_failure(group))
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

/** Try to deal out a launch's rows, with all that it reads in one place. */
static void deal_launch(pti_group *group, int at, bool *is_done) {
    pti_group_note_failure(group, pti_group_settle_used(group, group->recorded[at].prepared,
                                                        pti_group_failure_so_far(group)));
    pti_group_note_failure(group, pti_group_deal_launch(group, at, is_done));
}

polytile_status pti_group_begin_team(pti_group *group, int at, pti_prepared_superstep **prepared) {
    pti_prepared_superstep *found;
    bool is_new;
    *prepared = NULL;
    note_begun(group, at, 1);
    if (!pti_group_has_failure(group))
        pti_group_note_failure(group, pti_group_refuse_cancelled(group));
    pti_group_note_failure(group, pti_group_settle_all(group, pti_group_failure_so_far(group)));
    polytile_status stopped = prepare_superstep(group, at, &found, &is_new);
    if (stopped != POLYTILE_OK || found == NULL)
        return stopped;
    *prepared = found;
    pti_group_open_gates(group);
    pti_server_open(group->recorded[at].server, ++group->n_teams);
    begin_slots(group, found, &group->recorded[at]);
    return POLYTILE_OK;
}

void pti_group_end_team(pti_group *group, const pti_group_last *all,
                        pti_prepared_superstep *prepared, int *at) {
    carry_messages(group, &group->recorded[*at]);
    run_behind_slots(group, prepared, &group->recorded[*at],
                     leaving_with(group, prepared, *at, all));
    pti_group_note_failure(group, adopt_copies(group, prepared));
    (*at)++;
}

/** Run the next recorded launches as a superstep; *at is behind them then. Returns the failure of
 * some to take part. */
static polytile_status run_next_superstep(pti_group *group, const pti_group_last *all, int *at) {
    pti_prepared_superstep *prepared;
    bool is_new;
    pti_group_note_failure(group, pti_group_settle_all(group, pti_group_failure_so_far(group)));
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

/** Run a team kernel's superstep. */
static polytile_status run_next_team(pti_group *group, const pti_group_last *all, int *at) {
    pti_prepared_superstep *prepared;
    const polytile_status begun = pti_group_begin_team(group, *at, &prepared);
    if (prepared != NULL)
        pti_group_end_team(group, all, prepared, at);
    return begun;
}

polytile_status pti_group_run_next(pti_group *group, const pti_group_last *all, int *at) {
    bool is_done = false;
    if (pti_group_has_slots(group, *at))
        return run_next_team(group, all, at);
    note_begun(group, *at, 1);
    if (!pti_group_has_failure(group))
        pti_group_note_failure(group, pti_group_refuse_cancelled(group));
    if (!pti_group_has_failure(group) || !pti_transport_is_alone(group->transport))
        deal_launch(group, *at, &is_done);
    if (!is_done)
        return run_next_superstep(group, all, at);
    (*at)++;
    return POLYTILE_OK;
}
