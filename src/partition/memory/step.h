#ifndef POLYTILE_PARTITION_MEMORY_STEP_H
#define POLYTILE_PARTITION_MEMORY_STEP_H

#include "access/set/boxes.h"
#include "partition/cut/partition.h"
#include "partition/schedule/schedule.h"

/* Steps: what schedules are made for, in order. */

/** What a step is. */
typedef enum pti_step_kind {
    PTI_STEP_LAUNCH,
    PTI_STEP_FLUSH, /* download what is newer on the device than on the host */
    PTI_STEP_DROP,  /* forget what the device holds of an array, unwritten; no later step uses it */
    PTI_STEP_FETCH, /* download what is newer of some elements, which stay on the device */
    PTI_STEP_INVALIDATE, /* the host has newer elements, which are old on the device; all others
                            stay */
    PTI_STEP_BRING       /* upload what the device lacks of some elements */
} pti_step_kind;

/** What a schedule is made for: a launch in superblocks, the end of an array's stay, or what
 * becomes of some of its elements. */
typedef struct pti_step {
    pti_step_kind kind;
    pti_call call;                  /* launch: borrowed as long as the schedule is used */
    const pti_partition *partition; /* launch: n_buffers is ignored; borrowed */
    int position;   /* no launch: which array; flushed or dropped, it is gone from the device */
    bool is_lone;   /* launch: it has the device's memory to itself, as its partition divides it */
    int64_t serial; /* launch: of call, partition and is_lone together, never given twice; 0: none,
                       so that plans with it are not kept */
    const pti_boxes
        *boxes; /* fetch, invalidate, bring: elements of the array; borrowed while it is planned */
} pti_step;

/** Return whether a step uses an array. */
bool pti_step_uses(const pti_step *step, int array);

/** Return whether a step, the first one to use an array, overwrites all elements of a box unread,
 * or drops them. */
bool pti_step_buries(const pti_step *step, int array, const polytile_domain *box);

#endif
