#include "base/list.h"
#include "distribute/exchange/members_plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What travels around each superstep, and around all of them together. */

static int compare_numbers(int one, int other) {
    return (one > other) - (one < other);
}

/* By the receiver's process, the sender's, receiver, sender and array. */
static int compare_flows(const void *first, const void *second) {
    const pti_members_plan_flow *a = first, *b = second;
    int order = compare_numbers(a->to_process, b->to_process);
    order = order != 0 ? order : compare_numbers(a->from_process, b->from_process);
    order = order != 0 ? order : compare_numbers(a->to, b->to);
    order = order != 0 ? order : compare_numbers(a->from, b->from);
    return order != 0 ? order : compare_numbers(a->array, b->array);
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
        plan->flow[n_joined - 1].pulled_bytes += flow->pulled_bytes;
    }
    plan->n_flows = n_joined;
}

/* Count messages: what goes from one process to another is one, whatever its members and arrays. */
static void count_messages(pti_members_plan_flow *flow, int n_flows) {
    if (n_flows > 0)
        qsort(flow, (size_t)n_flows, sizeof *flow, compare_flows);
    for (int f = 0; f < n_flows; f++)
        flow[f].n_messages = pti_members_plan_is_message(&flow[f]) &&
                             (f == 0 || flow[f - 1].to_process != flow[f].to_process ||
                              flow[f - 1].from_process != flow[f].from_process);
}

/* Append what one exchange moves to what all do. */
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
                         const bool *is_pulled, pti_members_plan *plan) {
    const int64_t n_all = (int64_t)plan->n_flows + exchange->n_transfers;
    if (n_all > INT_MAX || !PTI_RESIZE(plan->flow, n_all + 1))
        return false;
    for (int t = 0; t < exchange->n_transfers; t++) {
        const pti_transfer *transfer = &exchange->transfer[t];
        const int64_t n_bytes =
            transfer->n_elements * arrays->operand[transfer->array].element_bytes;
        plan->flow[plan->n_flows + t] = (pti_members_plan_flow){
            .from = transfer->from,
            .to = transfer->to,
            .from_process = transfer->from / plan->n_local,
            .to_process = transfer->to / plan->n_local,
            .array = transfer->array,
            .n_bytes = n_bytes,
            .pulled_bytes = is_pulled != NULL && is_pulled[transfer->array] ? n_bytes : 0};
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
           one->n_messages == other->n_messages && one->n_bytes == other->n_bytes &&
           one->pulled_bytes == other->pulled_bytes;
}

static bool moves_alike(const pti_members_plan *plan, const pti_members_plan_step *one,
                        const pti_members_plan_step *other) {
    bool alike = one->n_before == other->n_before && one->n_after == other->n_after &&
                 one->combined_bytes == other->combined_bytes;
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

bool pti_members_plan_add_step(const pti_instance *arrays, const pti_superstep_parts *parts,
                               const bool *is_pulled, int n_launches, int64_t combined_bytes,
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
                                    .n_after = parts->after.n_transfers,
                                    .combined_bytes = combined_bytes};
    if (!add_exchange(arrays, &parts->before, is_pulled, plan) ||
        !add_exchange(arrays, &parts->after, NULL, plan))
        return false;
    join_step(plan, step);
    return true;
}
