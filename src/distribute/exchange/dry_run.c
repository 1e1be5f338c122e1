#include "distribute/exchange/dry_run.h"

#include "base/checked.h"
#include "distribute/exchange/array_box.h"
#include "distribute/exchange/extend_arrays.h"
#include "distribute/exchange/interior.h"
#include "distribute/exchange/joint_plan.h"

#include <stdlib.h>

static const pti_dry_run_members *members_of(const pti_dry_run *run) {
    return &run->request->members;
}

static bool shares_memory(const pti_dry_run *run) {
    return members_of(run)->is_alone || members_of(run)->n_local > 1;
}

/* Beginning and end. */

static bool allocate_members(pti_dry_run *run) {
    const pti_superstep *all = run->request->all;
    const size_t n_arrays = (size_t)all->n_arrays + 1;
    const size_t n_boxes = n_arrays * (size_t)members_of(run)->n_local;
    run->is_shared = calloc(n_arrays, sizeof *run->is_shared);
    run->is_pulled = calloc(n_arrays, sizeof *run->is_pulled);
    run->box = calloc(n_boxes, sizeof *run->box);
    run->former_box = calloc(n_boxes, sizeof *run->former_box);
    run->launch = calloc(PTI_SUPERSTEP_LAUNCHES, sizeof *run->launch);
    return run->is_shared != NULL && run->is_pulled != NULL && run->box != NULL &&
           run->former_box != NULL && run->launch != NULL &&
           pti_copies_create(all->n_arrays, all->n_members, &run->copies);
}

bool pti_dry_run_begin(const pti_dry_run_request *request, pti_dry_run *run) {
    *run = (pti_dry_run){.request = request};
    bool has_begun = allocate_members(run);
    for (int a = 0; has_begun && a < request->all->n_arrays; a++) {
        run->is_shared[a] = shares_memory(run) && request->members.is_attached[a];
        if (request->members.is_everywhere[a])
            has_begun = pti_copies_give_all(&run->copies, a, &request->all->ownerships[a].domain);
    }
    return has_begun;
}

bool pti_dry_run_goes_on(const pti_dry_run *run) {
    return run->at < run->request->all->n_launches;
}

void pti_dry_run_end(pti_dry_run *run) {
    pti_superstep_parts_free(&run->parts);
    pti_copies_free(&run->copies);
    free(run->is_shared);
    free(run->is_pulled);
    free(run->box);
    free(run->former_box);
    free(run->launch);
    *run = (pti_dry_run){0};
}

/* What members' arrays lie over. */

static pti_array_box array_box_of(const pti_dry_run *run, int array, int local) {
    const polytile_domain *box = &run->box[array * members_of(run)->n_local + local];
    return (pti_array_box){.ownership = &run->request->all->ownerships[array],
                           .member = local,
                           .element_bytes = run->request->arrays->operand[array].element_bytes,
                           .is_of_program = members_of(run)->is_attached[array],
                           .former = box->n_dims == 0 ? NULL : box};
}

static bool fits_member(const pti_dry_run *run, int local) {
    int64_t free_bytes = members_of(run)->usable_bytes[local];
    for (int a = 0; a < run->request->all->n_arrays && free_bytes >= 0; a++) {
        const pti_array_box box = array_box_of(run, a, local);
        if (!run->request->arrays->operand[a].is_scratch)
            free_bytes -= pti_resident_padded(pti_array_box_expect_bytes(&box));
    }
    return free_bytes >= 0;
}

static bool all_fit(const pti_dry_run *run) {
    bool do_fit = members_of(run)->usable_bytes != NULL;
    for (int m = 0; m < members_of(run)->n_local && do_fit; m++)
        do_fit = members_of(run)->usable_bytes[m] > 0 && fits_member(run, m);
    return do_fit;
}

static polytile_status widen_box(void *of, int array, int local, const polytile_domain *needed) {
    pti_dry_run *run = of;
    polytile_domain *box = &run->box[array * members_of(run)->n_local + local];
    const pti_array_box former = array_box_of(run, array, local);
    if (!pti_box_is_empty(needed) && (box->n_dims == 0 || !pti_box_contains(box, needed)))
        *box = pti_array_box_choose(&former, needed);
    return POLYTILE_OK;
}

static bool has_array(const void *of, int array, int local) {
    const pti_dry_run *run = of;
    return run->box[array * members_of(run)->n_local + local].n_dims > 0;
}

static bool extend_arrays(pti_dry_run *run, const pti_joint_list *list) {
    const pti_member_arrays arrays = {
        .n_local = members_of(run)->n_local, .owner = run, .extend = widen_box, .has = has_array};
    polytile_status status;
    PTI_TRY(pti_extend_for_superstep(&arrays, list, run->parts.work));
    for (int m = 0; m < arrays.n_local; m++)
        for (int l = 0; l < run->superstep.n_launches; l++)
            PTI_TRY(pti_extend_for_launch(&arrays, &run->launch[l].call,
                                          run->request->all->ownerships, m));
done:
    return status == POLYTILE_OK;
}

/* A superstep. */

/** Return whether members may compute what others own, too: not where their arrays lie over the
 * same memory, which it must not reach. */
static bool may_compute_twice(const pti_dry_run *run) {
    if (!shares_memory(run))
        return true;
    return members_of(run)->is_alone && !run->is_shallow && !members_of(run)->checks_access &&
           all_fit(run);
}

static bool is_of_team(const pti_dry_run *run, int launch) {
    return run->request->all->launch[launch].call.instance->is_team;
}

/** Return the launches that a queue has recorded when it comes to the next one: it runs them
 * whenever it has recorded the most it can. A team kernel is alone in its superstep. */
