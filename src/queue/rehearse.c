#include "launch/access_check/rehearsal.h"
#include "queue/check_access.h"
#include "queue/queue.h"

/* A queue whose launches are checked has at most its newest launch still queued when the program
 * calls again. */

void pti_queue_forget_newest(polytile_queue *queue) {
    pti_rehearsal_free(queue->rehearsal);
    queue->rehearsal = NULL;
}

polytile_status pti_queue_repeat_newest(polytile_queue *queue) {
    const polytile_status status =
        queue->rehearsal == NULL ? POLYTILE_OK : pti_rehearsal_repeat(queue->rehearsal);
    pti_queue_forget_newest(queue);
    return status;
}
