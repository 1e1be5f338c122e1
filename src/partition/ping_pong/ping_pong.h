#ifndef POLYTILE_PARTITION_PING_PONG_PING_PONG_H
#define POLYTILE_PARTITION_PING_PONG_PING_PONG_H

#include "base/context.h"
#include "partition/ping_pong/role_change.h"

/* partition/ping_pong: ping-pong launches, each of which writes the array that the one before has
 * read, as those of a Jacobi method do; further arrays are read by all of them, as a field of
 * coefficients is. Launches whose arrays change roles in turn, as those of a wave equation do. And
 * the tiles in which a device runs several of them as one (schedule/tiling.h). */

/** How ping-pong launches are tiled. */
typedef struct pti_ping_pong {
    const pti_instance *instance; /* of each of them, or alike; borrowed */
    const pti_tile_room *room;    /* borrowed */
    pti_margin margin_per_launch; /* how much longer a launch's margin is than the next one's */
    unsigned rounds;              /* bit d: arrays are periodic along dimension d */
    int n_stored;                 /* arrays that tiles store */
    bool may_go_round;            /* their kernel goes round periodic arrays */
} pti_ping_pong;

/** Return whether the threads of each launch are those of the last one, with a margin for each
 * later launch, inside those of the first one. Tiles of the last launch's threads compute them
 * then. */
bool pti_ping_pong_shrinks_evenly(const pti_margin *per_launch, const pti_call *call,
                                  int n_launches);

/**
 * Find the margin that each of ping-pong launches adds.
 *
 * Shapes  call: the first two of them. Errors  NO_MEMORY, without a text. *is_found is false if
 *         they do not read at constant offsets, or arrays that none of them writes further off
 *         than the others, or are periodic and their kernel does not go round; `why` gets which.
 */
polytile_status pti_ping_pong_find_margin(pti_ping_pong *ping_pong, const pti_call *call,
                                          int n_arrays, bool *is_found, pti_text *why);

/** Return whether launches would go round periodic arrays, and their kernel does not; `why` gets
 * it. pti_ping_pong_find_margin() has found rounds. */
bool pti_ping_pong_lacks_rounds(const pti_ping_pong *ping_pong, const char *kernel, pti_text *why);

/** Return whether the margin of each launch of a tiling is longer than the next one's by
 * per_launch. */
bool pti_ping_pong_has_even_margins(const pti_margin *per_launch, const pti_tiling *tiling);

#endif
