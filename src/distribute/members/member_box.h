#ifndef POLYTILE_DISTRIBUTE_MEMBERS_MEMBER_BOX_H
#define POLYTILE_DISTRIBUTE_MEMBERS_MEMBER_BOX_H

#include "queue/member.h"

/* One box of a member's array, in host memory. */

/** Bring a box there in its newest version, and wait for it. Errors: NO_MEMORY, and those of what
 * ran before. */
polytile_status pti_member_fetch(polytile_queue *queue, polytile_array *array,
                                 const polytile_domain *box);

/** Queue that the box is newer there. Errors: NO_MEMORY. */
polytile_status pti_member_invalidate(polytile_queue *queue, polytile_array *array,
                                      const polytile_domain *box);

/** Return whether the elements of two arrays over the same indices are the same memory. */
bool pti_member_lies_with(const polytile_array *one, const polytile_array *other);

/** Copy a box, which is inside both arrays. */
void pti_member_copy(const polytile_array *from, const polytile_array *to,
                     const polytile_domain *box);

#endif
