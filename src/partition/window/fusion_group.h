#ifndef POLYTILE_PARTITION_WINDOW_FUSION_GROUP_H
#define POLYTILE_PARTITION_WINDOW_FUSION_GROUP_H

#include "partition/memory/residency.h"
#include "partition/skew/skew.h"
#include "partition/window/not_fused.h"

/* The steps of a window are cut into consecutive fusion groups: launches that are interleaved slab
 * by slab, and launches that run one after the other. engine.h walks over them. */

/** The most steps that are looked at together; and the most superblocks that are planned together,
 * one launch after the other. */
enum { PTI_WINDOW_STEPS = 1024, PTI_PLAN_SUPERBLOCKS = 4096 };

/** What is asked for with a launch, and known of it. All is borrowed. */
typedef struct pti_asked {
    const polytile_plan_options *options;
    pti_call whole;       /* as it was declared: its step may have arrays in pieces */
    double touched_bytes; /* that it goes through, twice where it reads and writes */
    bool may_overlap; /* its sub-kernels may run side by side, also with those of other launches */
    pti_tile_kernel tiles;        /* in which what it runs can run several launches as one */
    bool takes_columns;           /* in place any box of it may run on any thread of the host */
    const pti_schedule *in_place; /* of it alone, on the arrays themselves; NULL with a residency */
} pti_asked;

/** Steps that are looked at together, and what they go on from. All is borrowed. */
typedef struct pti_step_window {
    int n_steps;
    const pti_step *step;
    const pti_asked *asked;           /* of each step that is a launch */
    const pti_step *const *later_use; /* of each array the first step after the window that uses it;
                                      NULL, or one of them: none is known */
    const pti_instance *arrays;       /* by position */
    pti_residency *residency;         /* NULL: launches run on the arrays themselves */
    int64_t memory_bytes;             /* of the device; without a residency that of the caches */
    const polytile_link *link;        /* of the device; NULL where that is not known */
    pti_tile_room tile_room;          /* of the device */
    int64_t core_bytes;       /* without a residency, of the caches of one core; 0: unknown */
    int64_t n_workers;        /* that run launches then */
    pti_not_fused *not_fused; /* of windows before; NULL: nothing is kept */
    int n_launches;           /* that texts count; 0: those of the steps */
    bool may_repeat;          /* schedules of chains that stream may have a period */
    int64_t turn_slabs;       /* the fewest slabs of one of its turns; 0 is as 1 */
} pti_step_window;

/** The bytes that a launch goes through. */
double pti_asked_touched_bytes(const pti_instance *instance);

/** Launches that are interleaved, or why the next ones are not. */
typedef struct pti_fusion_group {
    int n_launches;   /* that are interleaved; 0: the next ones run one after the other */
    int n_single;     /* then: how many of them it would be useless to try again */
    bool is_resident; /* their arrays lie whole on the device */
    pti_chain chain;  /* owned, as all below */
    pti_chain across; /* the same launches along another index, where columns were looked for */
    pti_skew_shape shape;
    pti_text columns; /* into which slabs in place are cut, or why into none */
    pti_text end;     /* which launch ends the chain, and why; empty: the window does */
    pti_text apart;   /* why launches that might be interleaved are not; empty: they are, or are not
                       looked at */
    pti_cut_launch *launch;
    bool *dropped;
    pti_boxes *unwritten;
    int n_arrays;
} pti_fusion_group;

/**
 * Find the fusion group that begins with a step. Nothing but the steps before it has run. A
 * group that an earlier window had and did not fuse is not described again.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *group with pti_fusion_group_free(), also after an error.
 */
polytile_status pti_fusion_group_find(const pti_step_window *window, int first,
                                      pti_fusion_group *group);

/** Choose how a copy of a group's chain, which may have tiles, is cut, as that of a device with
 * tiles is; the group begins with a step. It is not chosen where no shape fits. The copy loses
 * tiles that do not pay. Errors: NO_MEMORY. */
polytile_status pti_fusion_group_choose_tiled(const pti_step_window *window, int first,
                                              const pti_fusion_group *group, pti_chain *chain,
                                              pti_skew_shape *shape, bool *is_chosen);

/** Build the schedule of launches that are interleaved, now that all before them has run;
 * is_resident is false. NULL when memory runs out. The caller frees it. */
pti_schedule *pti_fusion_group_build(const pti_step_window *window, pti_fusion_group *group);

/** Return how many superblocks that schedule would list, about: those of a period once. */
int64_t pti_fusion_group_n_listed(const pti_step_window *window, pti_fusion_group *group);

/**
 * The same as pti_fusion_group_build() where their arrays lie whole on the device, out of a
 * schedule that runs them one after the other; NULL where that moves something between them, or
 * when memory runs out. The caller frees it.
 */
pti_schedule *pti_fusion_group_build_resident(const pti_fusion_group *group,
                                              const pti_schedule *apart);

/** What became of the launches of a group, and why, in one sentence; nothing is added where all
 * launches of the window are interleaved, or nothing is to be said. */
void pti_fusion_group_describe(const pti_step_window *window, int first,
                               const pti_fusion_group *group, pti_text *text);

void pti_fusion_group_free(pti_fusion_group *group);

#endif
