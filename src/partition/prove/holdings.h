#ifndef POLYTILE_PARTITION_PROVE_HOLDINGS_H
#define POLYTILE_PARTITION_PROVE_HOLDINGS_H

#include "partition/prove/replay.h"

/* What lies on the device before a schedule and after it, and what nobody wrote.
 *
 * An element may be valid in several holdings, all then with the same, newest version; if one of
 * them says that it is dirty it is newer than the host's in all. So it is enough that one of the
 * holdings after the schedule keeps what the host lacks. */

/**
 * Put what is there before the first operation into a replay.
 *
 * Proves that each placement is held once and in memory of its own, that the boxes lie in it, that
 * what is dirty is valid, and that what nobody wrote is nowhere.
 */
bool pti_holdings_begin(pti_replay *replay);

/**
 * Compare what is said to be there after the last operation with what is.
 *
 * Proves that each placement is held once and still there, and that what is said to be valid or
 * dirty is; and that everything newer than the host's is dirty in one that is held. In place: that
 * all that was filled was written.
 */
bool pti_holdings_end(pti_replay *replay);

#endif
