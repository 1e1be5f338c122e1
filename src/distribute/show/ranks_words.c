#include "distribute/show/ranks_plan.h"

const char *pti_ranks_word(const polytile_ranks_plan *plan) {
    return plan->of.n_ranks > 0 && plan->of.n_local == 1 ? "rank" : "device";
}

pti_words pti_words_member(const polytile_ranks_plan *plan, int member) {
    const int n_local = plan->of.n_local;
    return plan->of.n_ranks == 0 || n_local == 1
               ? pti_words_of("%d", member)
               : pti_words_of("%d.%d", member / n_local, member % n_local);
}

pti_words pti_words_members(const polytile_ranks_plan *plan) {
    const int n_ranks = plan->of.n_ranks, n_local = plan->of.n_local;
    if (n_ranks == 0)
        return pti_words_count(n_local, "device");
    if (n_local == 1)
        return pti_words_count(n_ranks, "rank");
    return pti_words_of("%s of %d devices", pti_words_count(n_ranks, "rank").text, n_local);
}

int pti_ranks_with_largest_peak(const polytile_ranks_plan *plan) {
    int largest = plan->members.busiest;
    for (int q = 0; q < plan->members.n_members; q++)
        if (plan->figures[q].peak_device_bytes > plan->figures[largest].peak_device_bytes)
            largest = q;
    return largest;
}

/** Return the way that begins with the first of some flows. */
static pti_ranks_way way_of_flows(const pti_members_plan_flow *flow, int n_flows) {
    pti_ranks_way way = {.flow = flow};
    for (int f = 0; f < n_flows && flow[f].to == flow->to && flow[f].from == flow->from; f++) {
        way.n_flows++;
        way.n_messages += flow[f].n_messages;
        way.n_bytes += flow[f].n_bytes;
    }
    return way;
}

pti_ranks_way pti_ranks_way_at(const pti_members_plan *members, int f) {
    return way_of_flows(&members->flow[f], members->n_flows - f);
}

pti_words pti_words_grid(const pti_member_grid *grid) {
    int64_t extents[POLYTILE_MAX_DIMS];
    for (int d = 0; d < grid->n_dims; d++)
        extents[d] = grid->extent[d];
    return pti_words_extents(grid->n_dims, extents);
}

/** "12 KiB from rank to rank, 4 KiB from device to device of a rank" */
static pti_words describe_ways(const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    const int64_t within_bytes = members->exchanged_bytes - members->message_bytes;
    const pti_words sent =
        pti_words_of("%s from rank to rank", pti_words_size(members->message_bytes).text);
    if (plan->of.n_ranks == 0)
        return pti_words_of("%s from device to device", pti_words_size(within_bytes).text);
    if (plan->of.n_local == 1)
        return sent;
    return pti_words_of("%s, %s from device to device of a rank", sent.text,
                        pti_words_size(within_bytes).text);
}

pti_words pti_words_exchanges(const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    const pti_words words = describe_ways(plan);
    if (members->n_launches == 1)
        return words;
    return pti_words_of("%s in %s, before up to %d of %d launches each", words.text,
                        pti_words_count(members->n_supersteps, "exchange").text, members->n_longest,
                        members->n_launches);
}

/** Write what goes from member to member in one exchange. */
static void add_moved(pti_text *text, const polytile_ranks_plan *plan,
                      const pti_members_plan_flow *flow, int n_flows, int most_ways) {
    int n_ways = 0;
    pti_ranks_way way;
    for (int f = 0; f < n_flows; f += way.n_flows) {
        way = way_of_flows(flow + f, n_flows - f);
        if (++n_ways <= most_ways)
            pti_text_add(text, "%s%s to %s: %s", n_ways == 1 ? "" : ", ",
                         pti_words_member(plan, way.flow->from).text,
                         pti_words_member(plan, way.flow->to).text,
                         pti_words_size(way.n_bytes).text);
    }
    if (n_ways > most_ways)
        pti_text_add(text, ", ... %d more", n_ways - most_ways);
}

void pti_ranks_write_step(pti_text *text, const polytile_ranks_plan *plan, int number,
                          int most_ways) {
    const pti_members_plan *members = &plan->members;
    const pti_members_plan_step *step = &members->step[number];
    const pti_members_plan_flow *flow = &members->step_flow[step->first_flow];
    const int last = step->first_launch + step->n_launches - 1;
    if (step->n_launches == 0)
        pti_text_add(text, "at the end  ");
    else if (step->n_launches == 1)
        pti_text_add(text, "launch %d  ", last);
    else
        pti_text_add(text, "launches %d to %d  ", step->first_launch, last);
    if (step->same_as < number) {
        pti_text_add(text, "as for launch %d", members->step[step->same_as].first_launch);
        return;
    }
    const bool moves = step->n_before + step->n_after > 0;
    pti_text_add(text, moves || step->combined_bytes > 0 ? "" : "nothing");
    pti_text_add(text, step->n_before > 0 && step->n_launches > 0 ? "before: " : "");
    add_moved(text, plan, flow, step->n_before, most_ways);
    pti_text_add(text, step->n_before > 0 && step->n_after > 0 ? "; " : "");
    pti_text_add(text, step->n_after > 0 ? "after: " : "");
    add_moved(text, plan, flow + step->n_before, step->n_after, most_ways);
    if (step->combined_bytes > 0)
        pti_text_add(text, "%scombined: %s", moves ? "; " : "",
                     pti_words_size(step->combined_bytes).text);
}
