#ifndef POLYTILE_PARTITION_PROVE_RACE_H
#define POLYTILE_PARTITION_PROVE_RACE_H

#include "partition/prove/replay.h"

/**
 * Record what an operation uses of some memory, which must not race with what another uses.
 *
 * Shapes  box: around all that it uses there, perhaps more; writes: some of that. Where that meets
 *         what another operation used, which is not certainly done, both are looked at exactly.
 */
bool pti_race_use(pti_replay *replay, int64_t op, pti_memory memory, const polytile_domain *box,
                  bool writes);

#endif
