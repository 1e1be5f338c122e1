#include "distribute/exchange/members_plan.h"

#include "base/checked.h"
#include "base/plural.h"

#include <stdlib.h>
#include <string.h>

void pti_members_plan_free(pti_members_plan *plan) {
    for (int q = 0; plan->member != NULL && q < plan->n_members; q++)
        pti_boxes_free(&plan->member[q].threads);
    free(plan->member);
    free(plan->ownerships);
    free(plan->flow);
    free(plan->step);
    free(plan->step_flow);
    free(plan->first_launch);
    pti_exchange_free(&plan->first);
    *plan = (pti_members_plan){0};
}

/* So many launches, from the first on. */
static pti_superstep make_superstep(const pti_members_plan *plan, const pti_shared_launch *launch,
                                    int n_launches) {
    return (pti_superstep){.n_launches = n_launches,
                           .launch = launch,
                           .n_arrays = plan->n_arrays,
                           .ownerships = plan->ownerships,
                           .n_members = plan->n_members};
}

pti_superstep pti_members_plan_first_superstep(const pti_members_plan *plan) {
    return make_superstep(plan, plan->first_launch, plan->n_first);
}

/* Keep the first exchange before a superstep that moves anything. */
static void keep_exchange(pti_exchange *before, pti_members_plan *plan) {
    if (plan->first.n_transfers > 0 || before->n_transfers == 0)
        return;
    plan->first = *before;
    plan->first_moving = plan->n_supersteps;
    *before = (pti_exchange){0};
}

static void add_threads(const pti_superstep_parts *parts, pti_members_plan *plan) {
    for (int q = 0; q < plan->n_members; q++) {
        const pti_work *work = &parts->work[q];
        plan->member[q].n_first_threads += plan->n_supersteps == 0 ? work->n_threads : 0;
        plan->member[q].n_threads += work->n_threads;
        plan->member[q].n_extra_threads += work->n_extra_threads;
    }
}

/* Add the bytes that a launch combines across members. False when memory runs out. */
static bool add_combined_bytes(const pti_superstep *superstep, int l, int64_t *n_bytes) {
    const pti_shared_launch *launch = &superstep->launch[l];
    const pti_instance *instance = launch->call.instance;
    const pti_home home = pti_home_of(launch, superstep->ownerships);
    for (int p = 0; p < instance->n_operands; p++) {
        polytile_domain hull = pti_footprint_hull(instance, p, PTI_WRITES, &instance->threads);
        if (pti_home_combines(&home, launch, superstep->ownerships, p))
            *n_bytes += pti_box_count(&hull) * instance->operand[p].element_bytes;
    }
    return !home.failed;
}

static bool count_combined(const pti_superstep *superstep, int64_t *n_bytes) {
    bool counted = true;
    *n_bytes = 0;
    for (int l = 0; l < superstep->n_launches && counted; l++)
        counted = add_combined_bytes(superstep, l, n_bytes);
    return counted;
}

/* Keep the launches of the first superstep as members run them. */
static bool keep_launches(const pti_superstep *superstep, pti_members_plan *plan) {
    const size_t n_launches = (size_t)superstep->n_launches;
    plan->first_launch = calloc(n_launches, sizeof *plan->first_launch);
    if (plan->first_launch == NULL)
        return false;
    memcpy(plan->first_launch, superstep->launch, n_launches * sizeof *plan->first_launch);
    plan->n_first = superstep->n_launches;
    return true;
}

/* Add the superstep that was gone through last. */
static bool add_superstep(const pti_members_plan_request *request, pti_dry_run *run,
                          pti_members_plan *plan) {
    const pti_superstep *superstep = &run->superstep;
    int64_t combined_bytes;
    if ((plan->n_supersteps == 0 && !keep_launches(superstep, plan)) ||
        !count_combined(superstep, &combined_bytes) ||
        !pti_members_plan_add_step(request->arrays, &run->parts, run->is_pulled,
                                   superstep->n_launches, combined_bytes, plan))
        return false;
    add_threads(&run->parts, plan);
    keep_exchange(&run->parts.before, plan);
    plan->combined_bytes += combined_bytes;
    plan->n_longest = (int)pti_max(plan->n_longest, superstep->n_launches);
    plan->n_supersteps++;
    return true;
}

