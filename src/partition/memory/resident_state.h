#ifndef POLYTILE_PARTITION_MEMORY_RESIDENT_STATE_H
#define POLYTILE_PARTITION_MEMORY_RESIDENT_STATE_H

#include "partition/memory/plan_cache.h"
#include "partition/memory/residency.h"
#include "partition/segments/segments.h"

/* The state of device memory between schedules: images of arrays, and which of their elements are
 * valid and dirty; and with it the residency and the plans that it keeps, as types. What works on
 * them stands above, in this order: images and operations (resident_image.h); snapshots and plans
 * that are kept, and what a window will touch; where images are placed and what is brought into
 * them; the plan of a window; the residency. */

/** A box of an array with a place in the arena. Times count superblocks, over all schedules. */
struct pti_resident_image {
    pti_resident_image *next; /* of the same array, or spare */
    int array;
    int64_t offset_bytes;
    pti_memory_layout layout;
    int64_t placement;    /* in the current schedule */
    pti_boxes valid;      /* elements in their newest version */
    pti_boxes dirty;      /* valid, and newer than the host's; may be so in several images */
    pti_last writers;     /* of the elements, in the current schedule */
    pti_last before;      /* what used its memory before it was made, in the current schedule */
    int64_t reserved_for; /* time of the last superblock that it must wait for */
    int64_t last_use;     /* time of the last superblock that ran on it */
    bool is_current;      /* of the current superblock: must stay until that has run */
    int64_t next_piece;   /* the first of the current schedule not known to be apart; -1: none */
    int64_t next_use;     /* of its valid elements, if it lies ahead; -1: not known */
};

/** What is known of an array beside its images. */
typedef struct pti_resident_state {
    bool is_internal;
    polytile_domain exclusive; /* as in pti_resident_array */
    int64_t whole_bytes;       /* of an image of all of it; 0: no array has had this position */
    pti_resident_image *images;
    pti_boxes unwritten;   /* elements that are zero and nowhere */
    pti_boxes on_host;     /* internal: elements that were downloaded once */
    pti_boxes initialised; /* by the current launch, which reduces into them from an identity */
    pti_boxes downloaded;  /* in the current schedule */
    pti_last downloads;
    pti_boxes uploaded; /* the same, where launches are in lanes */
    pti_last uploads;
    int64_t first_piece;         /* in the current schedule, from the current superblock on */
    const pti_step *last_writer; /* of the current steps, if it is flushed after that; else NULL */
} pti_resident_state;

/** Whether a position has an array that launches use. Kept plans do not depend on that. */
typedef struct pti_resident_stay {
    bool is_idle;             /* no launch has used it yet */
    bool has_left;            /* its state waits for another of its shape */
    pti_resident_array shape; /* of the array that left; its name is NULL */
} pti_resident_stay;

/** All that lies on a device between schedules. */
struct pti_residency {
    int64_t arena_bytes;
    pti_segments segments;
    pti_instance instance; /* of no kernel: its operands are the arrays */
    char *window_name;     /* its kernel_name, made anew by each plan */
    int capacity;
    pti_resident_state *state; /* of each array */
    pti_resident_stay *stay;   /* the same */
    pti_resident_image *spare;
    int64_t largest_bytes; /* of a piece in the current schedule */
    int64_t time;          /* of the first superblock of the next schedule */
    /* Sets for one piece at a time, which keep their memory. resident_bring.c uses them while it
     * brings a piece; once a superblock has all its pieces, resident_plan.c does, and between
     * superblocks what fetches. */
    pti_boxes needed; /* what the current piece still lacks; what a launch writes */
    pti_boxes shared; /* the part of that, or of what is reduced into, that an operation brings */
    pti_boxes rest;   /* of one function, while it calls none that uses it */
    pti_plans plans;  /* made before; while they are shared, what lies above is not changed */
};

/** Nothing of a schedule still runs when the next one begins: its last superblocks, which are so
 * much older, are not busy. */
enum { PTI_RESIDENT_PAUSE = 2 * PTI_RESIDENT_AHEAD };

/** The bytes that an image of a box takes in the arena; INT64_MAX if it exceeds 64 bits. */
int64_t pti_resident_bytes(const polytile_domain *hull, int64_t element_bytes);

/** A spare image, or a new one; NULL when memory runs out. */
pti_resident_image *pti_image_new(pti_residency *residency);
/** Give an image back that is no array's any more, nor in the arena. */
void pti_image_spare(pti_residency *residency, pti_resident_image *image);

#endif
