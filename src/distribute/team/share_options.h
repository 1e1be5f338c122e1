#ifndef POLYTILE_DISTRIBUTE_TEAM_SHARE_OPTIONS_H
#define POLYTILE_DISTRIBUTE_TEAM_SHARE_OPTIONS_H

#include "distribute/team/team.h"

/* The options of a queue over several members, as the program writes them. */

typedef struct pti_share_options {
    const char *grid;   /* NULL: balanced */
    const char *layout; /* NULL: block */
    int64_t launches_per_exchange;
    const char *members; /* what they are called, "ranks", */
    bool may_pool;       /* there is the layout "pool" */
    const char *list;    /* and what has them, "the communicator", in error texts */
    int n_members;
} pti_share_options;

/** Whether a layout is "weighted" without weights: by speeds, which are measured. */
bool pti_share_options_is_by_speed(const char *layout);

/**
 * A team's options from these; the grid is filled in if they give one, and pointed to.
 *
 * The distribution of a layout by speed is set once that is measured.
 * Errors  INVALID (a grid that is none, or of another number of members; an unknown layout, or
 *         another number of weights than parts; a negative number of launches).
 */
polytile_status pti_share_options_parse(polytile_context *ctx, const pti_share_options *given,
                                        pti_member_grid *grid, pti_team_options *parsed);

#endif
