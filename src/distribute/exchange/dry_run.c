#include "distribute/exchange/dry_run.h"

#include "base/checked.h"
#include "distribute/exchange/array_box.h"
#include "distribute/exchange/interior.h"
#include "distribute/exchange/joint_plan.h"

#include <stdlib.h>

static const pti_dry_run_members *members_of(const pti_dry_run *of) {
    return &of->request->members;
}

static bool shares_memory(const pti_dry_run *of) {
    return members_of(of)->is_alone || members_of(of)->n_local > 1;
}

/* Beginning and end. */

static bool allocate_members(pti_dry_run *of) {
    const pti_superstep *all = of->request->all;
    const size_t n_arrays = (size_t)all->n_arrays + 1;
    of->is_shared = calloc(n_arrays, sizeof *of->is_shared);
    of->box = calloc(n_arrays * (size_t)members_of(of)->n_local, sizeof *of->box);
    of->launch = calloc(PTI_SUPERSTEP_LAUNCHES, sizeof *of->launch);
    return of->is_shared != NULL && of->box != NULL && of->launch != NULL &&
           pti_copies_create(all->n_arrays, all->n_members, &of->copies);
}

/** Every member has every element. */
static bool give_all_copies(pti_dry_run *of, int array) {
    const pti_superstep *all = of->request->all;
    bool has_failed = false;
    for (int q = 0; q < all->n_members; q++) {
        pti_boxes *extra = pti_copies_get(&of->copies, array, q);
        pti_boxes_assign(extra, &all->ownerships[array].domain);
        has_failed |= extra->failed;
    }
    return !has_failed;
}

bool pti_dry_run_begin(const pti_dry_run_request *request, pti_dry_run *of) {
    *of = (pti_dry_run){.request = request};
    bool has_begun = allocate_members(of);
    for (int a = 0; has_begun && a < request->all->n_arrays; a++) {
        of->is_shared[a] = shares_memory(of) && request->members.is_attached[a];
        if (request->members.is_everywhere[a])
            has_begun = give_all_copies(of, a);
    }
    return has_begun;
}

bool pti_dry_run_goes_on(const pti_dry_run *of) {
    return of->at < of->request->all->n_launches;
}

void pti_dry_run_end(pti_dry_run *of) {
    pti_superstep_parts_free(&of->parts);
    pti_copies_free(&of->copies);
    free(of->is_shared);
    free(of->box);
    free(of->launch);
    *of = (pti_dry_run){0};
}

/* What members' arrays lie over. */

static pti_array_box array_box_of(const pti_dry_run *of, int array, int local) {
    const polytile_domain *box = &of->box[array * members_of(of)->n_local + local];
    return (pti_array_box){.ownership = &of->request->all->ownerships[array],
                           .member = local,
                           .element_bytes = of->request->arrays->operand[array].element_bytes,
                           .is_of_program = members_of(of)->is_attached[array],
                           .former = box->n_dims == 0 ? NULL : box};
}

static bool fits_member(const pti_dry_run *of, int local) {
    int64_t free_bytes = members_of(of)->usable_bytes[local];
    for (int a = 0; a < of->request->all->n_arrays && free_bytes >= 0; a++) {
        const pti_array_box box = array_box_of(of, a, local);
        if (!of->request->arrays->operand[a].is_scratch)
            free_bytes -= pti_resident_padded(pti_array_box_expect_bytes(&box));
    }
    return free_bytes >= 0;
}

static bool all_fit(const pti_dry_run *of) {
    bool do_fit = members_of(of)->usable_bytes != NULL;
    for (int m = 0; m < members_of(of)->n_local && do_fit; m++)
        do_fit = members_of(of)->usable_bytes[m] > 0 && fits_member(of, m);
    return do_fit;
}

static void widen_box(pti_dry_run *of, int array, int local, const polytile_domain *needed) {
    polytile_domain *box = &of->box[array * members_of(of)->n_local + local];
    const pti_array_box former = array_box_of(of, array, local);
    if (!pti_box_is_empty(needed) && (box->n_dims == 0 || !pti_box_contains(box, needed)))
        *box = pti_array_box_choose(&former, needed);
}

static void reach_boxes(pti_dry_run *of, int array, int local, const pti_boxes *boxes) {
    if (boxes->n_boxes == 0)
        return;
    polytile_domain hull = pti_boxes_bounding(boxes, boxes->box[0].n_dims);
    widen_box(of, array, local, &hull);
}

/** Of combined results every member has all. */
static void reach_op(pti_dry_run *of, const pti_joint_op *op) {
    for (int m = 0; m < members_of(of)->n_local && op->array >= 0; m++)
        if (op->kind == PTI_JOINT_COMBINE || op->member == m ||
            (op->kind == PTI_JOINT_COPY && op->peer == m))
            reach_boxes(of, op->array, m, &op->boxes);
}

/** Launches get an array for each operand, even one that the member's threads do not touch. */
static void reach_operands(pti_dry_run *of, const pti_call *call, int local) {
    for (int o = 0; o < call->instance->n_operands; o++) {
        const int array = call->array[o];
        polytile_domain first = of->request->all->ownerships[array].domain;
        for (int d = 0; d < first.n_dims; d++)
            first.range[d].hi = first.range[d].lo;
        if (!call->instance->operand[o].is_scratch &&
            of->box[array * members_of(of)->n_local + local].n_dims == 0)
            widen_box(of, array, local, &first);
    }
}

