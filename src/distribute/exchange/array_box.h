#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_ARRAY_BOX_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_ARRAY_BOX_H

#include "distribute/share/ownership.h"

/* The boxes that members' arrays lie over: as small as their work allows. */

/** An array of one member. */
typedef struct pti_array_box {
    const pti_ownership *ownership; /* of the whole array; borrowed */
    int member;
    int64_t element_bytes;
    bool is_of_program;            /* it lies in the program's memory: boxes are contiguous there */
    const polytile_domain *former; /* the box that it has; borrowed; NULL: it has none yet */
} pti_array_box;

/** The box that has to contain `needed`: around what it had and what the member owns, too. */
polytile_domain pti_array_box_choose(const pti_array_box *box, const polytile_domain *needed);

/** The bytes that it has, or will have once the member uses it. */
int64_t pti_array_box_expect_bytes(const pti_array_box *box);

#endif
