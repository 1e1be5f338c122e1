#ifndef POLYTILE_PARTITION_WINDOW_PLAN_CHAIN_H
#define POLYTILE_PARTITION_WINDOW_PLAN_CHAIN_H

#include "partition/cost/predict.h"
#include "partition/window/engine.h"
#include "partition/window/launches.h"

/* A plan of several launches: what a queue does that holds them all, window after window. What
 * comes again from where it came before is planned once, and counted. */

/** A fusion group, and what is said of it. */
typedef struct pti_plan_fusion_group {
    int first;           /* step, where it came first; steps of launches are numbered as these */
    int end;             /* of its window */
    int window;          /* its number */
    int64_t n_unwritten; /* elements, as it was looked for */
    int64_t n_times;
    pti_fusion_group group; /* owned, as is the text */
    pti_text reason;        /* as a queue's log has it; empty: nothing is to be said */
} pti_plan_fusion_group;

/** Launches that have one schedule: those of a chain, or some that run one after the other. */
typedef struct pti_subplan {
    int first;      /* launch, where it came first */
    int n_launches; /* 0: what is on the device goes to the host */
    int group;      /* whose launches are interleaved; -1: they are not */
    int64_t n_unwritten;
    int64_t n_times;
    pti_schedule *schedule;     /* owned */
    const pti_schedule *source; /* the residency's that it is a copy of; only to be compared */
    int64_t *run_order;         /* of the schedule's superblocks; owned */
    pti_traffic traffic;
    double seconds; /* predicted */
    pti_text tiles; /* which launches run as one on a GPU, or why none; owned */
} pti_subplan;

/** What only plans of several launches have. */
typedef struct pti_plan_chain {
    pti_launches launches;    /* owned, as all below */
    pti_residency *residency; /* NULL in place */
    int n_steps;
    pti_step *step;   /* all launches, and after them the end of each array's stay; NULL in place */
    pti_asked *asked; /* of each launch; NULL in place */
    int n_windows;
    const pti_step **later_use; /* of each array, window after window: the first step after it that
                                uses the array; NULL: there is none */
    int n_groups;
    pti_plan_fusion_group *group; /* those that differ, in order */
    int n_subplans;
    pti_subplan *subplan; /* those that differ, in order */
    int64_t n_runs;
    int *run;            /* the subplans, one after the other */
    int shown;           /* the subplan whose superblocks are shown: the plan's schedule */
    int64_t n_planned;   /* superblocks of all subplans, each once */
    int64_t n_single;    /* of these, those of launches that are not interleaved */
    pti_text apart;      /* why no launches are interleaved, where no group says it */
    int64_t alone_bytes; /* what the launches move at least, both ways, one by one */
} pti_plan_chain;

/** The subplan that is shown. */
const pti_subplan *pti_plan_shown(const pti_plan_chain *chain);

/** How the launches of a subplan are interleaved; NULL: they are not. */
const pti_fusion_group *pti_plan_interleaved(const pti_plan_chain *chain,
                                             const pti_subplan *subplan);

/* plan_subplans.c */

/**
 * Plan launches for a device of some memory, subplan by subplan.
 *
 * Errors  NO_FIT with the certificate, UNSUPPORTED (more superblocks than are planned), NO_MEMORY.
 */
polytile_status pti_plan_subplans(const pti_chain_request *request, pti_plan_chain *chain);

/** Add a subplan, which takes over a schedule, also after an error. Errors: NO_MEMORY, INTERNAL
 * (POLYTILE_CHECK=plan: the schedule is wrong). */
polytile_status pti_plan_add_subplan(const pti_chain_request *request, pti_plan_chain *chain,
                                     const pti_subplan *subplan);

/* plan_count.c */

/** Find whether a batch may be added, of launches that run one after the other, or of slabs. Before
 * the first one, those that follow at once are looked at too: nothing is planned in vain. Errors:
 * UNSUPPORTED (more superblocks than are planned). */
polytile_status pti_plan_check_single(const pti_chain_request *request, const pti_plan_chain *chain,
                                      const pti_batch *batch);
polytile_status pti_plan_check_slabs(const pti_chain_request *request, const pti_plan_chain *chain,
                                     const pti_batch *batch);

/* plan_tiles.c */

/**
 * Say which launches of a batch, planned or built, run as one in tiles on a GPU whose tiles are
 * pti_tile_room_default, or why none do; nothing of a single launch.
 *
 * Errors  NO_MEMORY, without a text.
 */
polytile_status pti_plan_describe_tiles(const pti_batch *batch, pti_schedule *schedule,
                                        pti_text *text);

/* plan_apart.c */

/** Cut each kind of launch into superblocks. Errors: NO_FIT with the certificate, NO_MEMORY. */
polytile_status pti_plan_cut_kinds(const pti_chain_request *request, pti_launches *launches);

/** The arrays, at the positions that they have among the launches; NULL when memory runs out. */
pti_residency *pti_plan_make_residency(const pti_launches *launches, int64_t limit_bytes);

/** All launches, and after them the end of each array's stay; NULL when memory runs out. */
pti_step *pti_plan_make_steps(const pti_launches *launches, int *n_steps);

/** Return whether steps have the same effect: launches of one kind, or the end of one array's
 * stay. */
bool pti_plan_is_same_step(const pti_step *one, const pti_step *other);

/** Say why launches could not be planned: planners of schedules leave no text. */
polytile_status pti_plan_explain(const pti_chain_request *request, const pti_launches *launches,
                                 polytile_status status);

/** Record that memory for the plan of a chain ran out. Returns NO_MEMORY. */
static inline polytile_status pti_plan_fail_memory(const pti_chain_request *request,
                                                   const pti_plan_chain *chain) {
    return pti_plan_explain(request, &chain->launches, POLYTILE_NO_MEMORY);
}

/** Make the schedule of launches on arrays in host memory, one after another; NULL when memory runs
 * out. The caller frees it. */
pti_schedule *pti_plan_in_place(const pti_launches *launches);

/** Return whether all arrays of launches fit a memory together. */
bool pti_launches_fit(const pti_launches *launches, int64_t limit_bytes);

#endif
