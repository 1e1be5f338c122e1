#ifndef POLYTILE_QUEUE_MEMBER_H
#define POLYTILE_QUEUE_MEMBER_H

#include "access/set/boxes.h"
#include "queue/queue.h"

/* What a queue does as one of several that work on parts of the same arrays. Several may have
 * arrays over the same memory: the group sees to it that they do not write the same elements. */

/** A queue on one device, as polytile_queue_create() makes it. */
polytile_status pti_queue_open(polytile_context *ctx, const char *device_text,
                               polytile_queue **queue);

/** Let a queue cut launches as others that have the same cuts; borrowed, as long as the queue is
 * used. Only the program's thread uses them. */
void pti_queue_share_cuts(polytile_queue *queue, struct pti_kept_cuts *cuts);

/** The bytes of the device that launches are cut for now. */
int64_t pti_queue_get_usable_bytes(polytile_queue *queue);

/** Do as polytile_queue_attach() of one array, whose memory other queues may have, too. */
polytile_status pti_queue_attach_shared(polytile_queue *queue, polytile_array *array);

/** As polytile_queue_create_array(), over a domain. */
polytile_status pti_queue_create_array_over(polytile_queue *queue, const char *name,
                                            polytile_type type, const polytile_domain *domain,
                                            polytile_array **array);

/** A launch of which boxes are queued. */
typedef struct pti_box_launch {
    const polytile_kernel *kernel;
    const pti_prepared *whole;
    const pti_value *values;      /* of the parameters that the body gets; copied */
    struct pti_server_part *part; /* of a team kernel: the slots that the box is, whose server was
                                     retained for it; the queue ends it, also after an error */
} pti_box_launch;

/**
 * Queue a box of a launch, over this queue's arrays. The queue over the members has bound and
 * proved the launch; here the box is cut for the device, and kept as any launch is.
 *
 * Nothing is checked again: pti_instance_narrow() says why, and the group has asked whether each
 * member can run the kernel. Only the access check that POLYTILE_CHECK asks for runs here, box by
 * box.
 * Shapes  box: inside the launch's domain; of a team kernel the bounding box of the part's slots.
 *         arrays: one an operand; each contains what the threads touch of the whole's array.
 * Errors  NO_FIT, NO_MEMORY; those of the check.
 */
polytile_status pti_queue_launch_box(polytile_queue *queue, const pti_box_launch *launch,
                                     const polytile_domain *box, polytile_array *const *arrays);

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

/** Queue that nobody needs what an array holds, see polytile_queue_discard(). Errors: NO_MEMORY. */
polytile_status pti_queue_discard(polytile_queue *queue, polytile_array *array);

/** The host's memory of an internal array, zero where nothing came; it stays where it is. Waits for
 * what runs. NULL when memory runs out, which is the last error then. */
void *pti_queue_get_spill(polytile_queue *queue, polytile_array *array);

/** Let a queue ring a bell whenever it is done with items; NULL: none any more. */
void pti_queue_set_bell(polytile_queue *queue, pti_bell *bell);

/** Let it ring only when so many of all that were ever queued are done, no fewer than before. */
void pti_queue_ring_from(polytile_queue *queue, int64_t n_done);

#endif
