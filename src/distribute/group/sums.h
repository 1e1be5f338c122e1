#ifndef POLYTILE_DISTRIBUTE_GROUP_SUMS_H
#define POLYTILE_DISTRIBUTE_GROUP_SUMS_H

#include "distribute/members/state.h"

/* A launch whose threads are divided among members that reduce into the same elements. Each member
 * reduces into memory of its own that begins with the identity, one of them with what the array
 * held; these are combined in the order of the members, so that a result depends on how many there
 * are and on nothing else. */

/** One operand that is combined. */
typedef struct pti_group_sum {
    int operand;
    int position;
    polytile_domain box;      /* all that any thread reduces into */
    pti_memory_layout layout; /* of that */
    void **partial;           /* of each local member; owned, as all below */
    void **set_aside;         /* the same, from earlier boxes of its threads; NULL: from none */
    void *result;
    polytile_array **array; /* of each local member, over its partial */
} pti_group_sum;

/** Those of a superstep, zero at first. */
typedef struct pti_group_sums {
    int n_sums;
    bool are_made;
    pti_group_sum sum[PTI_MAX_OPERANDS];
} pti_group_sums;

/** Make those of a superstep's last launch, unless they are there. The arrays' former values are in
 * host memory, if they are not overwritten. Errors: NO_MEMORY. */
polytile_status pti_group_sums_begin(pti_group *group, const pti_prepared_superstep *prepared,
                                     const pti_recorded *recorded, pti_group_sums *sums);

/** Queue boxes of the launch's threads on a local member. Errors: NO_MEMORY, those of launches. */
polytile_status pti_group_sums_launch(pti_group *group, const pti_prepared_superstep *prepared,
                                      const pti_recorded *recorded, pti_group_sums *sums, int local,
                                      const pti_boxes *threads);

/** Wait until a member has reduced into an array, if it does. Errors: of its launches. */
polytile_status pti_group_sums_wait(pti_group *group, const pti_recorded *recorded,
                                    pti_group_sums *sums, int position, int local);

/** Combine the results in an array into every local member's host memory. All processes do so, and
 * have them; has_failed: this one only keeps others from waiting. Errors: those of the transport;
 * NO_MEMORY. */
polytile_status pti_group_sums_combine(pti_group *group, const pti_recorded *recorded,
                                       const pti_group_sums *sums, int position, bool has_failed);

/** Free them, whatever became of the launch. */
void pti_group_sums_end(const pti_group *group, pti_group_sums *sums);

#endif
