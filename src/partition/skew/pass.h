#ifndef POLYTILE_PARTITION_SKEW_PASS_H
#define POLYTILE_PARTITION_SKEW_PASS_H

#include "access/set/boxes.h"
#include "partition/skew/chain.h"
#include "partition/skew/tiled.h"

/* One pass of a chain: which threads of each launch make a slab, and which rows of each array it
 * touches. Slabs are cut from one coordinate, the index of a launch plus its offset. */

/** The rows of an array that slab k may touch: from begin + k * slab + lo to begin + (k + 1) * slab
 * - 1 + hi, as far as they are in the hull. */
typedef struct pti_band {
    bool passes; /* the array has an axis, and launches of the pass touch it */
    int64_t lo;
    int64_t hi;
    polytile_domain
        hull; /* all that the pass touches; along the axis places where an array is folded */
    int64_t row_bytes; /* of an image, padding aside */
} pti_band;

/** Consecutive launches of a chain that run slab by slab. */
typedef struct pti_pass {
    const pti_chain *chain;
    int first; /* of its launches */
    int end;
    int64_t begin;  /* the least coordinate of a thread */
    int64_t last;   /* the largest */
    pti_band *band; /* of each array; owned */
    int n_units;
    pti_tiled_unit *unit; /* of its launches, in order; owned */
    int64_t
        *shift; /* of each of its launches: by how much its coordinate exceeds its index; owned */
} pti_pass;

/** Make the pass of launches first .. end - 1; pti_pass_end() frees it. False when memory runs
 * out. */
bool pti_pass_begin(const pti_chain *chain, int first, int end, pti_pass *pass);
void pti_pass_end(pti_pass *pass);

int64_t pti_pass_n_slabs(const pti_pass *pass, int64_t slab);

/** Find the threads of a launch that are in slabs k .. to; false if there are none. */
bool pti_pass_threads(const pti_pass *pass, int launch, int64_t slab, int64_t k, int64_t to,
                      polytile_domain *threads);

/** Find the first and the last slab that have threads of a launch. */
void pti_pass_slabs_of(const pti_pass *pass, int launch, int64_t slab, int64_t *first,
                       int64_t *last);

/** Return the rows of an array that slabs k .. to touch together; empty if none. */
polytile_range pti_pass_rows(const pti_pass *pass, int array, int64_t slab, int64_t k, int64_t to);

#endif
