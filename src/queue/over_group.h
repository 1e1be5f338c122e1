#ifndef POLYTILE_QUEUE_OVER_GROUP_H
#define POLYTILE_QUEUE_OVER_GROUP_H

#include "queue/queue.h"

/* A queue over several members, each with a queue of its own: the functions behind its public
 * calls. Arguments are checked as for any queue: arrays are of the context and queued, operands
 * and values are found. */

/** What a queue over members calls. */
typedef struct pti_group_functions {
    /** Arrays are queued already; on error they are let go. */
    polytile_status (*attach)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** Wait, and bring attached ones to the host; they are let go afterwards, whatever happens. */
    polytile_status (*detach)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** What the arrays hold is dead after the launches so far. */
    polytile_status (*discard)(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
    /** The array is internal; it was made and is queued. */
    polytile_status (*create_array)(polytile_queue *queue, polytile_array *array);
    /** status: an error of the arguments, after which the request is not looked at; other processes
     * may wait to hear of it. Returns it, or another process's. */
    polytile_status (*launch)(polytile_queue *queue, const pti_request *request,
                              polytile_status status);
    /** Run what was launched and wait for all of it, also where the program waits for one array.
     * Returns the first error since the last wait. */
    polytile_status (*wait)(polytile_queue *queue, polytile_array *array);
    /** The program sends to slots of the newest team kernel, or receives: have them run. */
    void (*begin_messages)(polytile_queue *queue);
    void (*set_paused)(polytile_queue *queue, bool is_paused);
    /** Run what was launched, bring the array to the host, and call the function. */
    polytile_status (*notify)(polytile_queue *queue, polytile_array *array,
                              polytile_queue_callback *callback, void *user);
    /** Any thread calls it. */
    polytile_progress (*get_progress)(polytile_queue *queue);
    /** The queue's own items are cancelled already. Any thread calls it, and handlers of
     * signals. */
    void (*cancel)(polytile_queue *queue);
    /** Run what was launched and wait for all of it first. Errors stay for the next wait. */
    void (*get_report)(polytile_queue *queue, bool reset, polytile_report *report);
    /** Of the local member of that number; NULL: there is none. */
    polytile_device *(*get_device)(const polytile_queue *queue, int member);
    /** Free everything; arrays have left already. */
    void (*close)(polytile_queue *queue);
} pti_group_functions;

/**
 * A queue without a device and a thread, whose calls go to these functions.
 *
 * text: for error texts, such as "cuda:0,cuda:1"; copied. group: the functions' own state.
 * Errors  NULL: memory ran out.
 */
polytile_queue *pti_queue_create_over_group(polytile_context *ctx, const char *text,
                                            const pti_group_functions *functions, void *group);

/* What the public calls do beside calling these functions. */

/** Wait for all that was launched, and report the first error since the last report. array: which
 * the program waits for; NULL: all. */
polytile_status pti_group_queue_wait(polytile_queue *queue, polytile_array *array);
/** Detach arrays, which are checked. Errors: as above. */
polytile_status pti_group_queue_detach(polytile_queue *queue, int n_arrays,
                                       polytile_array *const *arrays);
/** The device of the first local member. Whoever waits for it waits for the whole queue. */
polytile_device *pti_group_queue_get_device(const polytile_queue *queue);

#endif
