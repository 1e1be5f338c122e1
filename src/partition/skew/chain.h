#ifndef POLYTILE_PARTITION_SKEW_CHAIN_H
#define POLYTILE_PARTITION_SKEW_CHAIN_H

#include "access/lag.h"
#include "base/text.h"

/* Launches that may take turns: each is cut along one index into slabs of threads, and instead of
 * all of a launch before the next, slab 0 of all of them runs, then slab 1, and so on. Every launch
 * has an offset, by which its slabs stay behind those of the launches before it, so that whatever
 * two threads have to do with each other keeps its order: with one memory for each array, and no
 * thread run twice.
 *
 * Source  Wolfe, "More iteration space tiling", 1989 (skewing); Wonnacott, "Achieving scalable
 *         locality with time skewing", 2002. The offsets come from the declarations. */

typedef struct pti_chain_launch {
    pti_cut_launch cut;
    int64_t offset; /* never less than that of the launch before; of the first 0 */
} pti_chain_launch;

typedef struct pti_chain {
    const pti_instance *arrays; /* borrowed: of no kernel, its operands are the arrays */
    int n_launches;
    pti_chain_launch *launch; /* owned, as all below */
    int *axis;                /* of each array: its dimension that follows the slabs, PTI_AXIS_* */
} pti_chain;

enum {
    PTI_AXIS_NONE = -1, /* no launch of the chain touches the array */
    PTI_AXIS_WHOLE = -2 /* launches only read it, and each slab may read all of it */
};

/**
 * Find how many launches at the beginning of a list may take turns, and with which offsets.
 *
 * Where they come to an end before the list does, the reason is added to `why`.
 *
 * Shapes  launches: those of a list, in order; what their index is does not matter. They and what
 *         they point to live as long as the chain.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *chain with pti_chain_free(), also after an error.
 */
polytile_status pti_chain_find(const pti_instance *arrays, int n_launches,
                               const pti_cut_launch *launches, pti_chain *chain, pti_text *why);

void pti_chain_free(pti_chain *chain);

/** The rows of an array, along its axis, that a thread touches: its index + lo to its index +
 * hi. */
typedef struct pti_reach {
    int64_t lo;
    int64_t hi;
} pti_reach;

/** How a launch of a chain touches an array; false if it does not, or the array has no axis. */
bool pti_chain_reach(const pti_chain *chain, int launch, int array, pti_reach *reach);

#endif
