#ifndef POLYTILE_PARTITION_PROVE_TILE_PARTS_H
#define POLYTILE_PARTITION_PROVE_TILE_PARTS_H

#include "base/text.h"
#include "partition/schedule/schedule.h"

/** Return whether a part of launches that may run as one stores an array: the last part where it
 * is, the one before aside. */
bool pti_tile_part_stores(const pti_tiles *tiles, int part, int array);

/**
 * Check launches that run in two parts, the first of which stores aside what the second one loads.
 *
 * Proves:
 * - All launches have the same arrays, and each part writes what it stores.
 * - What the first launch of the second part reads, and any launch writes, is aside. Tiles load
 *   nothing else that launches write, since each of them writes one element a thread, and what the
 *   second part reads of these the last launch of the first one has written: launches have threads
 *   at most a step around those of the next one, and read no further.
 * - The memory aside is apart from all places of the schedule, and within its arena.
 *
 * Each part stores what pti_tiling_check() has proved, apart from what it loads: the first one
 * aside, the second one where only what nobody writes is loaded.
 *
 * Shapes  tiles: as pti_check_tiles() proves otherwise, their threads and borders above all.
 */
bool pti_check_tile_parts(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why);

#endif
