#ifndef POLYTILE_PARTITION_SKEW_TURNS_H
#define POLYTILE_PARTITION_SKEW_TURNS_H

#include "partition/skew/pass.h"
#include "partition/skew/sets.h"
#include "partition/skew/skew.h"

/* Slabs that do the same as those some laps before, shifted: the period of a chain's schedule
 * (schedule/period.h). */

/** Turns of some slabs each, one after the other. */
typedef struct pti_slab_turns {
    int64_t first; /* slab */
    int64_t n;     /* slabs of a turn: whole laps, and an even number if two slabs run at once */
    int64_t times; /* turns; 0: none */
} pti_slab_turns;

/**
 * Find turns in the only pass of a shape.
 *
 * In all their slabs, and in the one before and after, every launch has as many threads, and all
 * that they touch moves with them; images slide, and what comes and goes is the same in all
 * rows. Conflicts of launches are apart by whole rows. Chains that are folded or run in tiles have
 * none.
 */
pti_slab_turns pti_skew_turns_find(const pti_skew_request *request, const pti_skew_shape *shape,
                                   const pti_pass *pass, const pti_skew_sets *sets);

/** Return how many slabs are not listed, since turns before them stand for them. */
static inline int64_t pti_slabs_unlisted(const pti_slab_turns *turns) {
    return turns->times > 0 ? (turns->times - 1) * turns->n : 0;
}

/** Return how far boxes of an array move in a turn, or a launch's threads. */
pti_shift pti_skew_turn_of_array(const pti_pass *pass, int array, int64_t n_rows);
pti_shift pti_skew_turn_of_launch(const pti_pass *pass, int launch, int64_t n_rows);

#endif
