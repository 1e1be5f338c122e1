#ifndef POLYTILE_PARTITION_SKEW_RESIDENT_H
#define POLYTILE_PARTITION_SKEW_RESIDENT_H

#include "partition/skew/skew.h"

/* Chains over arrays that lie whole in the device's memory: nothing has to move, but slabs that
 * stay in the device's last cache are gone through faster, at the price of more launches. */

/** Seconds of launches over a device's memory, launch after launch; and the least that slabs in its
 * cache might take, whatever the launches depend on. */
typedef struct pti_near_bound {
    double apart_s;
    double near_s;
} pti_near_bound;

/** Count a launch that goes through so many bytes. */
void pti_near_bound_add(pti_near_bound *bound, const polytile_link *link, double n_bytes);

/** Whether slabs might save as much as they must to be used at all. */
bool pti_near_bound_may_pay(const pti_near_bound *bound);

/**
 * Choose slabs for a chain whose arrays are all on the device. The link's cache is what the bands
 * of a slab stay in; arena_bytes of the request is ignored.
 *
 * False where they are not predicted to be a tenth faster than launch after launch; the reason is
 * added to `why`, or nothing if memory ran out.
 */
bool pti_skew_choose_resident(const pti_skew_request *request, pti_skew_shape *shape,
                              pti_text *why);

/**
 * Whether all moves of a schedule may come before all of its launches.
 *
 * They may where launches find each array at one place, no two at the same, nothing goes home, and
 * all that moves goes to those places: what comes there between two launches is elements that the
 * launches before did not touch, since those would have needed them.
 */
bool pti_skew_suits_resident(const pti_schedule *apart);

/**
 * Build what does the same as a schedule that suits and has the launches of a chain, no others: its
 * moves, and then the launches slab by slab.
 *
 * NULL when memory runs out. The caller frees it; it borrows the chain's instances and apart's.
 */
pti_schedule *pti_skew_build_resident(const pti_schedule *apart, const pti_chain *chain,
                                      const pti_skew_shape *shape);

#endif
