#ifndef POLYTILE_QUEUE_PREPARED_H
#define POLYTILE_QUEUE_PREPARED_H

#include "queue/queue.h"

/* One prepared launch, and all that it depends on. */

/** Of what a launch depends on, whether or not it is valid. */
uint64_t pti_request_hash(const pti_request *request);

/** Whether a launch was prepared for the same request. */
bool pti_prepared_is_for(const pti_prepared *prepared, const pti_request *request);

/** Copy what a launch was asked for with, as far as it depends on it; the request is valid. False
 * when memory runs out, for pti_prepared_free() to free. */
bool pti_prepared_fill_key(pti_prepared *prepared, const pti_request *request);

/** Whether an operand is the array at a position of the queue. */
bool pti_prepared_uses(const pti_prepared *prepared, int position);

/** NULL does nothing. */
void pti_prepared_free(pti_prepared *prepared);

#endif
