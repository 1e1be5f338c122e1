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

/** Who the members are. */
typedef struct pti_ranks_members {
    int n_ranks;          /* 0: the devices are of one process, which is no rank */
    int n_local;          /* devices of each rank, or of the process */
    bool are_attached;    /* arrays: every process has all of each */
    bool are_linked;      /* each device reaches the memory of all others */
    char **device;        /* the text of each of them; owned. NULL: only the limit is known */
    int64_t *limit_bytes; /* of each; 0: it works in the host's memory. Owned */
    int64_t *n_streams;   /* of each; 0: its text does not say. Owned */
} pti_ranks_members;

/** A plan of launches over members. */
struct polytile_ranks_plan {
    pti_object object;
    pti_ranks_members of; /* owned, as is the next */
    char *layout;
    pti_launches launches;             /* owned */
    pti_shared_launch *shared;         /* of each launch; owned */
    pti_members_plan_request asked_of; /* what the members' plan is of; borrows from all above */
    bool *is_attached;                 /* of each array: for asked_of; owned, as are all below */
    bool *is_everywhere;               /* of each array: for asked_of */
    pti_members_plan members;
    polytile_plan *inner;      /* of the busiest rank, which has threads */
    pti_rank_figures *figures; /* of each rank */
};

/* ranks_members.c */

/** Read who the members are, and opens nothing. Errors: INVALID, NO_MEMORY. The caller frees them
 * in any case. */
polytile_status pti_ranks_members_read(polytile_context *ctx, const polytile_ranks_request *request,
                                       pti_ranks_members *members);
void pti_ranks_members_free(pti_ranks_members *members);

static inline int pti_ranks_members_count(const pti_ranks_members *members) {
    return members->n_local * (members->n_ranks > 0 ? members->n_ranks : 1);
}

/**
 * The layout that is asked for, else that of a policy, since owners compute what is planned.
 *
 * Errors  INVALID (an unknown policy, one by speeds; devices that differ); UNSUPPORTED (rows that
 *         devices take as they come free).
 */
polytile_status pti_ranks_find_layout(polytile_context *ctx, const polytile_ranks_request *request,
                                      const pti_launches *launches,
                                      const pti_ranks_members *members, const char **layout);

/* ranks_inner.c */

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

/** The way that begins with the f-th flow; the next begins n_flows after it. */
pti_ranks_way pti_ranks_way_at(const pti_members_plan *members, int f);

/** What one of them is called: "rank" or "device". */
const char *pti_ranks_word(const polytile_ranks_plan *plan);

/** Which member: "3"; of ranks with several devices "1.0", the first device of rank 1. */
pti_words pti_words_member(const polytile_ranks_plan *plan, int member);

/** "2 ranks of 2 devices" */
pti_words pti_words_members(const polytile_ranks_plan *plan);

/** "2x2" */
pti_words pti_words_grid(const pti_member_grid *grid);

/** "12 KiB from rank to rank in 2 exchanges, before up to 4 of 8 launches each" */
pti_words pti_words_exchanges(const polytile_ranks_plan *plan);

/** The most supersteps that are listed for people. */
enum { PTI_RANKS_MOST_STEPS = 12 };

/** "launches 0 to 3  before: 1 to 0: 4 KiB, 0 to 1: 4 KiB", at most most_ways of one exchange. */
void pti_ranks_write_step(pti_text *text, const polytile_ranks_plan *plan, int number,
                          int most_ways);

/* The printers: ranks_text.c, ranks_json.c, ranks_picture.c. */
pti_printer pti_ranks_write_text, pti_ranks_write_json, pti_ranks_draw;

#endif
