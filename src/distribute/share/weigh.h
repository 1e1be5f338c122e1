#ifndef POLYTILE_DISTRIBUTE_SHARE_WEIGH_H
#define POLYTILE_DISTRIBUTE_SHARE_WEIGH_H

#include "distribute/share/distribution.h"
#include "distribute/share/member_grid.h"
#include "distribute/share/speed.h"

/* How much of the work each member gets, so that all are done at the same time. */

/** What launches do with their arrays, all members' shares together, in bytes. */
typedef struct pti_load {
    double touched;  /* by kernels: the footprints of all launches, added up */
    double streamed; /* there or back, whichever is more, where nothing stays on the device */
    double once;     /* the same, where everything stays there between launches */
    double held;     /* all that lies on the devices then */
} pti_load;

/** One member: how fast it is, and what it has room for. */
typedef struct pti_weighed {
    pti_speed speed;
    bool is_in_place;     /* nothing moves */
    int64_t usable_bytes; /* of its device's memory, unless it is in place */
} pti_weighed;

/**
 * Weights of members by how long each would take for all of the load. A member whose share would
 * not fit its memory is taken to stream it: it gets what its speed says then, not what fits.
 *
 * Shapes  weights: in thousandths of the fastest's; 0 for less than half of one. Members that are
 *         alike get the same; if none is of any use, all do.
 */
void pti_weigh(int n_members, const pti_weighed *members, const pti_load *load, double *weights);

/** Round weights to that many steps up to the largest, and to `least` of them at least; if all are
 * 0, all become 1. */
void pti_weigh_round(int n_weights, int n_steps, int least, double *weights);

/** Along the first dimension of a grid that is cut, which part a member is of, and how many there
 * are; of no grid (NULL) each is a part. */
int pti_weigh_part(const pti_member_grid *grid, int member, int *n_parts);

/** A distribution by weights, one a part. */
pti_distribution pti_weighted(int n_parts, const double *weights);

#endif
