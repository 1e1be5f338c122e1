#ifndef POLYTILE_PARTITION_PROVE_SLAB_TILES_H
#define POLYTILE_PARTITION_PROVE_SLAB_TILES_H

#include "base/text.h"
#include "partition/schedule/schedule.h"

/** Return whether a schedule has launches that may run as one in each slab. */
bool pti_has_slab_tiles(const pti_schedule *schedule);

/** Check operations of one slab that may run as one: each is of another one of the launches, in
 * their order and in one stream, and what is stored are the threads of the last one. */
bool pti_check_slab_ops(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why);

/**
 * Check what tiles of slabs are together.
 *
 * Proves:
 * - Launches which run as one in some slab do so in all, with the same others.
 * - They touch two arrays. The last launch only reads one of them, and only writes the other. Or
 *   all of them have the same arrays and threads, and each writes one array; then memory aside is
 *   laid out as the arrays that are stored.
 * - What is loaded from aside was stored there, and no launch has written it since.
 * - What is not stored is read by no later launch before it is written again, and is at the end in
 *   arrays that are dropped.
 *
 * That nothing else goes wrong is proved by the program that they make (slab_program.h).
 *
 * Shapes  schedule: its launches, superblocks, placements and operations are well formed, and
 *         operations of each tiles' slab.
 */
bool pti_check_slab_tiles(const pti_schedule *schedule, pti_text *why);

#endif
