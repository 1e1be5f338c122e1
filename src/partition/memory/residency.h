#ifndef POLYTILE_PARTITION_MEMORY_RESIDENCY_H
#define POLYTILE_PARTITION_MEMORY_RESIDENCY_H

#include "access/set/boxes.h"
#include "base/context.h"
#include "partition/memory/step.h"
#include <polytile/plan.h>

/* partition/memory: what lies where in the memory of a device between launches. This header and
 * resident_*.h keep it, and plan the steps of a window (step.h) from it. partition/arena has the
 * launches that are laid out by themselves. */

/** An array that may be resident. */
typedef struct pti_resident_array {
    char *name; /* borrowed, until it is removed */
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    bool is_internal;          /* the host does not hold it yet: every element is zero */
    bool is_idle;              /* no launch uses it until pti_residency_use() */
    polytile_domain exclusive; /* outside, others may write while schedules run, and nothing is
                                  uploaded but what is read; without dimensions: all of it */
} pti_resident_array;

/** What lies on a device between launches.
 *
 * Pieces of arrays lie in images: boxes of one array with a layout and a place in the arena. A
 * superblock runs on images that contain what it touches; where there is none, one is made, of the
 * whole array if all arrays fit together, and filled from other images and from the host. Memory
 * for it comes from the run of neighbours in the arena whose next use lies farthest ahead; what is
 * newer in them than on the host is downloaded first, unless later steps overwrite or drop it
 * before they read it. */
typedef struct pti_residency pti_residency;

/** Bytes of host memory for plans that are kept, unless pti_residency_limit_plans() says
 * otherwise. */
enum { PTI_RESIDENT_PLANS_BYTES = 64 << 20 };

/** NULL when memory runs out. The caller frees it. arena_bytes: of the device, for all images. */
pti_residency *pti_residency_create(int64_t arena_bytes);
void pti_residency_free(pti_residency *residency);

/** Keep plans in at most most_bytes of host memory; 0: keep none. */
void pti_residency_limit_plans(pti_residency *residency, int64_t most_bytes);

/** How often a plan that was kept was handed out again. */
int64_t pti_residency_n_hits(const pti_residency *residency);

/** Let the arena grow or shrink, when nothing is resident. */
void pti_residency_resize(pti_residency *residency, int64_t arena_bytes);

/** Add an array; its position is the lowest that is free, -1 when memory runs out. */
int pti_residency_add(pti_residency *residency, const pti_resident_array *array);

/** Remove an array of which nothing is resident. Plans are kept, unless it was internal: the next
 * array at its position may be like it, as a result is that was detached and is attached again. */
void pti_residency_remove(pti_residency *residency, int array);

/** Let an array that was idle be one that launches use from here on. */
void pti_residency_use(pti_residency *residency, int array);

/** Return whether every array that launches use fits the arena whole, beside the others: launches
 * then need no more than one superblock. */
bool pti_residency_all_fit(const pti_residency *residency);

/** Return whether all arrays, idle ones too, find room whole beside what is resident, in whatever
 * order launches use them: then nothing makes room for anything, as long as no array comes. */
bool pti_residency_has_room(const pti_residency *residency);

/** Return whether anything of the array on the device is newer than the host's. */
bool pti_residency_is_dirty(const pti_residency *residency, int array);

/** Return whether one image has room for the whole array: launches make no other one of it. */
bool pti_residency_holds_whole(const pti_residency *residency, int array);

/** What an image has that is newer than the host's. */
typedef void pti_dirty_visit(void *of, const pti_memory_layout *layout, int64_t offset_bytes,
                             const pti_boxes *dirty);

/** Visit the images of an array that have something newer than the host. */
void pti_residency_visit_dirty(const pti_residency *residency, int array, pti_dirty_visit *visit,
                               void *of);

/** The arrays by position: an instance of no kernel, the residency's, as it is now. */
const pti_instance *pti_residency_arrays(const pti_residency *residency);

/** Elements of an internal array that nobody wrote; the residency's, as they are now. */
const pti_boxes *pti_residency_unwritten(const pti_residency *residency, int array);

/** A schedule that is not the residency's wrote elements of an array and brought them to the host,
 * while nothing of it was resident. */
void pti_residency_note_written(pti_residency *residency, int array, const pti_boxes *boxes);

/** The host has got elements of an array after all, though a run failed. */
void pti_residency_keep(pti_residency *residency, int array, const pti_boxes *boxes);

/** As a step does: the host has newer elements than the device. */
void pti_residency_invalidate(pti_residency *residency, int array, const pti_boxes *boxes);

/** Forget everything, after a run that failed: what the host holds is what there is. */
void pti_residency_forget(pti_residency *residency);

/**
 * Plan steps in order, going on from what is resident, which becomes what is resident after them.
 *
 * Superblocks of a launch may run in either direction: the one that finds more of its data at its
 * beginning. Each needs, with nothing else resident and every piece padded to
 * PTI_RESIDENT_ALIGNMENT, no more than the arena.
 *
 * The same steps from where they were planned before give the same schedule, without planning, or
 * the same but for its places in the arena, if only those of what is resident differ. A plan is
 * kept, as long as there is room, until an array comes that is not like one that left its position,
 * the arena changes or all is forgotten.
 *
 * link: where one upload around several pieces is faster it is taken; NULL: as few bytes as
 * possible.
 *
 * Errors  NO_MEMORY (host memory; *schedule is NULL and the residency as after
 *         pti_residency_forget()), UNSUPPORTED (the same, for more than PTI_MAX_OPS or
 *         PTI_MAX_LOOKS), NO_FIT (a superblock that needs more than the arena: a mistake of the
 *         caller).
 * Owns    *schedule is the residency's until the next call that may change it; as is its instance,
 *         with all arrays by position. Only its tiles may be added by others: they stay with a plan
 *         that is kept.
 */
polytile_status pti_residency_plan(pti_residency *residency, int n_steps, const pti_step *steps,
                                   const polytile_link *link, pti_schedule **schedule);

/** How many superblocks ahead of the one that runs have memory. */
enum { PTI_RESIDENT_AHEAD = 2 };

/** Images begin at multiples of this. */
enum { PTI_RESIDENT_ALIGNMENT = 256 };

/** Return the device memory that an image of this size takes; INT64_MAX if that is too much to
 * count. */
static inline int64_t pti_resident_padded(int64_t bytes) {
    return bytes > INT64_MAX - PTI_RESIDENT_ALIGNMENT
               ? INT64_MAX
               : (bytes + PTI_RESIDENT_ALIGNMENT - 1) / PTI_RESIDENT_ALIGNMENT *
                     PTI_RESIDENT_ALIGNMENT;
}

#endif
