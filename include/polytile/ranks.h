#ifndef POLYTILE_RANKS_H
#define POLYTILE_RANKS_H

#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plans of launches over several ranks, to look at before they run: who does what, what travels
 * between them, and what each moves to and from its device. Needs no MPI. */

/** What is planned; zero or NULL in a member means its default. */
typedef struct polytile_ranks_request {
    int n_launches;                        /* at least 1 */
    const polytile_chain_launch *launches; /* in run order, over whole arrays */
    int n_scratch;
    polytile_array *const *scratch;       /* as in polytile_plan_create_chain() */
    const polytile_plan_options *options; /* of each rank's device */
    int n_ranks;
    const char *grid;   /* of ranks, as "4x2"; NULL: as in polytile_mpi_options */
    const char *layout; /* of all arrays over the grid: "block", "block(dim=0)", "cyclic(64)",
                               "weighted(2,1)"; NULL: "block" */
    int64_t
        launches_per_exchange; /* at most, computing borders twice; 0: chosen, as a queue does */
} polytile_ranks_request;

/** Who does what of launches over several ranks; immutable. */
typedef struct polytile_ranks_plan polytile_ranks_plan;

/**
 * Plan launches over ranks that each hold the part of every array that they own, and nothing else
 * at first, as a queue of <polytile/mpi.h> does.
 *
 * Errors  As polytile_plan_create_chain(); INVALID (another number of ranks than 1 to 4096, a grid
 *         of another number of them, an unknown layout, weights for another number of parts),
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

/** How the busiest rank runs the launches before the second exchange on its device. Owned by the
 * plan. */
const polytile_plan *polytile_ranks_plan_get_inner(const polytile_ranks_plan *plan);

/** The plan as text for people, JSON for programs, or an SVG picture. Owns: the caller frees *text
 * with free(). */
polytile_status polytile_ranks_plan_to_string(const polytile_ranks_plan *plan,
                                              polytile_format format, char **text);

#ifdef __cplusplus
}
#endif

#endif
