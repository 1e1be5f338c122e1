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
