#ifndef POLYTILE_QUEUE_CHECK_ACCESS_H
#define POLYTILE_QUEUE_CHECK_ACCESS_H

#include "queue/queue.h"

/**
 * What POLYTILE_CHECK asks for by access or wide: wait for the queue, bring home what a launch
 * reads, and check its kernel before it is queued. Results stay on the device; the check has a
 * device of its own.
 *
 * Nothing is checked behind a failure that is still to be told: the launch will not be run.
 * Shapes  arrays: one an operand.
 * Errors  INVALID (a violation), NO_MEMORY, those of the device.
 */
polytile_status pti_queue_check_access(polytile_queue *queue, const polytile_kernel *kernel,
                                       const pti_prepared *prepared, polytile_array *const *arrays);

#endif
