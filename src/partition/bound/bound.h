#ifndef POLYTILE_PARTITION_BOUND_BOUND_H
#define POLYTILE_PARTITION_BOUND_BOUND_H

#include "access/footprint/instance.h"

/* partition/bound: what any plan must move. Programs see a plan beside its bound. */

/* What any plan must move between host and device, from the declared sections alone. docs/bounds.md
 * has the formulas, their proofs and sources. */

/** From which formula a bound comes. */
typedef enum pti_bound_kind {
    PTI_BOUND_COMPULSORY, /* each element once, each way */
    PTI_BOUND_MATMUL,     /* three arrays that name all but one of three index sets */
    PTI_BOUND_PAIRS,      /* two arrays of which every part meets every part */
    PTI_BOUND_STENCIL     /* launches that read the neighbourhoods of what the former one wrote */
} pti_bound_kind;

/** A lower bound of what moves. */
typedef struct pti_bound {
    pti_bound_kind kind;
    int64_t h2d_bytes;  /* no plan uploads less */
    int64_t d2h_bytes;  /* no plan downloads less */
    int64_t goal_bytes; /* what the kind's formula says, or the compulsory uploads where they are
                           more: no plan's uploads, and results that start on the device instead of
                           being uploaded, are together less */
    bool failed;        /* memory ran out: it is true, but may be less than it could be */
    char reason[192];   /* "matmul-like (A, B, C): 2 m n k / sqrt(S) words, ..." */
} pti_bound;

/** Return the bound of one launch from an empty device with a memory of limit_bytes. */
pti_bound pti_bound_find(const pti_instance *instance, int64_t limit_bytes);

/**
 * Return the compulsory traffic of consecutive launches: elements that are read before a launch
 * writes them come in once, written ones go out once.
 *
 * is_scratch: of each array, whether it has no contents before and after.
 */
pti_bound pti_bound_find_chain(int n_launches, const pti_call *launches, int n_arrays,
                               const bool *is_scratch);

/**
 * Raise the bound of launches that read neighbourhoods more often than a memory of limit_bytes can
 * hold them; docs/bounds.md has the proof. The device is empty before. When memory runs out,
 * returns false and leaves the bound as it was.
 */
bool pti_bound_raise_stencil(int n_launches, const pti_call *launches, int n_arrays,
                             const bool *is_scratch, int64_t limit_bytes, pti_bound *bound);

#endif
