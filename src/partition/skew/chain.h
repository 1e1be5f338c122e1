#ifndef POLYTILE_PARTITION_SKEW_CHAIN_H
#define POLYTILE_PARTITION_SKEW_CHAIN_H

#include "access/lag.h"
#include "base/text.h"

/*
 * Launches that may be interleaved: each is cut along one index into slabs of threads; slab 0 of
 * all launches runs, then slab 1, and so on. Every launch has an offset, by which its slabs stay
 * behind those of earlier launches, so that all conflicts keep their order, with one memory for
 * each array, and no thread run twice.
 *
 * Source  Wolfe, "More iteration space tiling", 1989 (skewing); Wonnacott, "Achieving scalable
 *         locality with time skewing", 2002. The offsets come from the declarations.
 */

/** Launches that may be interleaved, over their arrays. */
typedef struct pti_chain {
    const pti_instance *arrays; /* borrowed: of no kernel, its operands are the arrays */
    int n_launches;
    pti_cut_launch
        *launch; /* offsets are never less than that of the launch before, of the first 0;
                               owned, as all below */
    int *axis;   /* of each array: its dimension that follows the slabs, PTI_AXIS_* */
    struct pti_folded_chain *
        folded; /* launches and arrays are halves of periodic ones (folded.h); NULL: they are not */
    struct pti_tiled_chain
        *tiled; /* rows that run several as one (tiled.h); NULL: there are none */
    pti_text
        lacks_rounds; /* why periodic rows run none as one though others would; empty: no such */
} pti_chain;

enum {
    PTI_AXIS_NONE = -1, /* no launch of the chain touches the array */
    PTI_AXIS_WHOLE = -2 /* launches only read it, and each slab may read all of it */
};

/**
 * Find how many launches at the beginning of a list may be interleaved, and with which offsets.
 *
 * If the chain ends before the list, `why` gets the reason.
 *
 * Shapes  launches: in order; their indices and offsets are ignored. They and what they point to
 *         live as long as the chain.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *chain with pti_chain_free(), also after an error.
 */
polytile_status pti_chain_find(const pti_instance *arrays, int n_launches,
                               const pti_cut_launch *launches, pti_chain *chain, pti_text *why);

/**
 * Find the chain of the same launches along another index of each, so that slabs of the one may be
 * cut along the other, too.
 *
 * If there is none, across->n_launches is 0 and `why` has the reason for the last index tried.
 *
 * Shapes  chain: of one launch or more, not folded.
 * Errors  NO_MEMORY.
 * Owns    The caller frees *across with pti_chain_free(), also after an error.
 */
polytile_status pti_chain_find_across(const pti_chain *chain, pti_chain *across, pti_text *why);

void pti_chain_free(pti_chain *chain);

/** Return the launches of the program that a chain has. */
int pti_chain_n_calls(const pti_chain *chain);

/** Return how many of a chain's launches are one of the program's: the halves of a periodic one. */
static inline int pti_chain_unit(const pti_chain *chain) {
    return chain->folded == NULL ? 1 : 2;
}

/** Return whether two launches are of one instance on the same arrays. */
bool pti_chain_is_same_launch(const pti_cut_launch *one, const pti_cut_launch *other);

/** The rows of an array, along its axis, that a thread touches: its index + lo to its index +
 * hi. */
typedef struct pti_reach {
    int64_t lo;
    int64_t hi;
} pti_reach;

/** Find how a launch of a chain touches an array; false if it does not, or the array has no
 * axis. */
bool pti_chain_reach(const pti_chain *chain, int launch, int array, pti_reach *reach);

#endif
