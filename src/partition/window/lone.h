#ifndef POLYTILE_PARTITION_WINDOW_LONE_H
#define POLYTILE_PARTITION_WINDOW_LONE_H

#include "partition/memory/residency.h"

/* Lone launches. A launch that accumulates in tiles, and goes through much more than the memory of
 * the device, fills this memory exactly as its partition divides it. Among images of a residency,
 * which come and go in all sizes, there would be no room for some of its pieces, and incomplete
 * tiles would be evicted. So it finds the device empty, and leaves nothing there. */

/** Return whether a launch that is cut so is a lone one, if its arrays are in host memory. */
bool pti_launch_is_lone(pti_call call, const pti_partition *partition);

/**
 * Build the schedule of a lone launch.
 *
 * arrays: by position, as in a residency's schedules; borrowed, as long as the schedule is used.
 * Errors  NO_MEMORY, UNSUPPORTED (more than a schedule can have), NO_FIT (memory_bytes is less than
 *         the launch was cut for). *schedule is NULL then.
 * Owns    The caller frees *schedule.
 */
polytile_status pti_lone_build(const pti_step *step, const pti_instance *arrays,
                               const polytile_link *link, int64_t memory_bytes,
                               pti_schedule **schedule);

#endif
