#ifndef POLYTILE_PARTITION_MEMORY_SHIFT_H
#define POLYTILE_PARTITION_MEMORY_SHIFT_H

#include "partition/memory/segments.h"

/**
 * How a schedule moves with the segments that it begins from.
 *
 * Its placements and the segments that it leaves move as those move in which they lie. As segments
 * do not overlap, what did not overlap does not either.
 */
typedef struct pti_shift {
    int n_before;
    int64_t
        *before; /* offset of each segment that it begins from, at present; owned, as all below */
    int n_after;
    int64_t *after;        /* offset of each segment that it leaves, at present */
    int *after_within;     /* of each of those: the segment before that it lies in */
    int *placement_within; /* of each placement */
    bool is_movable;       /* all of them lie in one each */
} pti_shift;

/** The segments of a moment with the places where they really lie. */
typedef struct pti_placed {
    const pti_segments *segments;
    const int64_t *place;
} pti_placed;

/** False when memory runs out; nothing is to be freed then. */
bool pti_shift_create(const pti_placed *before, const pti_placed *after,
                      const pti_schedule *schedule, pti_shift *shift);
void pti_shift_free(pti_shift *shift);

/** Whether the schedule is, or can be, for segments in these places. */
bool pti_shift_fits(const pti_shift *shift, const int64_t *place);

/** Move the schedule to these places, which fit; whether it was elsewhere. */
bool pti_shift_to(pti_shift *shift, const int64_t *place, pti_schedule *schedule);

/** Host memory that it takes, in bytes. */
int64_t pti_shift_bytes(const pti_shift *shift, const pti_schedule *schedule);

#endif
