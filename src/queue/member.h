#ifndef POLYTILE_QUEUE_MEMBER_H
#define POLYTILE_QUEUE_MEMBER_H

#include "access/set/boxes.h"
#include "queue/queue.h"

/* What a queue does as one of several that work on parts of the same arrays. Several may have
 * arrays over the same memory: the group sees to it that they do not write the same elements. */

/** Let a queue cut launches as others that have the same cuts; borrowed, as long as the queue is
 * used. Only the program's thread uses them. */
void pti_queue_share_cuts(polytile_queue *queue, struct pti_kept_cuts *cuts);

/** The bytes of the device that launches are cut for now. */
int64_t pti_queue_get_usable_bytes(polytile_queue *queue);

/**
 * Queue that elements come to the array's host memory in their newest version. Those that the host
 * has do not move, and all stay on the device. An internal array gets host memory for it.
 *
 * They are there after pti_queue_wait_for_elements(). Where kernels run on the host's memory, what
 * is queued later may have changed them by then.
 * Shapes  boxes: inside the array's domain; copied.
 * Errors  NO_MEMORY.
 */
polytile_status pti_queue_fetch(polytile_queue *queue, polytile_array *array,
                                const pti_boxes *boxes);

/** Do as polytile_queue_wait_for(), but put off what the array's elements do not depend on, even
 * if it uses the array. */
polytile_status pti_queue_wait_for_elements(polytile_queue *queue, polytile_array *array);

/**
 * Queue that the host's memory has newer elements than the device: launches after it use those.
 * They must not change any more until the launches that read them are done. Elements of an internal
 * array count as written.
 *
 * Until then whatever runs may evict what launches wrote of them before, over the newer elements.
 * So elements that the queue may have newer are fetched or invalidated, and the array is waited
 * for, before the host's memory of them is changed; then they are invalidated. It holds even if
 * something before it fails.
 * Shapes  boxes: inside the array's domain; copied.
 * Errors  NO_MEMORY.
 */
polytile_status pti_queue_invalidate(polytile_queue *queue, polytile_array *array,
                                     const pti_boxes *boxes);

/**
 * Queue that the device gets elements of an array in their newest version from the memory of linked
 * devices, or from the host's where none of these has newer ones than that. What it has of them
 * itself is dropped.
 *
 * Nothing else may run on these devices meanwhile. The host's memory does not get them: so the
 * device must keep them until they are invalidated. The array lies whole there, as do all that
 * launches use: to make room for it would move what other devices copy from this one.
 * Shapes  boxes: inside the array's domain; copied.
 * Errors  NO_MEMORY.
 */
polytile_status pti_queue_pull(polytile_queue *queue, polytile_array *array,
                               const pti_boxes *boxes);

/** Return whether each array that a queued launch ever used lay whole on the device when the last
 * window ended: then launches of these arrays make no room there, so that nothing leaves it. */
bool pti_queue_keeps_all(polytile_queue *queue);
/** Return whether an array of the queue did. */
bool pti_queue_has_whole(polytile_queue *queue, const polytile_array *array);

/** Wait for what is queued, and find room for all arrays whole. *found: nothing leaves the device
 * from here on unless it is asked for, until an array comes or goes, or a launch needs scratch.
 * What lies there in pieces, or in the way, goes to the host first. Errors: of what ran before. */
polytile_status pti_queue_make_room(polytile_queue *queue, bool *found);

/** Say whether nothing is to leave the device unasked: others may still read older elements in the
 * host's memory. Plans are checked for it with POLYTILE_CHECK=plan. */
void pti_queue_set_keeps(polytile_queue *queue, bool keeps);

/** Queue that nobody needs what an array holds, see polytile_queue_discard(). Errors: NO_MEMORY. */
polytile_status pti_queue_discard(polytile_queue *queue, polytile_array *array);

/** The host's memory of an internal array, zero where nothing came; it stays where it is. Waits for
 * what runs. NULL when memory runs out, which is the last error then. */
void *pti_queue_get_spill(polytile_queue *queue, polytile_array *array);

/** Let a queue ring a bell whenever it is done with items; NULL: none any more. */
void pti_queue_set_bell(polytile_queue *queue, pti_bell *bell);

/** Let it ring only when n_done of all that were ever queued are done, no fewer than before. */
void pti_queue_ring_from(polytile_queue *queue, int64_t n_done);

#endif
