#ifndef POLYTILE_PARTITION_SKEW_SETS_H
#define POLYTILE_PARTITION_SKEW_SETS_H

#include "partition/skew/skew.h"

/* What the passes of a chain move: sets of elements, which do not depend on slabs, since every
 * order that keeps the dependences reads and writes the same. */

/** What one pass does with an array. With a few elements more around them that do no harm, where
 * that makes long runs of short ones, and one box of several. */
typedef struct pti_pass_sets {
    pti_boxes brought; /* read before it is written: comes from the host */
    pti_boxes filled;  /* the same, but nobody wrote it ever: becomes zero on the device */
    pti_boxes taken;   /* written or filled, and read later or part of the result: goes home. Not
                          what is filled again by later passes, of an array that is dropped */
} pti_pass_sets;

typedef struct pti_skew_sets {
    int n_passes;
    int n_arrays;
    bool is_scattered; /* some set has more boxes than were to be gone through: none is complete */
    pti_pass_sets *of; /* [pass * n_arrays + array]; owned */
} pti_skew_sets;

/** Find them for passes of n_per_pass launches, as long as none has more than most_boxes boxes. False
 * when memory runs out. Freed in both cases with pti_skew_sets_free(). */
bool pti_skew_sets_find(const pti_skew_request *request, int n_per_pass, int most_boxes,
                        pti_skew_sets *sets);
void pti_skew_sets_free(pti_skew_sets *sets);

/** What whole arrays bring, whichever passes read it, since they stay; replaces *boxes. */
void pti_skew_sets_find_whole(const pti_skew_sets *sets, int array, pti_boxes *boxes);

const pti_pass_sets *pti_skew_sets_of(const pti_skew_sets *sets, int pass, int array);

#endif
