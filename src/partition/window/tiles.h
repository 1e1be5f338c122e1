#ifndef POLYTILE_PARTITION_WINDOW_TILES_H
#define POLYTILE_PARTITION_WINDOW_TILES_H

#include "base/context.h"
#include "base/text.h"
#include "partition/skew/skew.h"

/*
 * Launches of a schedule that alternate between two arrays, as those of a Jacobi method do, and
 * that the device may run as one, in tiles of its fast memory (schedule/tiling.h).
 *
 * An odd number of launches stores one array and loads the other one, so that no tile stores what
 * another one loads. What was to be in the other array then is lost. So the last launch of a
 * sequence runs by itself: it finds what the launches before it wrote, and both arrays end as they
 * should.
 */

/** In which tiles a launch of a schedule may run, by what it runs; filter: the caller's. */
typedef pti_tile_kernel pti_tile_filter(const void *filter, int launch);

/**
 * List the launches of a schedule that are to run as one.
 *
 * `why` gets what they are, or why there are none where launches alternate; nothing if there are
 * no such.
 *
 * Errors  NO_MEMORY, without a text.
 */
polytile_status pti_tiles_find(const pti_tile_room *room, pti_tile_filter *kernel_of,
                               const void *filter, pti_schedule *schedule, pti_text *why);

#endif
