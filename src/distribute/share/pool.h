#ifndef POLYTILE_DISTRIBUTE_SHARE_POOL_H
#define POLYTILE_DISTRIBUTE_SHARE_POOL_H

#include "distribute/share/share.h"

/* A launch cut into more pieces than there are members, any of which can run any of them. */

/** Pieces a member, if the launch has as many rows: enough that the last ones make little
 * difference. */
enum { PTI_POOL_PIECES = 8 };

typedef struct pti_pool {
    int n_pieces;
    pti_boxes *threads; /* of each piece; owned */
} pti_pool;

/** Why a launch is no set of such pieces. */
typedef enum pti_pool_obstacle {
    PTI_POOL_NONE,
    PTI_POOL_REDUCES, /* in an order that would depend on who takes what */
    PTI_POOL_WHOLE,   /* nothing that it writes can be cut along its first dimension */
    PTI_POOL_NO_MEMORY
} pti_pool_obstacle;

/** What to say of it. */
const char *pti_pool_obstacle_text(pti_pool_obstacle obstacle);

/**
 * Cut a launch along the first dimension of what it writes, as evenly as can be.
 *
 * Shapes  domains: of all arrays, by the launch's array numbers; n_pieces: at most. No two pieces
 *         have a thread, or write an element, in common; together they are the launch.
 * Owns    The caller frees the pool with pti_pool_free(); with an obstacle it is empty.
 */
pti_pool_obstacle pti_pool_cut(const pti_shared_launch *launch, const polytile_domain *domains,
                               int n_arrays, int n_pieces, pti_pool *pool);

void pti_pool_free(pti_pool *pool);

#endif
