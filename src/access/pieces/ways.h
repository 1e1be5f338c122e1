#ifndef POLYTILE_ACCESS_PIECES_WAYS_H
#define POLYTILE_ACCESS_PIECES_WAYS_H

#include "access/pieces/split.h"

/* The ways in which the arrays of a call can be held. */

/** The most ways that are known of one call: those of four pieces, and a sheared one. */
enum { PTI_MAX_WAYS = 16 };

/** Ways to hold the arrays of a bound call: as declared, and in pieces. Planners add those that
 * they try, and choose one; all that plans, proves and runs the call sees only its operands. */
typedef struct pti_ways {
    int n_ways;
    pti_call call[PTI_MAX_WAYS]; /* the first is as declared, and borrowed; the others are owned */
    bool may_split;              /* false: what runs the call takes arrays in one piece */
    bool may_shear;              /* what lies on the device is this call's alone: another one's
                                    images have the array's own indices */
} pti_ways;

/** The one way that every call has; its list of arrays may be NULL, and those of the others are
 * then. */
static inline pti_ways pti_ways_of(pti_call call, bool may_split) {
    return (pti_ways){.n_ways = 1, .call = {call}, .may_split = may_split, .may_shear = false};
}

/**
 * Find the way of pti_instance_split() for some threads, or NULL, with fewer pieces than a way that
 * is known, and add it if it is not. finer: that way; 0: any number of pieces.
 *
 * way: its number; 0: no array is split, or no more ways can be added.
 * Errors  NO_MEMORY.
 * Owns    The caller frees what is in *ways with pti_ways_free().
 */
polytile_status pti_ways_find(polytile_context *ctx, pti_ways *ways, const polytile_domain *threads,
                              int finer, int *way);

/** Find the way of pti_instance_split_by_cover(), and add it if it is not known. way: its number;
 * 0: there is none, or no more can be added. Errors: NO_MEMORY. */
polytile_status pti_ways_cover(polytile_context *ctx, pti_ways *ways, int k, int *way);

/** Add the pieces of a way of another call, which differs from this one in its arrays alone: these
 * are as large, and alias as its own do. way: its number; 0: no more can be added. Errors:
 * NO_MEMORY. */
polytile_status pti_ways_adopt(polytile_context *ctx, pti_ways *ways, const pti_instance *pieces,
                               int *way);

/** Find the way that has a way's pieces, and diagonals by themselves (shear.h), and add it.
 * sheared: its number; 0: there is none, or no more can be added. Errors: NO_MEMORY. */
polytile_status pti_ways_shear(polytile_context *ctx, pti_ways *ways, int way, int *sheared);

void pti_ways_free(pti_ways *ways);

/** Add to the last error, that a call does not fit, what would help where arrays in pieces might.
 * Returns status, or NO_MEMORY. */
polytile_status pti_ways_explain(polytile_context *ctx, const pti_ways *ways,
                                 polytile_status status);

#endif
