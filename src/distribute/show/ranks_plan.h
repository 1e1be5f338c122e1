#ifndef POLYTILE_DISTRIBUTE_SHOW_RANKS_PLAN_H
#define POLYTILE_DISTRIBUTE_SHOW_RANKS_PLAN_H

#include "base/context.h"
#include "distribute/exchange/members_plan.h"
#include "partition/show/print.h"
#include "partition/window/launches.h"
#include "partition/window/plan.h"
#include <polytile/ranks.h>

/* distribute/show: plans of several members as text, JSON and pictures: who owns what, what is
 * exchanged, and the plan of one of them, which partition/show prints. */

/** How one rank runs the launches of the first superstep on its device. */
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
    char *layout;                      /* owned */
    pti_launches launches;             /* owned */
    pti_shared_launch *shared;         /* of each launch; owned */
    pti_members_plan_request asked_of; /* what the members' plan is of; borrows from all above */
    pti_members_plan members;          /* owned */
    polytile_plan *inner;              /* of the busiest rank, which has threads; owned */
    pti_rank_figures *figures;         /* of each rank; owned */
};

/**
 * Plan what one rank does of the first superstep.
 *
 * Errors  As polytile_plan_create_chain(), the text says which rank.
 * Owns    The caller destroys *inner, which is NULL on errors and if the rank has nothing to do.
 */
polytile_status pti_ranks_plan_inner(const polytile_ranks_request *request,
                                     const polytile_ranks_plan *plan, int rank,
                                     polytile_plan **inner);

/* ranks_words.c: what the three forms share. */

/** The rank that is known to have most on its device at a time. */
int pti_ranks_with_largest_peak(const polytile_ranks_plan *plan);

/** What goes from one rank to another, of all arrays. */
typedef struct pti_ranks_way {
    const pti_members_plan_flow *flow; /* the first; those of the same way follow one another */
    int n_flows;
    int n_messages;
    int64_t n_bytes;
} pti_ranks_way;

/** The way that begins with the first of some flows. */
pti_ranks_way pti_ranks_way_of(const pti_members_plan_flow *flow, int n_flows);

/** The way that begins with the f-th flow; the next begins n_flows behind it. */
pti_ranks_way pti_ranks_way_at(const pti_members_plan *members, int f);

/** "2x2" */
pti_words pti_words_grid(const pti_member_grid *grid);

/** "12 KiB from rank to rank in 2 exchanges, before up to 4 of 8 launches each" */
pti_words pti_words_exchanges(const pti_members_plan *members);

/** The most supersteps that are listed for people. */
enum { PTI_RANKS_MOST_STEPS = 12 };

/** "launches 0 to 3  before: 1 to 0: 4 KiB, 0 to 1: 4 KiB", at most so many of one exchange. */
void pti_ranks_write_step(pti_text *text, const pti_members_plan *members, int number,
                          int most_ways);

/* The printers: ranks_text.c, ranks_json.c, ranks_picture.c. */
pti_printer pti_ranks_write_text, pti_ranks_write_json, pti_ranks_draw;

#endif
