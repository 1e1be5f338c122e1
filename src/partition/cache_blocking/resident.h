#ifndef POLYTILE_PARTITION_CACHE_BLOCKING_RESIDENT_H
#define POLYTILE_PARTITION_CACHE_BLOCKING_RESIDENT_H

#include "partition/skew/skew.h"

/* Chains over arrays that lie whole in the device's memory: nothing moves, but slabs that stay in
 * the device's last cache run faster, at the price of more launches. */

/** Seconds of launches over a device's memory, launch after launch; and the least that slabs in its
 * cache might take. */
typedef struct pti_blocking_bound {
    double apart_s;
    double cached_s;
} pti_blocking_bound;

/** Count a launch that goes through this many bytes. */
void pti_blocking_bound_add(pti_blocking_bound *bound, const polytile_link *link, double n_bytes);

/** Return whether slabs might save enough to be used. */
bool pti_blocking_bound_may_pay(const pti_blocking_bound *bound);

/**
 * Choose slabs for a chain whose arrays are all on the device. The bands of a slab stay in the
 * link's cache; arena_bytes of the request is ignored.
 *
 * False if they are not predicted to be a tenth faster than launch after launch; `why` gets the
 * reason, or nothing if memory ran out.
 */
bool pti_blocking_choose_resident(const pti_skew_request *request, pti_skew_shape *shape,
                                  pti_text *why);

/**
 * Return whether all moves of a schedule may come before all of its launches.
 *
 * They may if launches find each array at one place, no two at the same, nothing is downloaded, and
 * all moves go to those places: what comes there between two launches was not touched by the
 * launches before, which would have needed it.
 */
bool pti_blocking_suits_resident(const pti_schedule *apart);

/**
 * Build a schedule equal to `apart`, which suits and has the launches of a chain alone: its moves,
 * and then the launches slab by slab.
 *
 * NULL when memory runs out. The caller frees it; it borrows the chain's instances and apart's.
 */
pti_schedule *pti_blocking_build_resident(const pti_schedule *apart, const pti_chain *chain,
                                          const pti_skew_shape *shape);

#endif
