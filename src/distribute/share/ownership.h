#ifndef POLYTILE_DISTRIBUTE_SHARE_OWNERSHIP_H
#define POLYTILE_DISTRIBUTE_SHARE_OWNERSHIP_H

#include "access/set/boxes.h"
#include "distribute/share/distribution.h"
#include "distribute/share/member_grid.h"

/** Who owns which elements of an array: dimension d of it is divided along dimension d of the
 * grid. Every element has one owner; there may be members that own nothing. */
typedef struct pti_ownership {
    polytile_domain domain; /* of the array */
    pti_member_grid grid;   /* as many dimensions; its members are the queue's */
    pti_distribution distribution;
} pti_ownership;

/**
 * Check whether arrays can be placed so, as the options of a group ask.
 *
 * Errors  INVALID: a grid of another number of members; weights for another number of parts than
 *         the grid's first dimension that is cut has, or, without a grid, than there are members.
 */
polytile_status pti_ownership_check(polytile_context *ctx, int n_members,
                                    const pti_member_grid *given,
                                    const pti_distribution *distribution);

/**
 * Place an array.
 *
 * Shapes  given: used for arrays of as many dimensions, and for others where it fits when
 *         dimensions of extent 1 are added or dropped at its end; NULL or not fitting: as
 *         pti_member_grid_for(), or with weights n_members along the first dimension. With
 *         block(dim=D) the grid has n_members along D, or along the last dimension of arrays that
 *         have no D.
 */
pti_ownership pti_ownership_of(const polytile_domain *domain, int n_members,
                               const pti_member_grid *given, const pti_distribution *distribution);

/** Ask a registered layout for the owners of all dimensions before anything else is asked. False:
 * memory ran out. */
bool pti_ownership_ask(const pti_ownership *ownership);

/** How many ranges of a dimension the members with a coordinate there own. */
int64_t pti_ownership_count(const pti_ownership *ownership, int dim, int coordinate);

/** The k-th of them, ascending. */
polytile_range pti_ownership_range(const pti_ownership *ownership, int dim, int coordinate,
                                   int64_t k);

/** Return whether one dimension of two arrays is divided alike. */
bool pti_ownership_agrees(const pti_ownership *a, const pti_ownership *b, int dim);

/** Return whether every member owns one box, or nothing. */
bool pti_ownership_is_whole(const pti_ownership *ownership);

/** The first and the last coordinate, in each dimension, of members that may own elements of a box;
 * false if nobody does. */
bool pti_ownership_find_owners(const pti_ownership *ownership, const polytile_domain *box,
                               int *first, int *last);

/** What a member owns, in boxes that replace what was in *owned. */
void pti_ownership_boxes(const pti_ownership *ownership, int member, pti_boxes *owned);

/** The smallest box of steps 1 around what a member owns; empty if that is nothing. */
polytile_domain pti_ownership_hull(const pti_ownership *ownership, int member);

#endif
