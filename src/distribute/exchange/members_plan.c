#include "distribute/exchange/members_plan.h"

#include "base/checked.h"
#include "base/list.h"
#include "base/plural.h"
#include "distribute/exchange/superstep.h"

#include <limits.h>
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
    pti_exchange_free(&plan->first);
    *plan = (pti_members_plan){0};
}

pti_superstep pti_members_plan_superstep(const pti_members_plan_request *request,
                                         const pti_members_plan *plan, int first, int n_launches) {
    return (pti_superstep){.n_launches = n_launches,
                           .launch = request->launch + first,
                           .n_arrays = plan->n_arrays,
                           .ownerships = plan->ownerships,
                           .n_members = plan->n_members};
}

/* By receiver, sender and array. */
static int compare_flows(const void *first, const void *second) {
    const pti_members_plan_flow *a = first, *b = second;
    int order = (a->to > b->to) - (a->to < b->to);
    order = order != 0 ? order : (a->from > b->from) - (a->from < b->from);
    return order != 0 ? order : (a->array > b->array) - (a->array < b->array);
}

/* Order flows, and join those that are alike. */
static void join_flows(pti_members_plan *plan) {
    int n_joined = 0;
    if (plan->n_flows > 0)
        qsort(plan->flow, (size_t)plan->n_flows, sizeof *plan->flow, compare_flows);
    for (int f = 0; f < plan->n_flows; f++) {
        const pti_members_plan_flow *flow = &plan->flow[f];
        if (n_joined == 0 || compare_flows(&plan->flow[n_joined - 1], flow) != 0) {
            plan->flow[n_joined++] = *flow;
            continue;
        }
        plan->flow[n_joined - 1].n_messages += flow->n_messages;
        plan->flow[n_joined - 1].n_bytes += flow->n_bytes;
    }
    plan->n_flows = n_joined;
}

/* What goes the same way is one message, whatever its arrays. */
static void count_messages(pti_members_plan_flow *flow, int n_flows) {
    if (n_flows > 0)
        qsort(flow, (size_t)n_flows, sizeof *flow, compare_flows);
    for (int f = 0; f < n_flows; f++)
        flow[f].n_messages =
            f == 0 || flow[f - 1].to != flow[f].to || flow[f - 1].from != flow[f].from;
}

/* What one exchange moves, beside the sums of all. */
static bool keep_step_flows(pti_members_plan *plan, const pti_members_plan_flow *flow,
                            int n_flows) {
    const int64_t n_all = (int64_t)plan->n_step_flows + n_flows;
    if (n_all > INT_MAX || !PTI_RESIZE(plan->step_flow, n_all + 1))
        return false;
    if (n_flows > 0)
        memcpy(plan->step_flow + plan->n_step_flows, flow, (size_t)n_flows * sizeof *flow);
    plan->n_step_flows = (int)n_all;
    return true;
}

static bool add_exchange(const pti_instance *arrays, const pti_exchange *exchange,
                         pti_members_plan *plan) {
    const int64_t n_all = (int64_t)plan->n_flows + exchange->n_transfers;
    if (n_all > INT_MAX || !PTI_RESIZE(plan->flow, n_all + 1))
        return false;
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        plan->flow[plan->n_flows + t] = (pti_members_plan_flow){
            .from = transfer->from,
            .to = transfer->to,
            .array = transfer->array,
            .n_bytes = transfer->n_elements * arrays->operand[transfer->array].element_bytes};
    }
    count_messages(plan->flow + plan->n_flows, exchange->n_transfers);
    if (!keep_step_flows(plan, plan->flow + plan->n_flows, exchange->n_transfers))
        return false;
    plan->n_flows = (int)n_all;
    join_flows(plan);
    return true;
}

static bool is_flow_alike(const pti_members_plan_flow *one, const pti_members_plan_flow *other) {
    return one->from == other->from && one->to == other->to && one->array == other->array &&
           one->n_messages == other->n_messages && one->n_bytes == other->n_bytes;
}

static bool moves_alike(const pti_members_plan *plan, const pti_members_plan_step *one,
                        const pti_members_plan_step *other) {
    bool alike = one->n_before == other->n_before && one->n_after == other->n_after;
    for (int f = 0; f < one->n_before + one->n_after && alike; f++)
        alike = is_flow_alike(&plan->step_flow[one->first_flow + f],
                              &plan->step_flow[other->first_flow + f]);
    return alike;
}

