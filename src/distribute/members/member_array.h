#ifndef POLYTILE_DISTRIBUTE_MEMBERS_MEMBER_ARRAY_H
#define POLYTILE_DISTRIBUTE_MEMBERS_MEMBER_ARRAY_H

#include "distribute/members/prepared_superstep.h"

/* The arrays of local members, over a box each. */

/** A local member's array over a box at least: made, or made anew if it is too small. Errors:
 * NO_MEMORY, and those of what ran before. */
polytile_status pti_group_extend_array(pti_group *group, int position, int local,
                                       const polytile_domain *box);

/** Let every local member's arrays contain all that a superstep touches of them. Errors: NO_MEMORY,
 * and those of what ran before. recorded: of its first launch. */
polytile_status pti_group_extend_for_superstep(pti_group *group,
                                               const pti_prepared_superstep *prepared,
                                               const pti_recorded *recorded);

/** Let a local member have an array for each operand of a launch, even one that its threads do not
 * touch. Errors: as above. */
polytile_status pti_group_extend_for_launch(pti_group *group, const pti_recorded *recorded,
                                            int local);

/** The bytes that a local member's array has, or will have once it is used. */
int64_t pti_group_expect_bytes(const pti_group *group, int position, int local);

/** Have host memory for all elements of a local member's array. Errors: NO_MEMORY. */
polytile_status pti_group_find_memory(const pti_group *group, int position, int local);

#endif
