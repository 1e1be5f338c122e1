#ifndef POLYTILE_DISTRIBUTE_OUTER_PLAN_H
#define POLYTILE_DISTRIBUTE_OUTER_PLAN_H

#include "distribute/work.h"
#include <polytile/plan.h>

/* What the members of a queue would do of one launch, to look at: nothing runs. */

/** What comes from one member, before the launch and after it. */
typedef struct pti_outer_neighbour {
    int member;
    int64_t n_bytes;
    int n_messages; /* one each time something comes, of all arrays together */
} pti_outer_neighbour;

typedef struct pti_outer_member {
    int64_t n_threads;
    polytile_domain threads; /* the box around them */
    int64_t owned_bytes;     /* of all arrays */
    int64_t received_bytes;
    int n_messages;
    int n_neighbours;
    pti_outer_neighbour *neighbour; /* ascending; owned */
} pti_outer_member;

typedef struct pti_outer_plan {
    char *kernel; /* owned */
    char *layout; /* owned */
    pti_member_grid grid;
    int64_t combined_bytes; /* of results that every member has a part of */
    int n_members;
    pti_outer_member *member; /* owned */
} pti_outer_plan;

/**
 * Share one launch, of which every operand is an array of its own.
 *
 * layout: of all arrays, as in pti_distribution_parse(); NULL: "block". given: NULL: balanced. The
 * plan's grid is that of the array by which threads are dealt out, or of the first.
 *
 * Errors  Those of pti_distribution_parse() and pti_ownership_check(), NO_MEMORY; *plan is NULL then.
 */
polytile_status pti_outer_plan_create(polytile_context *ctx, const pti_instance *instance,
                                      int n_members, const pti_member_grid *given,
                                      const char *layout, pti_outer_plan **plan);

void pti_outer_plan_free(pti_outer_plan *plan);

/** The plan as POLYTILE_TEXT or POLYTILE_JSON, which the caller frees; NULL: memory ran out, or there
 * is no such format. */
char *pti_outer_plan_to_string(const pti_outer_plan *plan, polytile_format format);

#endif
