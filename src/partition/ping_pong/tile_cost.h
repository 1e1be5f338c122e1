#ifndef POLYTILE_PARTITION_PING_PONG_TILE_COST_H
#define POLYTILE_PARTITION_PING_PONG_TILE_COST_H

#include "partition/ping_pong/ping_pong.h"

/* What tiles of ping-pong launches cost, and how many launches run as one. */

/** Fewer launches than these are not worth a group. */
enum { PTI_PING_PONG_LEAST = 3 };

/** The tiles of an H200, whose link is the default one: plans that know no GPU suppose them. */
extern const pti_tile_room pti_tile_room_default;

/** Return whether a periodic array has the columns of a tile once. */
bool pti_ping_pong_has_columns(const pti_ping_pong *ping_pong);

/** Find the own rows and columns of the largest tile that runs n_launches; false: there is none.
 */
bool pti_ping_pong_find_tile(const pti_ping_pong *ping_pong, int n_launches, int64_t *tile);

/** Return what a launch costs in tiles of own_rows, in passes of the array through memory. */
double pti_ping_pong_cost(const pti_ping_pong *ping_pong, int n_launches, int64_t own_rows);

/** Return the passes of an array through memory that a launch by itself makes: of all that it
 * reads, and of what it writes. */
int pti_ping_pong_passes_apart(const pti_ping_pong *ping_pong);

/** Choose how many launches run as one at most, an odd number; 0: tiles cost about as much. */
int pti_ping_pong_choose(const pti_ping_pong *ping_pong);

/** Choose it among `least`, `least + step`, `least + 2 * step`, ...: the fewest that are about as
 * good as the best. */
int pti_ping_pong_choose_among(const pti_ping_pong *ping_pong, int least, int step);

/** How launches are cut into groups of odd numbers, as even as possible. */
typedef struct pti_ping_pong_groups {
    int n_groups;
    int n_launches; /* of each of the first ones */
    int n_longer;   /* the last ones have two launches more */
} pti_ping_pong_groups;

/** Cut launches, one or more, into groups of at most `most`. Each has an odd number. */
pti_ping_pong_groups pti_ping_pong_cut(int n_launches, int most);

/** Return how many launches a group has. */
static inline int pti_ping_pong_group(const pti_ping_pong_groups *groups, int group) {
    return groups->n_launches + (group >= groups->n_groups - groups->n_longer ? 2 : 0);
}

#endif
