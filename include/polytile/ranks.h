#ifndef POLYTILE_RANKS_H
#define POLYTILE_RANKS_H

#include <polytile/plan.h>
#include <polytile/share.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plans of launches over several ranks, to look at before they run: the work of each rank, the
 * exchanges, and the transfers to and from devices. Needs no MPI. */

/** What to plan; zero or NULL in a member means its default. */
typedef struct polytile_ranks_request {
    int n_launches;                        /* at least 1 */
    const polytile_chain_launch *launches; /* in run order, over whole arrays */
    int n_scratch;
    polytile_array *const *scratch;       /* as in polytile_plan_create_chain() */
    const polytile_plan_options *options; /* of each rank's device */
    int n_ranks;
    polytile_share_options share; /* of all arrays; by weights with numbers alone, and no "pool" */
    int64_t reserved[4];          /* zeros */
} polytile_ranks_request;

/** A plan of launches over several ranks; immutable. */
typedef struct polytile_ranks_plan polytile_ranks_plan;

/**
 * Plan launches over ranks as a queue of <polytile/mpi.h> does. At first each rank holds what it
 * owns of every array.
 *
 * Errors  As polytile_plan_create_chain(); INVALID (another number of ranks than 1 to 4096, a grid
 *         of another number of them, an unknown layout or policy, weights for another number of parts),
 *         UNSUPPORTED (more than 10,000 launches; a rank owns more than 512 boxes of an array).
 * Owns    The plan copies what it needs. The context owns it, which polytile_ranks_plan_destroy()
 *         can end sooner; on error *plan is NULL.
 */
polytile_status polytile_ranks_plan_create(const polytile_ranks_request *request,
                                           polytile_ranks_plan **plan);

void polytile_ranks_plan_destroy(polytile_ranks_plan *plan);

typedef struct polytile_ranks_summary {
    int n_ranks;
    int busiest; /* the rank that runs most threads before the second exchange, of several the one
                        that receives most */
    int n_exchanges;
    int launches_per_exchange;  /* of those with the most */
    int64_t exchange_bytes;     /* from rank to rank, of all launches */
    int64_t busiest_bytes;      /* of those, what the busiest rank receives */
    int64_t combined_bytes;     /* results that every rank has a part of */
    int64_t n_threads;          /* run by all ranks together */
    int64_t n_repeated_threads; /* of those, the ones that another rank runs, too */
} polytile_ranks_summary;

void polytile_ranks_plan_get_summary(const polytile_ranks_plan *plan,
                                     polytile_ranks_summary *summary);

/** Return the busiest rank's plan for its device, of the launches before the second exchange. The
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
