#ifndef POLYTILE_DISTRIBUTE_SHARE_SPEED_H
#define POLYTILE_DISTRIBUTE_SHARE_SPEED_H

#include "queue/queue.h"

/* How fast a member is, for sharing by speed. */

/** Bytes a second of a kernel that memory bounds; 0: not even that fits the device. */
typedef struct pti_speed {
    double resident; /* footprint bytes, of data that is on the device */
    /** With arrays that go to the device, through the kernel and back; the same as resident where
     * the device reaches the host's memory, so that nothing moves. */
    double streamed;
} pti_speed;

/**
 * The speed of a member's device: of hosts measured by launches of a queue in a fraction of a
 * second, once for each text in a process; of GPUs what was measured of their link when they were
 * opened.
 *
 * Errors  Those of launches but NO_FIT, and NO_MEMORY.
 */
polytile_status pti_speed_measure(polytile_queue *member, pti_speed *speed);

#endif
