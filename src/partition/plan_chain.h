#ifndef POLYTILE_PARTITION_PLAN_CHAIN_H
#define POLYTILE_PARTITION_PLAN_CHAIN_H

#include "partition/chain.h"
#include "partition/launches.h"
#include "partition/residency.h"
#include "partition/skew.h"

/** The part of a plan that only plans of several launches have. */
typedef struct pti_plan_chain {
    pti_launches launches;    /* owned, as all below */
    pti_chain chain;          /* those of its beginning that may take turns */
    pti_skew_shape shape;     /* slab 0: not fused, and the other members say nothing */
    pti_text apart;           /* why each launch goes through the arrays by itself; empty: fused */
    pti_residency *residency; /* NULL: it has no part in the schedule, which it owns otherwise */
    int64_t *run_order;       /* of the schedule's superblocks */
    int64_t alone_bytes;      /* what the launches move at least, both ways, one by one */
} pti_plan_chain;

void pti_plan_chain_free(pti_plan_chain *of);

/**
 * Make the schedule of launches that do not take turns: what a queue does that holds them all.
 *
 * Errors  NO_FIT with the certificate, UNSUPPORTED, NO_MEMORY.
 * Owns    *schedule is of->residency's.
 */
polytile_status pti_plan_apart(const pti_chain_request *request, pti_plan_chain *of,
                               const pti_schedule **schedule);

/** Make the schedule of launches on arrays in host memory, one after another; NULL when memory runs
 * out. The caller frees it. */
pti_schedule *pti_plan_in_place(const pti_launches *launches);

/** Whether all arrays of launches fit a memory together. */
bool pti_launches_fit(const pti_launches *launches, int64_t limit_bytes);

#endif
