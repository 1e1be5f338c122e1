#ifndef POLYTILE_PARTITION_CHECK_LAUNCH_H
#define POLYTILE_PARTITION_CHECK_LAUNCH_H

#include "partition/check_replay.h"

/** Enter a resident's memory and record an operation's use of a box there. */
bool pti_replay_use_resident(pti_replay *replay, int64_t op, int64_t resident,
                             const polytile_domain *box, bool writes);

/** Replay a launch: it finds the newest version of all that it reads, and makes a newer one of what
 * it writes. */
bool pti_replay_launch(pti_replay *replay, int64_t op);

#endif
