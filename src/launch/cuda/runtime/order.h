#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_ORDER_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_ORDER_H

#include "launch/cuda/runtime/cuda.h"

/* The waits of a schedule as events. An operation for which another stream waits records an event,
 * which returns to a pool when the last of those waits is enqueued. */

typedef struct pti_cuda_order pti_cuda_order;

/** Create an order, which the caller destroys. Errors: NO_MEMORY, DEVICE. */
polytile_status pti_cuda_order_create(pti_cuda_device *cuda, pti_cuda_order **order);
void pti_cuda_order_destroy(pti_cuda_order *order);

/** Begin a run: count the waits. Errors: NO_MEMORY. */
polytile_status pti_cuda_order_begin(pti_cuda_order *order, const pti_schedule *schedule);

/** Let an operation's stream wait for what the operation waits for; call this before enqueuing
 * it. */
polytile_status pti_cuda_order_wait(pti_cuda_order *order, const pti_command *command);

/** Let others wait for an operation; call this once all of it is enqueued. */
polytile_status pti_cuda_order_record(pti_cuda_order *order, const pti_command *command);

/** Return all events to the pool, also in the middle of a run. */
void pti_cuda_order_end(pti_cuda_order *order);

#endif
