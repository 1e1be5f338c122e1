#ifndef POLYTILE_DISTRIBUTE_POLICY_SIMULATE_H
#define POLYTILE_DISTRIBUTE_POLICY_SIMULATE_H

#include "distribute/policy/deal.h"

/* Policies on units that are not there: what a simulation keeps, for those that print it. */

/** A piece that a unit ran. */
typedef struct pti_simulated_piece {
    int unit;
    pti_rows rows;
    double begin_s;
    double end_s;
} pti_simulated_piece;

/** What one policy did. */
typedef struct pti_simulated {
    char *policy; /* its text; owned, as are the lists */
    double makespan_s;
    int64_t n_pieces;
    int64_t capacity;
    pti_simulated_piece *piece; /* in the order in which they were taken */
    polytile_simulated_unit *unit;
} pti_simulated;

/** What several policies did on the same units and rows. */
struct polytile_simulation {
    pti_object object;
    int n_units;
    int64_t n_rows;
    double total; /* of the rows' costs */
    double largest;
    double lower_bound_s;
    double *speed; /* owned, as are the others */
    int *node;     /* of each unit */
    int n_policies;
    pti_simulated *of; /* a policy each */
};

/** Run a policy; the simulation has units and rows, and *result the text alone. costs: of each row;
 * NULL: 1 each. Errors: NO_MEMORY. */
polytile_status pti_simulate(polytile_context *ctx, const polytile_simulation *simulation,
                             const double *costs, const pti_policy *policy, pti_simulated *result);

#endif
