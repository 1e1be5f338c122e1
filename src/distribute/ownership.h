#ifndef POLYTILE_DISTRIBUTE_OWNERSHIP_H
#define POLYTILE_DISTRIBUTE_OWNERSHIP_H

#include "access/boxes.h"
#include "distribute/distribution.h"
#include "distribute/member_grid.h"

/** Who owns which elements of an array: dimension d of it is dealt out along dimension d of the
 * grid. Every element has one owner; there may be members that own nothing. */
typedef struct pti_ownership {
    polytile_domain domain; /* of the array */
    pti_member_grid grid;   /* as many dimensions; its members are the queue's */
    pti_distribution distribution;
} pti_ownership;

/**
 * Place an array.
 *
 * Shapes  given: used for arrays of as many dimensions, and for others where it fits when dimensions
 *         of extent 1 are added or dropped at its end; NULL or not fitting: balanced. With
 *         block(dim=D) the grid has n_members along D.
 */
pti_ownership pti_ownership_of(const polytile_domain *domain, int n_members,
                               const pti_member_grid *given, const pti_distribution *distribution);

/** What a member owns, in boxes that replace what was in *owned. */
void pti_ownership_boxes(const pti_ownership *ownership, int member, pti_boxes *owned);

/** The smallest box around what a member owns; empty if that is nothing. */
polytile_domain pti_ownership_hull(const pti_ownership *ownership, int member);

#endif
