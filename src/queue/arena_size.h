#ifndef POLYTILE_QUEUE_ARENA_SIZE_H
#define POLYTILE_QUEUE_ARENA_SIZE_H

#include "queue/queue.h"

/**
 * Size the device's arena for the queued arrays, and cut the launches of a window for it.
 *
 * The arena is all of the limit if the device's text asks for it, else what all arrays need
 * together, so that others can have the rest; less where the device refuses. What is resident goes
 * back to the host before the arena grows.
 *
 * Report  What was moved back is added to it.
 * Errors  NO_FIT (the device has not even memory for one block), NO_MEMORY, and those of a flush.
 */
polytile_status pti_arena_resize(polytile_queue *queue, const pti_item *window,
                                 polytile_report *report);

#endif
