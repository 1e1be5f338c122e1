#ifndef POLYTILE_DISTRIBUTE_MEMBERS_GATES_H
#define POLYTILE_DISTRIBUTE_MEMBERS_GATES_H

#include "distribute/members/prepared_superstep.h"

/* Supersteps that are handed out while the one before them runs. */

/** Return whether a superstep can be handed out while the one before it runs: whatever is done
 * between the two is done by members' queues. */
bool pti_group_may_run_ahead(const pti_group *group, const pti_prepared_superstep *prepared);
/** Have members run what they get from here on when all of them have done what they got before. */
void pti_group_set_gates(pti_group *group);
/** Open gates, one after the other, when all members have come to them: those with something behind
 * them; or all. After a failure, which is noted, nothing behind them runs. */
void pti_group_open_used_gates(pti_group *group);
void pti_group_open_gates(pti_group *group);

#endif
