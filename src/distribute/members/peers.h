#ifndef POLYTILE_DISTRIBUTE_MEMBERS_PEERS_H
#define POLYTILE_DISTRIBUTE_MEMBERS_PEERS_H

#include "distribute/members/prepared_superstep.h"

/* Members whose devices are linked, and what these share. */

/** Link the members' devices that can be. Errors: NO_MEMORY. */
polytile_status pti_group_link(pti_group *group);
/** The members' devices are closed. */
void pti_group_unlink(pti_group *group);
/** Have linked devices share what several of them read in a superstep, whose launches are queued
 * and do not begin meanwhile. Errors: NO_MEMORY. */
polytile_status pti_group_share_spans(pti_group *group, const pti_prepared_superstep *prepared);

/** Return whether each member's device reaches the memory of all others. */
bool pti_group_are_all_linked(const pti_group *group);

/** Return whether that would share anything. */
bool pti_group_has_panels(const pti_group *group, const pti_prepared_superstep *prepared);

#endif
