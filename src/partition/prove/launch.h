#ifndef POLYTILE_PARTITION_PROVE_LAUNCH_H
#define POLYTILE_PARTITION_PROVE_LAUNCH_H

#include "partition/prove/replay.h"

/** Replay a launch: it finds the newest version of all that it reads, and makes a newer one of what
 * it writes. */
bool pti_replay_launch(pti_replay *replay, int64_t op);

#endif