static int count_known(const pti_dry_run *run) {
    const int n_recorded = PTI_GROUP_LAUNCHES - run->at % PTI_GROUP_LAUNCHES;
    const int64_t n_left = pti_min(run->request->all->n_launches - run->at, n_recorded);
    const int most = (int)pti_min(n_left, PTI_SUPERSTEP_LAUNCHES);
    int n = 1;
    while (n < most && !is_of_team(run, run->at) && !is_of_team(run, run->at + n))
        n++;
    return n;
}

static void choose_superstep(pti_dry_run *run) {
    pti_superstep known = *run->request->all;
    known.n_launches = count_known(run);
    known.launch = run->launch;
    for (int l = 0; l < known.n_launches; l++)
        run->launch[l] = run->request->all->launch[run->at + l];
    run->runs_once = pti_superstep_has_scratch(&known) || !may_compute_twice(run);
    for (int l = 0; l < known.n_launches; l++)
        run->launch[l].runs_once =
            is_of_team(run, run->at + l) ||
            (run->runs_once && pti_superstep_shares_results(&run->launch[l].call, run->is_shared));
    run->superstep = pti_superstep_next(
        &known, &(pti_superstep_limits){.most_launches = run->request->most_launches,
                                        .runs_once = run->runs_once,
                                        .sends = !members_of(run)->is_alone,
                                        .keeps = shares_memory(run)});
}

static pti_joint_request joint_request_of(const pti_dry_run *run) {
    return (pti_joint_request){.superstep = &run->superstep,
                               .parts = &run->parts,
                               .is_shared = run->is_shared,
                               .n_local = members_of(run)->n_local,
                               .shares_memory = shares_memory(run),
                               .keeps = shares_memory(run) && !run->runs_once,
                               .pulls = members_of(run)->are_linked,
                               .is_lent = run->is_shared};
}

/** Choose it and cut it for the members; `after` gets the copies after it. */
static bool cut_superstep(pti_dry_run *run, pti_copies *after) {
    choose_superstep(run);
    pti_superstep_parts_free(&run->parts);
    if (run->superstep.n_launches == 0 || !pti_copies_assign(after, &run->copies) ||
        !pti_superstep_cut(&run->superstep, 0, run->superstep.n_members, after, &run->parts))
        return false;
    const pti_joint_request request = joint_request_of(run);
    pti_joint_drop_ghosts(&request, after);
    return true;
}

/** Return whether members have room for what they compute twice, once their arrays contain what the
 * superstep needs; only of such are these looked at. False when memory runs out. */
static bool find_room(pti_dry_run *run, bool *has_room) {
    pti_joint_list list = {0};
    pti_joint_request request = joint_request_of(run);
    request.pulls = false;
    *has_room = true;
    if (!members_of(run)->is_alone || members_of(run)->usable_bytes == NULL)
        return true;
    const int n_local = members_of(run)->n_local;
    polytile_domain *inner = calloc((size_t)n_local, sizeof *inner);
    if (inner == NULL)
        return false;
    pti_interiors_find(&run->superstep, &run->parts, run->is_shared, 0, n_local, inner);
    request.inner = inner;
    request.meets = pti_joint_meets(&request);
    bool is_listed = pti_joint_plan_list(&request, 0, n_local, &list);
    is_listed = is_listed && extend_arrays(run, &list);
    *has_room = run->runs_once || all_fit(run);
    pti_joint_list_free(&list);
    free(inner);
    return is_listed;
}

/** Once more, if there is no room. */
static bool go_through(pti_dry_run *run, pti_copies *after) {
    bool has_room;
    if (!cut_superstep(run, after) || !find_room(run, &has_room))
        return false;
    if (has_room)
        return true;
    run->is_shallow = true;
    return cut_superstep(run, after) && find_room(run, &has_room);
}

/** Return whether a device has had all of a member's arrays that the superstep touches, as they are
 * now: then the queue finds them there whole. */
static bool had_member_all(const pti_dry_run *run, int local) {
    const pti_work *work = &run->parts.work[local];
    bool had = true;
    for (int a = 0; a < work->n_arrays && had; a++) {
        const int at = a * members_of(run)->n_local + local;
        had = !pti_work_touches(work, a) || (run->former_box[at].n_dims > 0 &&
                                             pti_box_equals(&run->former_box[at], &run->box[at]));
    }
    return had;
}

static void find_pulled(pti_dry_run *run) {
    const pti_joint_request request = joint_request_of(run);
    bool had_all = true;
    for (int m = 0; m < members_of(run)->n_local && had_all; m++)
        had_all = had_member_all(run, m);
    for (int a = 0; a < run->superstep.n_arrays; a++)
        run->is_pulled[a] = had_all && pti_joint_pulls(&request, a);
}

static void note_boxes(pti_dry_run *run) {
    const int n_boxes = run->request->all->n_arrays * members_of(run)->n_local;
    for (int b = 0; b < n_boxes; b++)
        run->former_box[b] = run->box[b];
}

bool pti_dry_run_next(pti_dry_run *run) {
    const pti_superstep *all = run->request->all;
    pti_copies after = {0};
    note_boxes(run);
    if (!pti_copies_create(all->n_arrays, all->n_members, &after) || !go_through(run, &after)) {
        pti_copies_free(&after);
        return false;
    }
    pti_copies_free(&run->copies);
    run->copies = after;
    find_pulled(run);
    run->at += run->superstep.n_launches;
    return true;
}

bool pti_dry_run_leave(const pti_dry_run *run, pti_exchange *exchange) {
    const pti_superstep *all = run->request->all;
    const pti_processes every = {0, all->n_members, members_of(run)->n_local};
    *exchange = (pti_exchange){0};
    return members_of(run)->is_alone ||
           pti_exchange_at_end(all, members_of(run)->is_attached, &run->copies, &every, exchange);
}
