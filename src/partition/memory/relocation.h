#ifndef POLYTILE_PARTITION_MEMORY_RELOCATION_H
#define POLYTILE_PARTITION_MEMORY_RELOCATION_H

#include "partition/segments/segments.h"

/**
 * How a schedule moves with the segments that it begins from.
 *
 * Its placements and the segments that it leaves move as those move in which they lie. As segments
 * do not overlap, what did not overlap does not either.
 */
typedef struct pti_relocation {
    int n_before;
    int64_t
        *before; /* offset of each segment that it begins from, at present; owned, as all below */
    int n_after;
    int64_t *after;        /* offset of each segment that it leaves, at present */
    int *after_within;     /* of each of those: the segment before that it lies in */
    int *placement_within; /* of each placement */
    bool is_movable;       /* all of them lie in one each */
} pti_relocation;

/** The segments of a snapshot with the places where they really lie. */
typedef struct pti_placed {
    const pti_segments *segments;
    const int64_t *place;
} pti_placed;

/** False when memory runs out; nothing is to be freed then. */
bool pti_relocation_create(const pti_placed *before, const pti_placed *after,
                           const pti_schedule *schedule, pti_relocation *relocation);
void pti_relocation_free(pti_relocation *relocation);

/** Return whether the schedule is, or can be, for segments in these places. */
bool pti_relocation_fits(const pti_relocation *relocation, const int64_t *place);

/** Move the schedule to these places, which fit; whether it was elsewhere. */
bool pti_relocation_apply(pti_relocation *relocation, const int64_t *place, pti_schedule *schedule);

/** Host memory that it takes, in bytes. */
int64_t pti_relocation_bytes(const pti_relocation *relocation, const pti_schedule *schedule);

#endif
