#ifndef POLYTILE_QUEUE_CHECK_ACCESS_H
#define POLYTILE_QUEUE_CHECK_ACCESS_H

#include "queue/queue.h"

/**
 * What POLYTILE_CHECK asks for by access or wide: wait for the queue, bring home what a launch
 * reads, and check its kernel before it is queued. Results stay on the device; the check has a
 * device of its own.
 *
 * Nothing is checked behind a failure that is still to be reported: the launch will not run.
 * Errors  INVALID (a violation), NO_MEMORY, those of the device.
 */
polytile_status pti_queue_check_access(polytile_queue *queue, const pti_request *request,
                                       const pti_prepared *prepared);

#endif
