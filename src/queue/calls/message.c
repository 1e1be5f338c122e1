#include "message/program.h"
#include "queue/calls/calls.h"
#include "queue/over_group.h"

/* The program's part in the newest team kernel of a queue. */

/** Check the queue, and let all that is queued run: the program may wait for what is after it. */
static polytile_status begin_call(polytile_queue *queue, const char *call) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (queue->server == NULL)
        return PTI_QUEUE_REFUSE(queue, "%s: no team kernel was launched here; launch one before",
                                call);
    if (queue->group_functions != NULL)
        queue->group_functions->begin_messages(queue);
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting++;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
    return POLYTILE_OK;
}

static void end_call(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting--;
    pthread_mutex_unlock(&queue->mutex);
}

polytile_status polytile_message_send(polytile_queue *queue, const void *data, int64_t n_bytes,
                                      int to, int tag) {
    if (begin_call(queue, __func__) != POLYTILE_OK)
        return POLYTILE_INVALID;
    const polytile_status status =
        pti_program_send(queue->server, queue->object.context, data, n_bytes, to, tag);
    end_call(queue);
    return status;
}

polytile_status polytile_message_recv(polytile_queue *queue, void *data, int64_t n_bytes, int from,
                                      int tag, pt_status *status) {
    if (begin_call(queue, __func__) != POLYTILE_OK)
        return POLYTILE_INVALID;
    const polytile_status received =
        pti_program_recv(queue->server, queue->object.context, data, n_bytes, from, tag, status);
    end_call(queue);
    return received;
}

void pti_queue_set_server(polytile_queue *queue, pti_server *server) {
    pti_program_begin_wait(queue->server);
    pti_server_release(queue->server);
    queue->server = pti_server_retain(server);
}
