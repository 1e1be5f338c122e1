#ifndef POLYTILE_GRAPH_SCHEDULE_STORAGE_H
#define POLYTILE_GRAPH_SCHEDULE_STORAGE_H

#include "graph/schedule/periodic.h"

/* Where buffers lie. Those of one colour share memory, one after the other within a period. */

/** What a buffer needs, and where it lies. */
typedef struct pti_stored {
    int memory;
    int64_t begin; /* of its life with frame 0 */
    int64_t ticks; /* of its life; at least a period: it never shares */
    int64_t n_bytes;
    int turn;             /* its frame of a round */
    int colour;           /* of its memory, from 0; out */
    int64_t offset_bytes; /* out */
} pti_stored;

/** Offsets are multiples of it, as allocators of GPUs have them. */
enum { PTI_STORED_ALIGNMENT_BYTES = 256 };

/** Say whether two buffers of one memory must not share. */
typedef bool pti_stored_conflict(const void *of, int a, int b);

/** Give colours and offsets to n buffers, and find the bytes of each memory. Returns false when
 * memory runs out. */
bool pti_stored_colour(int n, pti_stored *stored, pti_stored_conflict *conflict, const void *of,
                       int n_memories, int64_t *memory_bytes);

/** Lives that are lists of stored buffers of one period: conflict where they overlap, or where
 * those of one frame begin a period or more apart, or those of two turns not in the turns' order,
 * so that a frame would wait for a later one. */
typedef struct pti_lives {
    int64_t period;
    const pti_stored *stored;
} pti_lives;
pti_stored_conflict pti_lives_overlap; /* of pti_lives */

#endif
