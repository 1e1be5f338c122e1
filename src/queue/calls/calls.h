#ifndef POLYTILE_QUEUE_CALLS_CALLS_H
#define POLYTILE_QUEUE_CALLS_CALLS_H

#include "queue/queue.h"

/* queue/calls: what programs call on a queue: opening it, attaching, launching, waiting, being
 * called back; polytile/queue.h has that. This header has the calls of a group on a member's queue,
 * which differ from the program's; queue/member.h has others. */

/** A queue on one device, as polytile_queue_create() makes it. */
polytile_status pti_queue_open(polytile_context *ctx, const char *device_text,
                               polytile_queue **queue);

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

/** Set the server of the newest team kernel: the program takes part in no older one any more. */
void pti_queue_set_server(polytile_queue *queue, struct pti_server *server);

#endif
