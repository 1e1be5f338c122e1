#include "distribute/show/ranks_plan.h"

int pti_ranks_with_largest_peak(const polytile_ranks_plan *plan) {
    int largest = plan->members.busiest;
    for (int q = 0; q < plan->members.n_members; q++)
        if (plan->figures[q].peak_device_bytes > plan->figures[largest].peak_device_bytes)
            largest = q;
    return largest;
}

pti_ranks_way pti_ranks_way_of(const pti_members_plan_flow *flow, int n_flows) {
    pti_ranks_way way = {.flow = flow};
    for (int f = 0; f < n_flows && flow[f].to == flow->to && flow[f].from == flow->from; f++) {
        way.n_flows++;
        way.n_messages += flow[f].n_messages;
        way.n_bytes += flow[f].n_bytes;
    }
    return way;
}

pti_ranks_way pti_ranks_way_at(const pti_members_plan *members, int f) {
    return pti_ranks_way_of(&members->flow[f], members->n_flows - f);
}

pti_words pti_words_grid(const pti_member_grid *grid) {
    int64_t extents[POLYTILE_MAX_DIMS];
    for (int d = 0; d < grid->n_dims; d++)
        extents[d] = grid->extent[d];
    return pti_words_extents(grid->n_dims, extents);
}

pti_words pti_words_exchanges(const pti_members_plan *members) {
    const pti_words words =
        pti_words_of("%s from rank to rank", pti_words_size(members->exchanged_bytes).text);
    if (members->n_launches == 1)
        return words;
    return pti_words_of("%s in %s, before up to %d of %d launches each", words.text,
                        pti_words_count(members->n_supersteps, "exchange").text, members->n_longest,
                        members->n_launches);
}

/** What goes from rank to rank in one exchange. */
static void add_moved(pti_text *text, const pti_members_plan_flow *flow, int n_flows,
                      int most_ways) {
    int n_ways = 0;
    pti_ranks_way way;
    for (int f = 0; f < n_flows; f += way.n_flows) {
        way = pti_ranks_way_of(flow + f, n_flows - f);
        if (++n_ways <= most_ways)
            pti_text_add(text, "%s%d to %d: %s", n_ways == 1 ? "" : ", ", way.flow->from,
                         way.flow->to, pti_words_size(way.n_bytes).text);
    }
    if (n_ways > most_ways)
        pti_text_add(text, ", ... %d more", n_ways - most_ways);
}

void pti_ranks_write_step(pti_text *text, const pti_members_plan *members, int number,
                          int most_ways) {
    const pti_members_plan_step *step = &members->step[number];
    const pti_members_plan_flow *flow = &members->step_flow[step->first_flow];
    const int last = step->first_launch + step->n_launches - 1;
    pti_text_add(text, "launch%s ", step->n_launches == 1 ? "" : "es");
    pti_text_add(text, step->n_launches == 1 ? "%d  " : "%d to %d  ", step->first_launch, last);
    if (step->same_as < number) {
        pti_text_add(text, "as for launch %d", members->step[step->same_as].first_launch);
        return;
    }
    pti_text_add(text, step->n_before + step->n_after == 0 ? "nothing" : "");
    pti_text_add(text, step->n_before > 0 ? "before: " : "");
    add_moved(text, flow, step->n_before, most_ways);
    pti_text_add(text, step->n_before > 0 && step->n_after > 0 ? "; " : "");
    pti_text_add(text, step->n_after > 0 ? "behind: " : "");
    add_moved(text, flow + step->n_before, step->n_after, most_ways);
}
