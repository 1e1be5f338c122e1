#ifndef POLYTILE_GRAPH_PROVE_PROVE_H
#define POLYTILE_GRAPH_PROVE_PROVE_H

#include "graph/schedule/order.h"

/* graph/prove: that what the tasks of a stream wait for suffices. It knows nothing of how waits,
 * places or schedules are found, and looks at no clock: whatever the order in which tasks run that
 * keep to their waits, each frame is read after its making and before its place is taken, for all
 * frames. */

/** Where the frames of a buffer lie: frame f at offset + (f mod capacity) * frame_bytes. */
typedef struct pti_frame_place {
    int memory;
    int64_t offset_bytes;
    int64_t frame_bytes;
    int64_t capacity;
    bool is_restored; /* where its producer fails, it copies the frame before */
} pti_frame_place;

/** What is to be proved; nothing of it is believed. */
typedef struct pti_stream_claim {
    const pti_stream_tasks *tasks;
    const pti_firing_order *order; /* its waits */
    const pti_frame_place *place;  /* one a buffer */
    int n_memories;
    const int64_t *memory_bytes;
} pti_stream_claim;

/** What may be wrong of a claim. */
typedef enum pti_stream_fault_kind {
    PTI_STREAM_RIGHT,
    PTI_STREAM_OUTSIDE,  /* a place does not lie in its memory */
    PTI_STREAM_LATER,    /* a frame waits for a later one */
    PTI_STREAM_CIRCLE,   /* a task waits for itself */
    PTI_STREAM_EARLY,    /* a frame may be read before it is made */
    PTI_STREAM_OVERWRITE /* a frame may be written over while it is used */
} pti_stream_fault_kind;

/** A frame of a buffer, who makes it, and who uses it last. */
typedef struct pti_used_frame {
    int buffer;
    int64_t frame; /* below 0: zeros, which nobody makes */
    int64_t position;
    int user;
    int64_t user_frame; /* the user's */
} pti_used_frame;

/** A counterexample: nothing orders the user of one frame and the producer of the other. */
typedef struct pti_stream_fault {
    pti_stream_fault_kind kind;
    int task;            /* of LATER and CIRCLE */
    pti_used_frame used; /* else */
    pti_used_frame other;
} pti_stream_fault;

/**
 * Prove a claim; fault->kind is PTI_STREAM_RIGHT, or says what is wrong. Returns false when memory
 * runs out.
 *
 * Waits are the same for every frame. So frame f of a task begins after the end of frame f - d of
 * another one exactly where a chain of waits leads from the one to the other whose tokens add up to
 * d at most. The least d of each pair of tasks is found once, and with it each rule is a comparison
 * of numbers that holds for all frames or fails for one that is named. A task runs its frames in
 * order.
 *
 * Trusted: that a task touches what its buffers say, that all places are zero at first, and that
 * the program feeds when it may, and takes a frame after all tasks of it.
 */
bool pti_stream_prove(const pti_stream_claim *claim, pti_stream_fault *fault);

/* distance.c */

/** After which frames tasks begin. */
typedef struct pti_distances {
    int n_tasks;
    int32_t *least; /* of each pair, [task * n_tasks + on]; owned */
} pti_distances;
enum { PTI_NEVER_AFTER = INT32_MAX };

/** Find them all. Returns false when memory runs out. */
bool pti_distances_find(const pti_firing_order *order, pti_distances *distances);
void pti_distances_free(pti_distances *distances);

/** Return the least d with frame f of a task after the end of frame f - d of another one, or of
 * itself; PTI_NEVER_AFTER: there is none. */
int64_t pti_distance(const pti_distances *distances, int task, int on);

#endif
