#ifndef POLYTILE_QUEUE_CACHE_H
#define POLYTILE_QUEUE_CACHE_H

#include "queue/prepared.h"

/* Prepared launches, found again by all that they depend on. */

/** The launch that was prepared for the same request; NULL: none. */
pti_prepared *pti_cache_find(const polytile_queue *queue, const pti_request *request,
                             uint64_t hash);

/** Keep a prepared launch, which becomes the cache's, and evict the one not used for longest. */
void pti_cache_add(polytile_queue *queue, pti_prepared *prepared);

/** Note that a launch is used by an item, the newest: it is then thrown out last. */
void pti_cache_use(polytile_queue *queue, pti_prepared *prepared, int64_t number);

/** Throw out a launch that was refused after all; it is not queued. */
void pti_cache_drop(polytile_queue *queue, const pti_prepared *prepared);

/** Throw out the launches of an array that leaves the queue, or with -1 all; none is queued. */
void pti_queue_forget_prepared(polytile_queue *queue, int position);

/** The launch used last of those that have an array in common with the request, and were cut for an
 * arena that does not hold all arrays; NULL: none. The mutex is locked. */
const pti_prepared *pti_cache_find_related(const polytile_queue *queue, const pti_request *request);

/** The twin of a launch that was cut for the same arena as the launch is to be, and whose partition
 * that launch would get, too: the related launch, or if it has none, one that was cut apart. NULL:
 * there is none. The mutex is locked. */
const pti_prepared *pti_cache_find_twin(const polytile_queue *queue, const pti_prepared *prepared,
                                        const pti_prepared *related);

/** Return whether a launch that is queued replaces every element of the array at a position. */
bool pti_cache_is_overwritten(polytile_queue *queue, int position);

/* victims.c: launches that left the cache because an array left the queue. A program that takes its
 * result to the host after each launch, and attaches the array again, finds the launch here, and
 * with its serial the plans that are kept of it. */

/** Keep a launch that left the cache, in place of the victim kept longest. Frees it if it has
 * scratch, or looks up the array at the position, which leaves; -1: all leave. */
void pti_victims_add(polytile_queue *queue, pti_prepared *prepared, int position);

/** Take out the victim that was prepared for the same request, whose arrays are back where they
 * were and whose index arrays hold what they held; it is the caller's. NULL: there is none. */
pti_prepared *pti_victims_take(polytile_queue *queue, const pti_request *request, uint64_t hash);

/** Free the victims that look up the array at a position; -1: all. */
void pti_victims_forget(polytile_queue *queue, int position);

#endif
