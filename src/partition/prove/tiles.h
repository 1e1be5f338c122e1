#ifndef POLYTILE_PARTITION_PROVE_TILES_H
#define POLYTILE_PARTITION_PROVE_TILES_H

#include "partition/prove/replay.h"

/**
 * Check the launches of a schedule that may run as one.
 *
 * Proves:
 * - Their operations follow one another in one stream, and are all of their superblocks, or of a
 *   slab what slab_tiles.h says.
 * - Nothing comes between them: all wait for what is before the first, and others wait for the last
 *   alone.
 * - Each array has one place in all of them, apart from the others.
 * - A tile's border has all that its threads read, of each array.
 * - By pti_tiling_check(): tiles in any order store what the launches write of one array, one after
 *   the other.
 *
 * Shapes  schedule: its launches, superblocks, placements and operations are well formed.
 */
bool pti_check_tiles(const pti_schedule *schedule, pti_text *why);

/** After the last operation of launches that may run as one, nothing is known of what they wrote
 * but did not store. */
void pti_replay_tiles(pti_replay *replay, int64_t op);

#endif
