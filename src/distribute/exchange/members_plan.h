#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_MEMBERS_PLAN_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_MEMBERS_PLAN_H

#include "distribute/exchange/dry_run.h"

/* What the members of a queue would do of launches, to look at: nothing runs. */

/** What goes from one member to another, of one array, in all exchanges. */
typedef struct pti_members_plan_flow {
    int from;
    int to;
    int from_process;
    int to_process;
    int array;
    int n_messages; /* between two processes: what goes that way at a time, whatever its members and
                       arrays, counts with the first */
    int64_t n_bytes;
    int64_t pulled_bytes; /* of those: from device to device, and not through host memory */
} pti_members_plan_flow;

/** Return whether it is sent from process to process; else it stays within one, where host memory
 * is copied, or is the same for both. */
static inline bool pti_members_plan_is_message(const pti_members_plan_flow *flow) {
    return flow->from_process != flow->to_process;
}

/** One superstep, and what travels around it. */
typedef struct pti_members_plan_step {
    int first_launch;
    int n_launches; /* 0: arrays leave after all of them */
    int same_as; /* the first of some steps around which the same travels; itself, if it is new */
    int first_flow;         /* of a new one: of `step_flow` */
    int n_before;           /* flows before the launches, */
    int n_after;            /* and those after, which follow */
    int64_t combined_bytes; /* results that every member has a part of */
} pti_members_plan_step;

/** What one member does of all launches. */
typedef struct pti_members_plan_member {
    pti_boxes threads;       /* its share of the first launch; owned */
    int64_t n_threads;       /* of all launches */
    int64_t n_first_threads; /* of the first superstep */
    int64_t n_extra_threads; /* of those, the ones that another member runs, too */
    int64_t owned_bytes;     /* of all arrays */
    int64_t sent_bytes;
    int64_t received_bytes;
    int n_messages; /* received */
} pti_members_plan_member;

/** What members do, and what travels between them. */
typedef struct pti_members_plan {
    int n_members;
    int n_local; /* of each process, whose members follow one another */
    int n_arrays;
    int n_launches;
    pti_member_grid grid;      /* of the array by which threads are divided first */
    pti_ownership *ownerships; /* of each array; owned, as all below */
    pti_members_plan_member *member;
    int n_flows;
    pti_members_plan_flow *flow; /* by processes, to, from and array; one of each */
    int n_supersteps;            /* of launches, with an exchange before each */
    pti_members_plan_step *step; /* of each; owned, as is the next */
    int n_step_flows;
    pti_members_plan_flow *step_flow; /* of one exchange: in the same order */
    int n_first;                      /* launches of the first superstep */
    pti_shared_launch *first_launch;  /* of each of them: as members run it; owned */
    int n_longest;                    /* of the superstep with the most */
    int busiest; /* the member with the most threads of the first superstep, of several the
                                one that receives most */
    int64_t exchanged_bytes; /* of all flows */
    int64_t message_bytes;   /* of those from process to process */
    int64_t pulled_bytes;    /* of those from device to device */
    int64_t combined_bytes;  /* of results that every member has a part of */
    pti_exchange first;      /* before the first superstep before which anything travels, */
    int first_moving;        /* the number of that superstep; 0: none */
} pti_members_plan;

/** Launches over arrays of which operand p of `arrays` describes the p-th. */
typedef struct pti_members_plan_request {
    const pti_instance *arrays;
    int n_launches;
    const pti_shared_launch *launch;
    int n_members;
    pti_dry_run_members members;  /* what they are */
    const char *word;             /* what one is called: "rank", "device" */
    const pti_member_grid *given; /* NULL: balanced */
    const char *layout;           /* of all arrays, as in pti_distribution_parse() */
    int64_t most;                 /* launches of a superstep; 0: as queues choose */
} pti_members_plan_request;

/** The most launches, members, and boxes of one array that a member owns, that are looked at. */
enum {
    PTI_MEMBERS_PLAN_MOST_LAUNCHES = 10000,
    PTI_MEMBERS_PLAN_MOST_MEMBERS = 4096,
    PTI_MEMBERS_PLAN_MOST_BOXES = 512
};

/**
 * Share launches as queues do that know them all.
 *
 * Errors  Those of pti_distribution_parse() and pti_ownership_check(); INVALID and UNSUPPORTED for
 *         numbers that are out of range; NO_MEMORY. *plan is to be freed in any case.
 */
polytile_status pti_members_plan_create(polytile_context *ctx,
                                        const pti_members_plan_request *request,
                                        pti_members_plan *plan);

void pti_members_plan_free(pti_members_plan *plan);

/** The first superstep, as members run it. */
pti_superstep pti_members_plan_first_superstep(const pti_members_plan *plan);

/* members_steps.c */

/** Add the next superstep, of n_launches launches, and what travels around it. is_pulled: of each
 * array, whether what travels before goes from device to device; NULL: of none. False when memory
 * runs out. */
bool pti_members_plan_add_step(const pti_instance *arrays, const pti_superstep_parts *parts,
                               const bool *is_pulled, int n_launches, int64_t combined_bytes,
                               pti_members_plan *plan);

#endif
