#ifndef POLYTILE_PARTITION_WINDOW_PLAN_CHAIN_H
#define POLYTILE_PARTITION_WINDOW_PLAN_CHAIN_H

#include "partition/cost/predict.h"
#include "partition/window/launches.h"
#include "partition/window/portion.h"

/* A plan of several launches: what a queue does that holds them all, window after window. What
 * comes again from where it came before is planned once, and counted. */

/** A portion of the launches, and what is said of it. */
typedef struct pti_plan_portion {
    int first;           /* step, where it came first; steps of launches are numbered as these */
    int end;             /* of its window */
    int window;          /* its number */
    int64_t n_unwritten; /* elements, as it was looked for */
    int64_t n_times;
    pti_portion portion; /* owned, as is the text */
    pti_text told;       /* as a queue's log has it; empty: nothing is to be said */
} pti_plan_portion;

/** Launches that have one schedule: those of a portion that take turns, or some that run one after
 * the other. */
typedef struct pti_plan_part {
    int first;      /* launch, where it came first */
    int n_launches; /* 0: what is on the device goes home */
    int portion;    /* whose launches take turns; -1: they do not */
    int64_t n_unwritten;
    int64_t n_times;
    pti_schedule *schedule;     /* owned */
    const pti_schedule *source; /* the residency's that it is a copy of; only to be compared */
    int64_t *run_order;         /* of the schedule's superblocks; owned */
    pti_traffic traffic;
    double seconds; /* predicted */
} pti_plan_part;

/** What only plans of several launches have. */
typedef struct pti_plan_chain {
    pti_launches launches;    /* owned, as all below */
    pti_residency *residency; /* NULL in place */
    int n_steps;
    pti_step *step; /* all launches, and behind them the end of each array's stay; NULL in place */
    pti_asked *asked; /* of each launch; NULL in place */
    int n_windows;
    const pti_step **behind; /* of each array, window after window: the first step behind it that
                                uses the array; NULL: there is none */
    int n_portions;
    pti_plan_portion *portion; /* those that differ, in order */
    int n_parts;
    pti_plan_part *part; /* those that differ, in order */
    int64_t n_runs;
    int *run;            /* the parts, one after the other */
    int shown;           /* the part whose superblocks are shown: the plan's schedule */
    int64_t n_planned;   /* superblocks of all parts, each once */
    int64_t n_single;    /* of these, those of launches that do not take turns */
    pti_text apart;      /* why no launches take turns, where no portion says it */
    int64_t alone_bytes; /* what the launches move at least, both ways, one by one */
} pti_plan_chain;

void pti_plan_chain_free(pti_plan_chain *of);

/** The part that is shown. */
const pti_plan_part *pti_plan_shown(const pti_plan_chain *of);

/** How the launches of a part take turns; NULL: they do not. */
const pti_portion *pti_plan_turns(const pti_plan_chain *of, const pti_plan_part *part);

/* plan_parts.c */

/**
 * Plan launches for a device of some memory, part by part.
 *
 * Errors  NO_FIT with the certificate, UNSUPPORTED (more superblocks than are planned), NO_MEMORY.
 */
polytile_status pti_plan_parts(const pti_chain_request *request, pti_plan_chain *of);

/** Add a part, which takes over a schedule, also after an error. Errors: NO_MEMORY, INTERNAL
 * (POLYTILE_CHECK=plan: the schedule is wrong). */
polytile_status pti_plan_add_part(const pti_chain_request *request, pti_plan_chain *of,
                                  const pti_plan_part *part);

/* plan_count.c */

/** The launches among the steps from first to end - 1, behind which arrays end their stay. */
int pti_plan_count_launches(const pti_plan_chain *of, int first, int end);

/** Whether steps that run one after the other, from first to end - 1, may be added, or launches that
 * take turns. Errors: UNSUPPORTED (more superblocks than are planned). */
polytile_status pti_plan_check_single(const pti_chain_request *request, const pti_plan_chain *of,
                                      int first, int end);
polytile_status pti_plan_check_slabs(const pti_chain_request *request, const pti_plan_chain *of,
                                     int first, const pti_portion *portion);

/* plan_apart.c */

/** Cut each kind of launch into superblocks. Errors: NO_FIT with the certificate, NO_MEMORY. */
polytile_status pti_plan_cut_kinds(const pti_chain_request *request, pti_launches *launches);

/** The arrays, at the positions that they have among the launches; NULL when memory runs out. */
pti_residency *pti_plan_make_residency(const pti_launches *launches, int64_t limit_bytes);

/** All launches, and behind them the end of each array's stay; NULL when memory runs out. */
pti_step *pti_plan_make_steps(const pti_launches *launches, int *n_steps);

/** Say why launches could not be planned: planners of schedules leave no text. */
polytile_status pti_plan_explain(const pti_chain_request *request, const pti_launches *launches,
                                 polytile_status status);

/** Make the schedule of launches on arrays in host memory, one after another; NULL when memory runs
 * out. The caller frees it. */
pti_schedule *pti_plan_in_place(const pti_launches *launches);

/** Whether all arrays of launches fit a memory together. */
bool pti_launches_fit(const pti_launches *launches, int64_t limit_bytes);

#endif
