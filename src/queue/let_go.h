#ifndef POLYTILE_QUEUE_LET_GO_H
#define POLYTILE_QUEUE_LET_GO_H

#include "queue/queue.h"

/* Launches that were let go of because an array left the queue. Where subscripts hold elements of index
 * arrays, it takes long to find how a launch is cut; a program that takes its result home after each
 * launch, and attaches the array again, finds the launch here. */

/** Take a launch that is in no cache any more: keep it if it looks up arrays, all of which stay when the one
 * at a position leaves, in place of the one kept longest; or free it. position -1: all leave. */
void pti_let_go(polytile_queue *queue, pti_prepared *prepared, int position);

/** Return a launch that was cut for the same request, what index arrays hold, and memory; NULL: none.
 * prepared: of the request, bound and not yet cut. */
const pti_prepared *pti_find_let_go(const polytile_queue *queue, const pti_request *request,
                                    const pti_prepared *prepared);

/** Free those that look up the array at a position; -1: all. */
void pti_forget_let_go(polytile_queue *queue, int position);

#endif
