#ifndef POLYTILE_DISTRIBUTE_SHOW_RANKS_PLAN_H
#define POLYTILE_DISTRIBUTE_SHOW_RANKS_PLAN_H

#include "base/context.h"
#include "distribute/exchange/outer_plan.h"
#include "partition/window/launches.h"
#include "partition/window/plan.h"
#include <polytile/ranks.h>

/* distribute/show: plans of several members as text, JSON and pictures. */

/** How one rank runs the launches of the first group on its device. */
typedef struct pti_rank_figures {
    bool is_known;
    int64_t n_kernels;
    int64_t h2d_bytes;
    int64_t d2h_bytes;
    int64_t peak_device_bytes;
    double predicted_s;
} pti_rank_figures;

/** Where ranks have more boxes of threads together, only the busiest is planned inside. */
enum { PTI_RANKS_MOST_INNER = 64 };

struct polytile_ranks_plan {
    pti_object object;
    char *layout;               /* owned */
    pti_launches launches;      /* owned */
    pti_shared_launch *shared;  /* of each launch; owned */
    pti_outer_request outer_of; /* what the outer plan is of; borrows from all above */
    pti_outer_plan outer;       /* owned */
    polytile_plan *inner;       /* of the busiest rank, which has threads; owned */
    pti_rank_figures *figures;  /* of each rank; owned */
};

/**
 * Plan what one rank does of the first group.
 *
 * Errors  As polytile_plan_create_chain(), the text says which rank.
 * Owns    The caller destroys *inner, which is NULL on errors and if the rank has nothing to do.
 */
polytile_status pti_ranks_plan_inner(const polytile_ranks_request *request,
                                     const polytile_ranks_plan *plan, int rank,
                                     polytile_plan **inner);

/** The rank that is known to have most on its device at a time. */
int pti_ranks_with_largest_peak(const polytile_ranks_plan *plan);

/** The three forms of polytile_ranks_plan_to_string(); *text is owned by the caller. */
polytile_status pti_ranks_to_text(const polytile_ranks_plan *plan, char **text);
polytile_status pti_ranks_to_json(const polytile_ranks_plan *plan, char **text);
polytile_status pti_ranks_to_svg(const polytile_ranks_plan *plan, char **text);

#endif
