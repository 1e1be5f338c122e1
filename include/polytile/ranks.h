#ifndef POLYTILE_RANKS_H
#define POLYTILE_RANKS_H

#include <polytile/plan.h>
#include <polytile/share.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plans of launches over several ranks, or several devices, or both, to look at before they run:
 * the work of each, the exchanges, and the transfers to and from devices. Needs no MPI, and opens
 * no device. */

/** What to plan; zero or NULL in a member means its default. */
typedef struct polytile_ranks_request {
    int n_launches;                        /* at least 1 */
    const polytile_chain_launch *launches; /* in run order, over whole arrays */
    int n_scratch;
    polytile_array *const *scratch;       /* as in polytile_plan_create_chain() */
    const polytile_plan_options *options; /* of each device whose text has no memory= */
    int n_ranks;                  /* 0: there are none, and the devices are those of one process */
    polytile_share_options share; /* of all arrays; by weights with numbers alone, and no "pool" */
    const char *device; /* of each rank, as polytile_queue_create() takes it: "cuda:0,cuda:1",
                           "host(memory=1GiB)"; NULL: one, of which only the limit is known */
    int are_attached; /* 1: arrays, but for scratch, are attached on every rank, and detached after
                         the launches; 0: polytile_mpi_array_create() made them */
    int are_linked;   /* 1: the GPUs of one process reach each other's memory, as those that NVLink
                         joins; a queue finds out by itself */
    int64_t reserved[4]; /* zeros */
} polytile_ranks_request;

/** A plan of launches over several ranks, or devices; immutable. */
typedef struct polytile_ranks_plan polytile_ranks_plan;

/**
 * Plan launches over ranks as a queue of <polytile/mpi.h> does, or over the devices of one process
 * as polytile_queue_create_shared() does. Devices of ranks are members of one queue, those of a
 * rank one after the other; below each counts as a rank.
 *
 * At first each rank holds what it owns of every array, or all of it, if arrays are attached, as
 * they are without ranks.
 * Errors  As polytile_plan_create_chain(); INVALID (another number of members than 1 to 4096, a
 *         grid of another number of them, an unknown device, layout or policy, weights for another
 *         number of parts; devices as linked that are not, as hosts and those of ranks; devices
 *         that differ, without a layout; a GPU of which no memory is known), UNSUPPORTED (more
 *         than 10,000 launches; a rank owns more than 512 boxes of an array; rows that devices
 *         take as they come free).
 * Owns    The plan copies what it needs. The context owns it, which polytile_ranks_plan_destroy()
 *         can end sooner; on error *plan is NULL.
 */
polytile_status polytile_ranks_plan_create(const polytile_ranks_request *request,
                                           polytile_ranks_plan **plan);

/** End a plan; NULL does nothing. */
void polytile_ranks_plan_destroy(polytile_ranks_plan *plan);

typedef struct polytile_ranks_summary {
    int n_ranks;
    int busiest; /* the rank that runs most threads before the second exchange, of several the one
                        that receives most */
    int n_exchanges;
    int launches_per_exchange;  /* of those with the most */
    int64_t exchange_bytes;     /* from rank to rank, or device to device, of all launches */
    int64_t busiest_bytes;      /* of those, what the busiest rank receives */
    int64_t combined_bytes;     /* results that every rank has a part of */
    int64_t n_threads;          /* run by all ranks together */
    int64_t n_repeated_threads; /* of those, the ones that another rank runs, too */
    int64_t pulled_bytes;       /* of exchange_bytes: from GPU to GPU, not by the host's memory */
    int64_t reserved[4];        /* zeros */
} polytile_ranks_summary;

/** Get what ranks compute and send; all zero if the plan is NULL. */
void polytile_ranks_plan_get_summary(const polytile_ranks_plan *plan,
                                     polytile_ranks_summary *summary);

/** Return the busiest one's plan for its device, of the launches before the second exchange. The
 * ranks' plan owns it. */
const polytile_plan *polytile_ranks_plan_get_inner(const polytile_ranks_plan *plan);

/** Write the plan as text for people, JSON for programs, or an SVG picture. Owns: the caller frees
 * *text with free(). */
polytile_status polytile_ranks_plan_to_string(const polytile_ranks_plan *plan,
                                              polytile_format format, char **text);

#ifdef __cplusplus
}
#endif

#endif
