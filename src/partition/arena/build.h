#ifndef POLYTILE_PARTITION_ARENA_BUILD_H
#define POLYTILE_PARTITION_ARENA_BUILD_H

#include "base/context.h"
#include "partition/cut/partition.h"
#include "partition/schedule/schedule.h"
#include <polytile/plan.h>

/**
 * Turn superblocks in run order into a schedule that moves each piece once, where it can stay, and
 * only what is missing, where it overlaps the piece before.
 *
 * link: where one upload is faster than several operations that move a little less, it is taken;
 * NULL: as few bytes as possible.
 *
 * Errors  NO_MEMORY; NO_FIT when the superblocks need more than limit_bytes, with *need_bytes
 *         saying how much (no text is recorded: the caller tries another partition);
 *         UNSUPPORTED (more than PTI_MAX_OPS or PTI_MAX_LOOKS).
 * Owns    The caller frees *schedule; it borrows the instance.
 */
polytile_status pti_schedule_build(const pti_instance *instance, const pti_partition *partition,
                                   const polytile_link *link, int64_t limit_bytes,
                                   int64_t *need_bytes, pti_schedule **schedule);

/** The schedule that runs the whole launch as one kernel on the host's own arrays. Errors:
 * NO_MEMORY. */
polytile_status pti_schedule_build_in_place(const pti_instance *instance, pti_schedule **schedule);

#endif