static void reach_list(pti_dry_run *of, const pti_joint_list *list) {
    for (int k = 0; k < list->n_ops; k++)
        reach_op(of, &list->op[k]);
    for (int m = 0; m < members_of(of)->n_local; m++) {
        const pti_work *work = &of->parts.work[m];
        for (int a = 0; a < work->n_arrays; a++) {
            reach_boxes(of, a, m, &work->reads[a]);
            reach_boxes(of, a, m, &work->writes[a]);
        }
        for (int l = 0; l < of->superstep.n_launches; l++)
            reach_operands(of, &of->launch[l].call, m);
    }
}

/* A superstep. */

/** Where members' arrays lie over the same memory, what two of them compute must not reach it. */
static bool may_compute_twice(const pti_dry_run *of) {
    if (!shares_memory(of))
        return true;
    return members_of(of)->is_alone && !of->is_shallow && !members_of(of)->checks_access &&
           all_fit(of);
}

/** The launches that a queue has recorded when it comes to the next one: it runs them whenever it
 * has recorded the most it can. */
static int count_known(const pti_dry_run *of) {
    const int n_recorded = PTI_TEAM_LAUNCHES - of->at % PTI_TEAM_LAUNCHES;
    const int64_t n_left = pti_min(of->request->all->n_launches - of->at, n_recorded);
    return (int)pti_min(n_left, PTI_SUPERSTEP_LAUNCHES);
}

static void choose_superstep(pti_dry_run *of) {
    pti_superstep known = *of->request->all;
    known.n_launches = count_known(of);
    known.launch = of->launch;
    for (int l = 0; l < known.n_launches; l++)
        of->launch[l] = of->request->all->launch[of->at + l];
    of->runs_once = pti_superstep_has_scratch(&known) || !may_compute_twice(of);
    for (int l = 0; l < known.n_launches; l++)
        of->launch[l].runs_once =
            of->runs_once && pti_superstep_shares_results(&of->launch[l].call, of->is_shared);
    of->superstep = pti_superstep_next(
        &known, &(pti_superstep_limits){.most_launches = of->request->most_launches,
                                        .runs_once = of->runs_once,
                                        .sends = !members_of(of)->is_alone});
}

static pti_joint_request joint_request_of(const pti_dry_run *of) {
    return (pti_joint_request){.superstep = &of->superstep,
                               .parts = &of->parts,
                               .is_shared = of->is_shared,
                               .n_local = members_of(of)->n_local,
                               .shares_memory = shares_memory(of),
                               .keeps = shares_memory(of) && !of->runs_once,
                               .is_lent = of->is_shared};
}

/** Choose it and deal it out; `after` gets the copies after it. */
static bool deal_superstep(pti_dry_run *of, pti_copies *after) {
    choose_superstep(of);
    pti_superstep_parts_free(&of->parts);
    if (of->superstep.n_launches == 0 || !pti_copies_assign(after, &of->copies) ||
        !pti_superstep_deal(&of->superstep, 0, of->superstep.n_members, after, &of->parts))
        return false;
    const pti_joint_request request = joint_request_of(of);
    pti_joint_drop_halos(&request, after);
    return true;
}

/** Whether members have room for what they compute twice, once their arrays contain what the
 * superstep needs; only of such are these looked at. False when memory runs out. */
static bool find_room(pti_dry_run *of, bool *has_room) {
    pti_joint_list list = {0};
    pti_joint_request request = joint_request_of(of);
    *has_room = true;
    if (!members_of(of)->is_alone || members_of(of)->usable_bytes == NULL)
        return true;
    const int n_local = members_of(of)->n_local;
    polytile_domain *inner = calloc((size_t)n_local, sizeof *inner);
    if (inner == NULL)
        return false;
    pti_interiors_find(&of->superstep, &of->parts, of->is_shared, 0, n_local, inner);
    request.inner = inner;
    request.meets = pti_joint_meets(&request);
    bool is_listed = pti_joint_plan_list(&request, 0, n_local, &list);
    if (is_listed)
        reach_list(of, &list);
    *has_room = of->runs_once || all_fit(of);
    pti_joint_list_free(&list);
    free(inner);
    return is_listed;
}

/** Once more, if there is no room. */
static bool go_through(pti_dry_run *of, pti_copies *after) {
    bool has_room;
    if (!deal_superstep(of, after) || !find_room(of, &has_room))
        return false;
    if (has_room)
        return true;
    of->is_shallow = true;
    return deal_superstep(of, after) && find_room(of, &has_room);
}

bool pti_dry_run_next(pti_dry_run *of) {
    const pti_superstep *all = of->request->all;
    pti_copies after = {0};
    if (!pti_copies_create(all->n_arrays, all->n_members, &after) || !go_through(of, &after)) {
        pti_copies_free(&after);
        return false;
    }
    pti_copies_free(&of->copies);
    of->copies = after;
    of->at += of->superstep.n_launches;
    return true;
}

bool pti_dry_run_leave(const pti_dry_run *of, pti_exchange *exchange) {
    const pti_superstep *all = of->request->all;
    const pti_processes every = {0, all->n_members, members_of(of)->n_local};
    *exchange = (pti_exchange){0};
    return members_of(of)->is_alone ||
           pti_exchange_at_end(all, members_of(of)->is_attached, &of->copies, &every, exchange);
}
