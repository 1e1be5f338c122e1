#ifndef POLYTILE_QUEUE_CACHE_H
#define POLYTILE_QUEUE_CACHE_H

#include "queue/queue.h"

/* Prepared launches, found again by all that they depend on. */

/** A launch as it was asked for. */
typedef struct pti_request {
    const polytile_kernel *kernel;
    const polytile_domain *domain;
    polytile_array *const *arrays;        /* one an operand, held by the queue */
    const polytile_plan_options *options; /* not NULL */
} pti_request;

/** Of what a launch depends on, whether or not it is valid. */
uint64_t pti_request_hash(const pti_request *request);

/** The launch that was prepared for the same request; NULL: none. */
pti_prepared *pti_cache_find(const polytile_queue *queue, const pti_request *request,
                             uint64_t hash);

/** Keep a prepared launch, which becomes the cache's; one that was not used for long goes. */
void pti_cache_add(polytile_queue *queue, pti_prepared *prepared);

/** Throw one out again that is not queued: it was refused after all. */
void pti_cache_drop(polytile_queue *queue, const pti_prepared *prepared);

/** The launch used last of those that have an array in common with the request; NULL: none. */
const pti_prepared *pti_cache_find_related(const polytile_queue *queue, const pti_request *request);

/** Whether a launch that is queued replaces every element of the array at a position. */
bool pti_cache_is_overwritten(polytile_queue *queue, int position);

/** Copy what a launch was asked for with, as far as it depends on it; the request is valid. False
 * when memory runs out, for pti_prepared_free() to free. */
bool pti_prepared_fill_key(pti_prepared *prepared, const pti_request *request);

/** NULL does nothing. */
void pti_prepared_free(pti_prepared *prepared);

#endif