/* Add what attached arrays leave in other processes, as a superstep of no launches, if anything
 * travels for it. */
static bool add_leaving(const pti_members_plan_request *request, const pti_dry_run *run,
                        pti_members_plan *plan) {
    pti_superstep_parts parts = {0};
    bool added = pti_dry_run_leave(run, &parts.before);
    if (added && parts.before.n_transfers > 0) {
        added = pti_members_plan_add_step(request->arrays, &parts, NULL, 0, 0, plan);
        keep_exchange(&parts.before, plan);
        plan->n_supersteps++;
    }
    pti_exchange_free(&parts.before);
    return added;
}

static bool add_supersteps(const pti_members_plan_request *request, pti_members_plan *plan) {
    const pti_superstep all = make_superstep(plan, request->launch, request->n_launches);
    const pti_dry_run_request asked = {.members = request->members,
                                       .all = &all,
                                       .arrays = request->arrays,
                                       .most_launches = request->most};
    pti_dry_run run;
    bool added = pti_dry_run_begin(&asked, &run);
    while (added && pti_dry_run_goes_on(&run))
        added = pti_dry_run_next(&run) && add_superstep(request, &run, plan);
    added = added && add_leaving(request, &run, plan);
    pti_dry_run_end(&run);
    return added;
}

/** Find each member's share of the first launch, and what it owns. */
static bool add_shares(const pti_members_plan_request *request, pti_members_plan *plan) {
    const pti_shared_launch *launch = &plan->first_launch[0];
    pti_home home = pti_home_of(launch, plan->ownerships);
    pti_boxes owned = {0};
    bool failed = home.failed;
    plan->grid = plan->ownerships[home.operand < 0 ? 0 : launch->call.array[home.operand]].grid;
    for (int q = 0; q < plan->n_members; q++) {
        pti_members_plan_member *member = &plan->member[q];
        pti_home_threads(&home, launch, plan->ownerships, q, &member->threads);
        failed = failed || member->threads.failed;
        for (int a = 0; a < plan->n_arrays; a++) {
            if (request->arrays->operand[a].is_scratch)
                continue;
            pti_ownership_boxes(&plan->ownerships[a], q, &owned);
            member->owned_bytes +=
                pti_boxes_count(&owned) * request->arrays->operand[a].element_bytes;
        }
    }
    failed = failed || owned.failed;
    pti_boxes_free(&owned);
    return !failed;
}

static bool is_busier(const pti_members_plan_member *a, const pti_members_plan_member *b) {
    return a->n_first_threads > b->n_first_threads ||
           (a->n_first_threads == b->n_first_threads && a->received_bytes > b->received_bytes);
}

static void sum_up(pti_members_plan *plan) {
    for (int f = 0; f < plan->n_flows; f++) {
        const pti_members_plan_flow *flow = &plan->flow[f];
        plan->member[flow->from].sent_bytes += flow->n_bytes;
        plan->member[flow->to].received_bytes += flow->n_bytes;
        plan->member[flow->to].n_messages += flow->n_messages;
        plan->exchanged_bytes += flow->n_bytes;
        plan->pulled_bytes += flow->pulled_bytes;
        plan->message_bytes += pti_members_plan_is_message(flow) ? flow->n_bytes : 0;
    }
    for (int q = 1; q < plan->n_members; q++)
        if (is_busier(&plan->member[q], &plan->member[plan->busiest]))
            plan->busiest = q;
}

static bool fill_plan(const pti_members_plan_request *request, pti_members_plan *plan) {
    if (!add_supersteps(request, plan) || !add_shares(request, plan))
        return false;
    sum_up(plan);
    return true;
}

