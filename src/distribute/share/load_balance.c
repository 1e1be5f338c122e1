#include "distribute/share/load_balance.h"

#include <math.h>
#include <string.h>

enum { THOUSAND = 1000 };

/** Seconds that a member takes for all of a load; infinite if it is of no use. */
static double find_time_s(const pti_balanced_member *member, const pti_load *load, bool streams) {
    const pti_speed *speed = &member->speed;
    if (!(speed->resident > 0) || !(speed->streamed > 0))
        return INFINITY;
    double compute_s = load->touched / speed->resident;
    if (member->is_in_place)
        return compute_s;
    return streams ? fmax(compute_s, load->streamed / speed->streamed)
                   : compute_s + load->once / speed->streamed;
}

/** Inverse times; returns their sum. */
static double find_rates(int n_members, const pti_balanced_member *members, const pti_load *load,
                         const bool *streams, double *rates) {
    double sum = 0;
    for (int m = 0; m < n_members; m++) {
        rates[m] = 1 / fmax(find_time_s(&members[m], load, streams[m]), 1e-30);
        sum += rates[m];
    }
    return sum;
}

/** Let members stream whose shares do not fit; false: all such members do. */
static bool find_more_that_stream(int n_members, const pti_balanced_member *members,
                                  const pti_load *load, const double *rates, double sum,
                                  bool *streams) {
    bool has_found = false;
    for (int m = 0; m < n_members; m++) {
        bool fits = load->held * rates[m] <= (double)members[m].usable_bytes * sum;
        bool must = !members[m].is_in_place && !streams[m] && !fits;
        streams[m] |= must;
        has_found |= must;
    }
    return has_found;
}

void pti_weights_round(int n_weights, int n_steps, int least, double *weights) {
    double most = 0;
    for (int w = 0; w < n_weights; w++)
        most = fmax(most, weights[w]);
    for (int w = 0; w < n_weights; w++)
        weights[w] = most > 0 ? fmax(least, round(n_steps * (weights[w] / most))) : 1;
}

void pti_balance_load(int n_members, const pti_balanced_member *members, const pti_load *load,
                      double *weights) {
    bool streams[PTI_MAX_WEIGHTS] = {false};
    double sum;
    do {
        sum = find_rates(n_members, members, load, streams, weights);
    } while (find_more_that_stream(n_members, members, load, weights, sum, streams));
    pti_weights_round(n_members, THOUSAND, 0, weights);
}

int pti_balance_coordinate(const pti_member_grid *grid, int member, int *n_parts) {
    int coordinate[POLYTILE_MAX_DIMS], dim = 0;
    if (grid == NULL)
        return member;
    pti_member_grid_locate(grid, member, coordinate);
    while (dim < grid->n_dims - 1 && grid->extent[dim] == 1)
        dim++;
    *n_parts = grid->extent[dim];
    return coordinate[dim];
}

pti_distribution pti_weighted(int n_parts, const double *weights) {
    pti_distribution distribution = {
        .kind = &pti_distribution_weighted, .only_dim = -1, .n_weights = n_parts};
    memcpy(distribution.weight, weights, (size_t)n_parts * sizeof *weights);
    return distribution;
}
