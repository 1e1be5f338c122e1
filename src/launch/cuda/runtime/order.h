#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_ORDER_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_ORDER_H

#include "launch/cuda/runtime/cuda.h"

/* The waits of a schedule as events. An operation that one of another stream waits for records an
 * event, which goes back to a pool when the last of those waits is enqueued. */

typedef struct pti_cuda_order pti_cuda_order;

/** Errors: NO_MEMORY, DEVICE. Owned by the caller, until pti_cuda_order_destroy(). */
polytile_status pti_cuda_order_create(pti_cuda_device *cuda, pti_cuda_order **order);
void pti_cuda_order_destroy(pti_cuda_order *order);

/** Get ready for a run: count who waits for whom. Errors: NO_MEMORY. */
polytile_status pti_cuda_order_begin(pti_cuda_order *order, const pti_schedule *schedule);

/** Let an operation's stream wait for what the operation waits for; call before enqueuing it. */
polytile_status pti_cuda_order_wait(pti_cuda_order *order, const pti_command *command);

/** Let others wait for an operation; call once all of it is enqueued. */
polytile_status pti_cuda_order_record(pti_cuda_order *order, const pti_command *command);

/** Take all events back, also in the middle of a run. */
void pti_cuda_order_end(pti_cuda_order *order);

#endif