/* How many steps before it a step is compared with: programs repeat few of them. */
enum { MOST_COMPARED = 16 };

/* Steps that repeat an earlier one keep no flows. */
static void join_step(pti_members_plan *plan, pti_members_plan_step *step) {
    const int number = plan->n_supersteps;
    step->same_as = number;
    for (int s = number - 1; s >= 0 && s >= number - MOST_COMPARED; s--) {
        const pti_members_plan_step *first = &plan->step[plan->step[s].same_as];
        if (!moves_alike(plan, first, step))
            continue;
        step->same_as = plan->step[s].same_as;
        plan->n_step_flows = step->first_flow;
        return;
    }
}

static bool add_step(const pti_instance *arrays, const pti_superstep_parts *parts, int n_launches,
                     pti_members_plan *plan) {
    const int number = plan->n_supersteps;
    if (!PTI_RESIZE(plan->step, number + 1))
        return false;
    const pti_members_plan_step *last = number == 0 ? NULL : &plan->step[number - 1];
    pti_members_plan_step *step = &plan->step[number];
    *step = (pti_members_plan_step){.first_launch =
                                        last == NULL ? 0 : last->first_launch + last->n_launches,
                                    .n_launches = n_launches,
                                    .first_flow = plan->n_step_flows,
                                    .n_before = parts->before.n_transfers,
                                    .n_after = parts->after.n_transfers};
    if (!add_exchange(arrays, &parts->before, plan) || !add_exchange(arrays, &parts->after, plan))
        return false;
    join_step(plan, step);
    return true;
}

/* The exchange before the first superstep is kept. */
static bool add_exchanges(const pti_instance *arrays, pti_superstep_parts *parts, int n_launches,
                          pti_members_plan *plan) {
    bool added = add_step(arrays, parts, n_launches, plan);
    if (plan->n_supersteps == 0) {
        plan->first = parts->before;
        parts->before = (pti_exchange){0};
    }
    return added;
}

static void add_threads(const pti_superstep_parts *parts, pti_members_plan *plan) {
    for (int q = 0; q < plan->n_members; q++) {
        const pti_work *work = &parts->work[q];
        plan->member[q].n_first_threads += plan->n_supersteps == 0 ? work->n_threads : 0;
        plan->member[q].n_threads += work->n_threads;
        plan->member[q].n_extra_threads += work->n_extra_threads;
    }
}

/* False when memory runs out. */
static bool add_combined(const pti_superstep *superstep, pti_members_plan *plan) {
    bool failed = false;
    for (int l = 0; l < superstep->n_launches; l++) {
        const pti_shared_launch *launch = &superstep->launch[l];
        const pti_instance *instance = launch->call.instance;
        pti_home home = pti_home_of(launch, superstep->ownerships);
        failed = failed || home.failed;
        for (int p = 0; p < instance->n_operands; p++) {
            polytile_domain hull = pti_footprint_hull(instance, p, PTI_WRITES, &instance->threads);
            if (pti_home_combines(&home, launch, superstep->ownerships, p))
                plan->combined_bytes += pti_box_count(&hull) * instance->operand[p].element_bytes;
        }
    }
    return !failed;
}

static bool add_superstep(const pti_members_plan_request *request, const pti_superstep *superstep,
                          pti_copies *copies, pti_members_plan *plan) {
    pti_superstep_parts parts;
    bool added = pti_superstep_deal(superstep, 0, plan->n_members, copies, &parts) &&
                 add_exchanges(request->arrays, &parts, superstep->n_launches, plan) &&
                 add_combined(superstep, plan);
    if (added) {
        add_threads(&parts, plan);
        plan->n_first = plan->n_supersteps == 0 ? superstep->n_launches : plan->n_first;
        plan->n_longest = (int)pti_max(plan->n_longest, superstep->n_launches);
        plan->n_supersteps++;
    }
    pti_superstep_parts_free(&parts);
    return added;
}

/* The launches from one on that a queue has recorded when it comes to it: it runs them whenever it
 * has recorded the most it can. */