static bool plan_members(const pti_members_plan_request *request,
                         const pti_distribution *distribution, pti_members_plan *plan) {
    *plan = (pti_members_plan){.n_members = request->n_members,
                               .n_local = request->members.n_local,
                               .n_arrays = request->arrays->n_operands,
                               .n_launches = request->n_launches};
    plan->ownerships = calloc((size_t)plan->n_arrays + 1, sizeof *plan->ownerships);
    plan->member = calloc((size_t)plan->n_members, sizeof *plan->member);
    if (plan->ownerships == NULL || plan->member == NULL)
        return false;
    bool is_dealt = true;
    for (int a = 0; a < plan->n_arrays && is_dealt; a++) {
        plan->ownerships[a] = pti_ownership_of(&request->arrays->operand[a].domain, plan->n_members,
                                               request->given, distribution);
        is_dealt = pti_ownership_ask(&plan->ownerships[a]);
    }
    return is_dealt;
}

static polytile_status check_counts(polytile_context *ctx,
                                    const pti_members_plan_request *request) {
    int n_given = request->given == NULL ? 0 : pti_member_grid_count(request->given);
    int n_members = request->n_members;
    if (n_members < 1 || n_members > PTI_MEMBERS_PLAN_MOST_MEMBERS)
        return pti_fail(ctx, POLYTILE_INVALID, "%d %ss: plan with 1 to %d", n_members,
                        request->word, (int)PTI_MEMBERS_PLAN_MOST_MEMBERS);
    if (n_given != 0 && n_given != n_members)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "the grid has %d %s%s, but %d %s planned with; give one whose extents "
                        "multiply to %d",
                        n_given, request->word, pti_plural(n_given, "", "s"), n_members,
                        pti_plural(n_members, "is", "are"), n_members);
    if (request->n_launches > PTI_MEMBERS_PLAN_MOST_LAUNCHES)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%d launches over %ss: %d are planned together at most; plan fewer "
                        "steps, whose exchanges come again",
                        request->n_launches, request->word, (int)PTI_MEMBERS_PLAN_MOST_LAUNCHES);
    return POLYTILE_OK;
}

/* Return the boxes of the member that comes first everywhere, which has the most. */
static double most_boxes_of_member(const pti_ownership *ownership) {
    double n_boxes = 1;
    for (int d = 0; d < ownership->domain.n_dims; d++)
        n_boxes *= (double)pti_ownership_count(ownership, d, 0);
    return n_boxes;
}

/* Refuse layouts of too many boxes: planning takes time with their square. */
static polytile_status check_number_of_boxes(polytile_context *ctx,
                                             const pti_members_plan_request *request,
                                             const pti_members_plan *plan) {
    for (int a = 0; a < plan->n_arrays; a++) {
        double n_boxes = most_boxes_of_member(&plan->ownerships[a]);
        if (n_boxes > PTI_MEMBERS_PLAN_MOST_BOXES)
            return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                            "%s: by the layout %s a %s owns %.0f boxes of it, and with at most "
                            "%d is planned; take larger blocks",
                            request->arrays->operand[a].name, request->layout, request->word,
                            n_boxes, (int)PTI_MEMBERS_PLAN_MOST_BOXES);
    }
    return POLYTILE_OK;
}

static polytile_status fail_plan(polytile_context *ctx, const pti_members_plan_request *request) {
    return pti_fail_memory(ctx, "the plan of ranks",
                           (double)request->n_members * (double)sizeof(pti_members_plan_member));
}

polytile_status pti_members_plan_create(polytile_context *ctx,
                                        const pti_members_plan_request *request,
                                        pti_members_plan *plan) {
    polytile_status status;
    pti_distribution distribution;
    *plan = (pti_members_plan){0};
    PTI_TRY(check_counts(ctx, request));
    PTI_TRY(pti_distribution_parse(ctx, request->layout, &distribution));
    PTI_TRY(pti_ownership_check(ctx, request->n_members, request->given, &distribution));
    if (!plan_members(request, &distribution, plan))
        PTI_TRY(fail_plan(ctx, request));
    PTI_TRY(check_number_of_boxes(ctx, request, plan));
    if (!fill_plan(request, plan))
        PTI_TRY(fail_plan(ctx, request));
done:
    return status;
}
