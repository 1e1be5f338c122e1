#ifndef POLYTILE_QUEUE_CHECK_ACCESS_H
#define POLYTILE_QUEUE_CHECK_ACCESS_H

#include "queue/prepared.h"

/* Launches that are run on copies before they are queued, and once more. */

/**
 * What POLYTILE_CHECK asks for by access or wide: wait for the queue, bring to the host what a
 * launch reads, and check its kernel before it is queued. Results stay on the device; the check has
 * a device of its own.
 *
 * Nothing is checked after a failure that is still to be reported: the launch will not run.
 * Errors  INVALID (a violation), NO_MEMORY, those of the device.
 */
polytile_status pti_queue_check_access(polytile_queue *queue, const pti_request *request,
                                       const pti_prepared *prepared);

/* rehearse.c */

/** Check that the newest launch, if it was checked, would run as it did when it was made: that its
 * body reads nothing that the program has changed since. Errors: INVALID (it does), NO_MEMORY,
 * DEVICE. Forgets it. */
polytile_status pti_queue_repeat_newest(polytile_queue *queue);
void pti_queue_forget_newest(polytile_queue *queue);

#endif