static pti_superstep find_known(const pti_members_plan_request *request,
                                const pti_members_plan *plan, int at) {
    int n_recorded = PTI_TEAM_LAUNCHES - at % PTI_TEAM_LAUNCHES;
    int n_known = (int)pti_min(request->n_launches - at, n_recorded);
    return pti_members_plan_superstep(request, plan, at, n_known);
}

static bool add_supersteps(const pti_members_plan_request *request, pti_members_plan *plan) {
    const pti_superstep_limits limits = {.most_launches = request->most};
    pti_copies copies = {0};
    bool added = pti_copies_create(plan->n_arrays, plan->n_members, &copies);
    for (int at = 0; at < request->n_launches && added;) {
        const pti_superstep known = find_known(request, plan, at);
        const pti_superstep next = pti_superstep_next(&known, &limits);
        added = next.n_launches > 0 && add_superstep(request, &next, &copies, plan);
        at += next.n_launches;
    }
    pti_copies_free(&copies);
    return added;
}

static bool add_shares(const pti_members_plan_request *request, pti_members_plan *plan) {
    const pti_shared_launch *launch = &request->launch[0];
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
    }
    for (int q = 1; q < plan->n_members; q++)
        if (is_busier(&plan->member[q], &plan->member[plan->busiest]))
            plan->busiest = q;
}

static bool fill_plan(const pti_members_plan_request *request, pti_members_plan *plan) {
    if (!add_shares(request, plan) || !add_supersteps(request, plan))
        return false;
    sum_up(plan);
    return true;
}

static bool plan_members(const pti_members_plan_request *request,
                         const pti_distribution *distribution, pti_members_plan *plan) {
    *plan = (pti_members_plan){.n_members = request->n_members,
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
        is_dealt = pti_ownership_deal(&plan->ownerships[a]);
    }
    return is_dealt;
}

static polytile_status check_counts(polytile_context *ctx,
                                    const pti_members_plan_request *request) {
    int n_given = request->given == NULL ? 0 : pti_member_grid_count(request->given);
    int n_members = request->n_members;
    if (n_members < 1 || n_members > PTI_MEMBERS_PLAN_MOST_MEMBERS)
        return pti_fail(ctx, POLYTILE_INVALID, "%d ranks: plan with 1 to %d", n_members,
                        (int)PTI_MEMBERS_PLAN_MOST_MEMBERS);
    if (n_given != 0 && n_given != n_members)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "the grid has %d %s, but %d %s planned with; give one whose extents "
                        "multiply to %d",
                        n_given, pti_plural(n_given, "rank", "ranks"), n_members,
                        pti_plural(n_members, "is", "are"), n_members);
    if (request->n_launches > PTI_MEMBERS_PLAN_MOST_LAUNCHES)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%d launches over ranks: %d are planned together at most; plan fewer "
                        "steps, whose exchanges come again",
                        request->n_launches, (int)PTI_MEMBERS_PLAN_MOST_LAUNCHES);
    return POLYTILE_OK;
}

/* The boxes of the member that comes first everywhere, which has the most. */
static double count_boxes(const pti_ownership *ownership) {
    double n_boxes = 1;
    for (int d = 0; d < ownership->domain.n_dims; d++)
        n_boxes *= (double)pti_ownership_count(ownership, d, 0);
    return n_boxes;
}

/* What members exchange takes time with the square of the boxes. */
static polytile_status check_boxes(polytile_context *ctx, const pti_members_plan_request *request,
                                   const pti_members_plan *plan) {
    for (int a = 0; a < plan->n_arrays; a++) {
        double n_boxes = count_boxes(&plan->ownerships[a]);
        if (n_boxes > PTI_MEMBERS_PLAN_MOST_BOXES)
            return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                            "%s: by the layout %s a rank owns %.0f boxes of it, and with at most "
                            "%d is planned; take larger blocks",
                            request->arrays->operand[a].name, request->layout, n_boxes,
                            (int)PTI_MEMBERS_PLAN_MOST_BOXES);
    }
    return POLYTILE_OK;
}

static polytile_status fail_memory(polytile_context *ctx, const pti_members_plan_request *request) {
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
        PTI_TRY(fail_memory(ctx, request));
    PTI_TRY(check_boxes(ctx, request, plan));
    if (!fill_plan(request, plan))
        PTI_TRY(fail_memory(ctx, request));
done:
    return status;
}
