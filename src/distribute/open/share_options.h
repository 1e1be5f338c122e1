#ifndef POLYTILE_DISTRIBUTE_OPEN_SHARE_OPTIONS_H
#define POLYTILE_DISTRIBUTE_OPEN_SHARE_OPTIONS_H

#include "distribute/group/group.h"

/* The options of a queue over several members, as the program writes them. */

/** Options as the program gave them, and who they are for. */
typedef struct pti_share_options {
    const polytile_share_options *given; /* not NULL */
    const char *members;                 /* what they are called, "ranks", */
    const char *list;                    /* and what has them, "the communicator", in error texts */
    int n_members;
    bool may_deal;      /* rows may be dealt out: members are of one process */
    bool may_take;      /* of several processes, too, by policies whose units take when free */
    bool are_different; /* in more than their number: by default, they do not get the same */
} pti_share_options;

/**
 * A group's options from those given; the grid is filled in if they give one, and pointed to.
 *
 * The distribution of a layout by speed is set once that is measured.
 * Errors  INVALID (a grid that is none, or of another number of members; an unknown layout or
 *         policy, or another number of weights than parts; a negative number of launches; reserved
 *         members that are not zero).
 */
polytile_status pti_share_options_parse(polytile_context *ctx, const pti_share_options *options,
                                        pti_member_grid *grid, pti_group_options *parsed);

#endif
