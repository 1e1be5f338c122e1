#ifndef POLYTILE_QUEUE_CACHE_H
#define POLYTILE_QUEUE_CACHE_H

#include "queue/prepared.h"

/* Prepared launches, found again by all that they depend on. */

/** The launch that was prepared for the same request; NULL: none. */
pti_prepared *pti_cache_find(const polytile_queue *queue, const pti_request *request,
                             uint64_t hash);

/** Keep a prepared launch, which becomes the cache's, and evict the one not used for longest. */
void pti_cache_add(polytile_queue *queue, pti_prepared *prepared);

/** Throw out a launch that was refused after all; it is not queued. */
void pti_cache_drop(polytile_queue *queue, const pti_prepared *prepared);

/** Throw out the launches of an array that leaves the queue, or with -1 all; none is queued. */
void pti_queue_forget_prepared(polytile_queue *queue, int position);

/** The launch used last of those that have an array in common with the request; NULL: none. */
const pti_prepared *pti_cache_find_related(const polytile_queue *queue, const pti_request *request);

/** Whether a launch that is queued replaces every element of the array at a position. */
bool pti_cache_is_overwritten(polytile_queue *queue, int position);

/* Launches that were let go of because an array left the queue, in let_go.c. A program that takes
 * its result to the host after each launch, and attaches the array again, finds the launch here,
 * and with its number the plans that are kept of it. */

/** Take a launch that is in no cache any more: keep it in place of the one kept longest, unless it
 * has scratch or looks up the array at the position, which leaves; or free it. position -1: all
 * leave. */
void pti_let_go(polytile_queue *queue, pti_prepared *prepared, int position);

/** Take out a launch that was let go of, if it was prepared for the same request, its arrays are
 * back where they were, and its index arrays hold what they held; it is the caller's. NULL: none
 * is. */
pti_prepared *pti_take_back(polytile_queue *queue, const pti_request *request, uint64_t hash);

/** Free those that look up the array at a position; -1: all. */
void pti_forget_let_go(polytile_queue *queue, int position);

#endif
