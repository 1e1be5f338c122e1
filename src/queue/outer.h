#ifndef POLYTILE_QUEUE_OUTER_H
#define POLYTILE_QUEUE_OUTER_H

#include "queue/queue.h"

/* A queue over several members, each with a queue of its own: what the public calls on it come down
 * to. Arguments are checked as for any queue: arrays are of the context and held by it, operands
 * are found. */

typedef struct pti_outer_functions {
    /** Arrays are held already; on error they are let go. */
    polytile_status (*attach)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** Wait, and bring attached ones home; they are let go afterwards, whatever happens. */
    polytile_status (*leave)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** What the arrays hold is dead behind the launches so far. */
    polytile_status (*discard)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** The array was made and is held; it is internal. */
    polytile_status (*create_array)(polytile_queue *queue, polytile_array *array);
    /** arrays: one an operand. options: may be NULL. */
    polytile_status (*launch)(polytile_queue *queue, const polytile_kernel *kernel,
                              const polytile_domain *domain, polytile_array *const *arrays,
                              const polytile_plan_options *options);
    /** array: NULL waits for all. Reports the first error since the last wait. */
    polytile_status (*wait)(polytile_queue *queue, polytile_array *array);
    void (*set_paused)(polytile_queue *queue, bool is_paused);
    /** Settled, without reporting errors. */
    void (*get_report)(polytile_queue *queue, bool reset, polytile_queue_report *report);
    /** To ask about: the first local member's. */
    polytile_device *(*get_device)(const polytile_queue *queue);
    /** Free everything; arrays have left already. */
    void (*close)(polytile_queue *queue);
} pti_outer_functions;

/**
 * A queue without a device and without a thread whose calls go to these functions.
 *
 * text: for error texts, such as "cuda:0,cuda:1"; copied. team: the functions' own state.
 * Errors  NULL: memory ran out.
 */
polytile_queue *pti_queue_create_outer(polytile_context *ctx, const char *text,
                                       const pti_outer_functions *functions, void *team);

/* What the public calls do beside calling these functions. */

/** Wait, and report the first error since the last report; array: NULL waits for all. */
polytile_status pti_outer_wait(polytile_queue *queue, polytile_array *array);
/** Detach arrays, which are checked. Errors: as above. */
polytile_status pti_outer_detach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays);
/** An array that is to be destroyed leaves the queue; errors wait for the next report. */
void pti_outer_end_array(polytile_queue *queue, polytile_array *array);
/** Whoever waits for this device waits for the whole queue. */
polytile_device *pti_outer_get_device(const polytile_queue *queue);

#endif
