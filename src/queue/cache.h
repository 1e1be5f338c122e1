#ifndef POLYTILE_QUEUE_CACHE_H
#define POLYTILE_QUEUE_CACHE_H

#include "queue/queue.h"

/* Prepared launches, found again by all that they depend on. */

/** Of what a launch depends on, whether or not it is valid. */
uint64_t pti_request_hash(const pti_request *request);

/** The launch that was prepared for the same request; NULL: none. */
pti_prepared *pti_cache_find(const polytile_queue *queue, const pti_request *request,
                             uint64_t hash);

/** Whether a launch was prepared for the same request. */
bool pti_prepared_is_for(const pti_prepared *prepared, const pti_request *request);

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

/** Copy what a launch was asked for with, as far as it depends on it; the request is valid. False
 * when memory runs out, for pti_prepared_free() to free. */
bool pti_prepared_fill_key(pti_prepared *prepared, const pti_request *request);

/** Whether an operand is the array at a position of the queue. */
bool pti_prepared_uses(const pti_prepared *prepared, int position);

/** NULL does nothing. */
void pti_prepared_free(pti_prepared *prepared);

#endif
