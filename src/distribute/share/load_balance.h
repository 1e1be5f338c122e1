#ifndef POLYTILE_DISTRIBUTE_SHARE_LOAD_BALANCE_H
#define POLYTILE_DISTRIBUTE_SHARE_LOAD_BALANCE_H

#include "distribute/share/distribution.h"
#include "distribute/share/member_grid.h"
#include "distribute/share/speed.h"

/* The share of each member, so that all are done at the same time. */

/** What launches do with their arrays, all members' shares together, in bytes. */
typedef struct pti_load {
    double touched;  /* by kernels: the footprints of all launches, added up */
    double streamed; /* there or back, whichever is more, where nothing stays on the device */
    double once;     /* the same, where everything stays there between launches */
    double held;     /* all that lies on the devices if everything stays */
} pti_load;

/** A member's speed and capacity. */
typedef struct pti_balanced_member {
    pti_speed speed;
    bool is_in_place;     /* nothing moves */
    int64_t usable_bytes; /* of its device's memory, unless it is in place */
} pti_balanced_member;

/**
 * Weights of members by the time that each would take for all of the load. A member whose share
 * would not fit its memory streams it: its weight is by its speed then, not by what fits.
 *
 * Shapes  weights: in thousandths of the fastest's; 0 for less than half of one. Members that are
 *         alike get the same; if none is of any use, all do.
 */
void pti_balance_load(int n_members, const pti_balanced_member *members, const pti_load *load,
                      double *weights);

/** Round weights to that many steps up to the largest, and to `least` of them at least; if all are
 * 0, all become 1. */
void pti_weights_round(int n_weights, int n_steps, int least, double *weights);

/** A member's coordinate along the first dimension of a grid that is cut, and how many coordinates
 * there are; without a grid (NULL) each member has its own. */
int pti_balance_coordinate(const pti_member_grid *grid, int member, int *n_parts);

/** A distribution by weights, one a part. */
pti_distribution pti_weighted(int n_parts, const double *weights);

#endif
