#ifndef POLYTILE_PARTITION_WINDOW_LAUNCHES_H
#define POLYTILE_PARTITION_WINDOW_LAUNCHES_H

#include "access/lag.h"
#include "access/pieces/ways.h"
#include "base/context.h"
#include "partition/cut/partition.h"
#include <polytile/plan.h>

/* Launches that are planned together, filled in, over arrays that they share. */

/** Launches of one kernel over the same domain and arrays, all alike. */
typedef struct pti_launch_kind {
    pti_instance *instance;  /* as declared; owned, as all below */
    int *array;              /* of each operand: which array it is */
    pti_ways ways;           /* to hold its arrays */
    pti_partition partition; /* how it is cut where it is planned by itself; else empty */
    int way;                 /* that the partition is for */
} pti_launch_kind;

/** Launches by kinds, over the arrays of all of them. */
typedef struct pti_launches {
    /* The arrays, as the operands of an instance of no kernel, without sections. Its name, indices
     * and threads are those of the launch with the most threads. Owned, as all below. */
    pti_instance *arrays;
    bool *is_scratch; /* of each array: nobody wrote it before, nor wants it afterwards */
    polytile_array **index_array; /* of each: the program's, if launches look it up; else NULL */
    int n_launches;
    int *kind;           /* of each launch */
    pti_cut_launch *cut; /* the same with what it points to */
    int n_kinds;
    pti_launch_kind *of_kind;
    int main_kind; /* that has the most threads; of several, the first */
} pti_launches;

/** What is planned, as polytile_plan_create_chain() was called. */
typedef struct pti_chain_request {
    polytile_context *ctx;
    int n_launches;
    const polytile_chain_launch *launch;
    int n_scratch;
    polytile_array *const *scratch;
    const polytile_plan_options *options;
} pti_chain_request;

/** Complete a request by the context of the first launch that has a kernel, whose error is cleared,
 * and by options where there are none. Errors: INVALID, which names the caller: no launch has
 * one. */
polytile_status pti_chain_request_complete(const char *caller, pti_chain_request *request);

/**
 * Fill in launches, each kind once, and prove that each of them is sound.
 *
 * Errors  As polytile_plan_create_chain(), without NO_FIT.
 * Owns    The caller frees what is in *launches with pti_launches_free(), also after an error.
 */
polytile_status pti_launches_bind(const pti_chain_request *request, pti_launches *launches);

void pti_launches_free(pti_launches *launches);

#endif
