#ifndef POLYTILE_PARTITION_WINDOW_FUSION_IN_PLACE_H
#define POLYTILE_PARTITION_WINDOW_FUSION_IN_PLACE_H

#include "partition/window/fusion_group.h"

/* Fusion groups of which nothing moves: their slabs stay in caches. */

/**
 * Choose how a group's chain is cut in place, into slabs and perhaps columns; *is_chosen: it is to
 * be interleaved.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_fusion_choose_in_place(const pti_skew_request *wanted, pti_fusion_group *group,
                                           bool *is_chosen);

/** Build the schedule of what was chosen; NULL when memory runs out. The caller frees it. */
pti_schedule *pti_fusion_build_in_place(const pti_fusion_group *group);

#endif
