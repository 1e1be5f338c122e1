#ifndef POLYTILE_PARTITION_SKEW_SETS_H
#define POLYTILE_PARTITION_SKEW_SETS_H

#include "partition/skew/skew.h"

/* What the passes of a chain move, as sets of elements. These do not depend on slabs, since every
 * order that keeps the dependences reads and writes the same. */

/** What one pass does with an array. Sets may hold a few more harmless elements, for longer runs
 * and fewer boxes. */
typedef struct pti_pass_sets {
    pti_boxes exposed; /* read before it is written: comes from the host */
    pti_boxes filled;  /* the same, but nobody wrote it ever: becomes zero on the device */
    pti_boxes
        live; /* written or filled, and read later or part of the result: goes to the host. Not
                          what is filled again by later passes, of an array that is dropped */
} pti_pass_sets;

/** The sets of all passes and arrays. */
typedef struct pti_skew_sets {
    int n_passes;
    int n_arrays;
    bool is_scattered; /* some set has more boxes than were to be gone through: none is complete */
    pti_pass_sets *of; /* [pass * n_arrays + array]; owned */
} pti_skew_sets;

/** Find the sets of passes of n_per_pass launches, while none has more than most_boxes boxes. False
 * when memory runs out. Free them in both cases with pti_skew_sets_free(). */
bool pti_skew_sets_find(const pti_skew_request *request, int n_per_pass, int most_boxes,
                        pti_skew_sets *sets);
void pti_skew_sets_free(pti_skew_sets *sets);

/** Find what is exposed of a whole array, which stays, whichever passes read it; replaces
 * *boxes. */
void pti_skew_sets_find_whole(const pti_skew_sets *sets, int array, pti_boxes *boxes);

const pti_pass_sets *pti_skew_sets_of(const pti_skew_sets *sets, int pass, int array);

#endif
