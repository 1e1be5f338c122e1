#ifndef POLYTILE_DISTRIBUTE_MEMBERS_WAIT_H
#define POLYTILE_DISTRIBUTE_MEMBERS_WAIT_H

#include "distribute/members/prepared_superstep.h"

/* Waiting for members' queues. */

/** Return whether local members write elements of an array in a superstep. */
bool pti_group_writes(const pti_group *group, const pti_prepared_superstep *prepared, int position);

/** Wait for every member, whatever fails; status: a failure before. Returns the first failure,
 * whose text is the last error. */
polytile_status pti_group_wait_members(const pti_group *group, polytile_status status);

/** Wait for every member, and until nobody still reads what is about to be written. */
polytile_status pti_group_wait_all(pti_group *group);

#endif
