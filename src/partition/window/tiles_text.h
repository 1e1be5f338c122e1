#ifndef POLYTILE_PARTITION_WINDOW_TILES_TEXT_H
#define POLYTILE_PARTITION_WINDOW_TILES_TEXT_H

#include "base/text.h"
#include "partition/ping_pong/ping_pong.h"
#include "partition/skew/skew.h"

/* What plans say of launches that run as one. */

/** Say how the arrays of launches change roles. */
void pti_tiles_describe_roles(const pti_role_change *change, pti_text *why);

/** Say how large the largest tiles are that run n_launches; nothing if there are none. */
void pti_tiles_describe_largest(const pti_ping_pong *ping_pong, int n_launches, pti_text *why);

/** Say which launches of a chain that streams run as one in each slab, and which would if their
 * kernel went round periodic arrays; nothing if there are none. */
void pti_tiles_describe_chain(const pti_chain *chain, const pti_skew_shape *shape, pti_text *why);

#endif
