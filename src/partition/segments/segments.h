#ifndef POLYTILE_PARTITION_SEGMENTS_SEGMENTS_H
#define POLYTILE_PARTITION_SEGMENTS_SEGMENTS_H

#include "partition/schedule/builder.h"

/* partition/segments: the arena between launches, in neighbouring segments, each an image's or
 * free, with the last operations that used its memory. */

typedef struct pti_resident_image pti_resident_image;

/** A stretch of the arena that one image has, or that is free. */
typedef struct pti_arena_segment {
    int64_t offset_bytes;
    int64_t size_bytes;
    pti_resident_image *image; /* NULL: free */
    pti_last users;            /* of the current schedule, those of former images too */
} pti_arena_segment;

/** Segments in the order of their offsets, which leave no byte out. */
typedef struct pti_segments {
    pti_arena_segment *memory;
    int n_segments;
    int capacity;
} pti_segments;

/** How much is lost with the images of some memory. */
typedef struct pti_eviction_cost {
    bool never;       /* it must stay */
    int64_t next_use; /* the soonest; INT64_MAX: there is none */
    int64_t last_use; /* the latest; INT64_MIN: none */
    bool is_dirty;    /* some of it may go to the host first */
} pti_eviction_cost;

/** What images cost. To ask for all of an image's cost takes ten times as long as for when it was
 * used last. */
typedef struct pti_eviction_costs {
    const void *of; /* the caller's */
    pti_eviction_cost (*loss)(const void *of, pti_resident_image *image);
    int64_t (*last_use)(const pti_resident_image *image); /* as in its loss */
} pti_eviction_costs;

/** Neighbouring segments that are taken together. */
typedef struct pti_segment_run {
    int first;
    int n_segments; /* 0: none was found */
} pti_segment_run;

/** Make all of the arena one free segment. Errors: false when memory runs out. */
bool pti_segments_begin(pti_segments *segments, int64_t arena_bytes);
void pti_segments_free(pti_segments *segments);
/** Copy segments, whose images stay those of the others. False when memory runs out; there are none
 * then. */
bool pti_segments_copy(const pti_segments *from, pti_segments *to);

/** Join free neighbours. */
void pti_segments_join(pti_segments *segments);

/** Everything that used memory is finished: forget the users, and join free neighbours. */
void pti_segments_reset(pti_segments *segments);

/** The segment of an image, by the image's offset. */
pti_arena_segment *pti_segments_at(const pti_segments *segments, int64_t offset_bytes);

/**
 * The neighbours with room for size_bytes whose loss is least: used again latest, then clean, then
 * used longest ago, then fewest bytes.
 */
pti_segment_run pti_segments_find(const pti_segments *segments, int64_t size_bytes,
                                  const pti_eviction_costs *costs);

/** Split front_bytes off the front of a free segment, which stay free. Returns the rest; the whole
 * segment when memory runs out. */
pti_segment_run pti_segments_leave_front(pti_segments *segments, pti_segment_run neighbours,
                                         int64_t front_bytes);

/** Give the beginning of some neighbours, whose images are gone, to an image; the rest stays free.
 * Returns the segment; NULL when memory runs out. */
pti_arena_segment *pti_segments_take(pti_segments *segments, pti_segment_run neighbours,
                                     int64_t size_bytes, pti_resident_image *image);

#endif
