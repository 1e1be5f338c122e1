#include "message/program.h"
#include "queue/queue.h"

/* The program's part in the newest team kernel of a queue. */

static polytile_status refuse_call(const polytile_queue *queue, const char *call) {
    return pti_fail(queue->object.context, POLYTILE_INVALID,
                    "queue on %s: %s: no team kernel was launched here; launch one before",
                    pti_queue_text(queue), call);
}

/** What the program waits for may be behind other launches: all that is queued runs. */
static void begin_call(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting++;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
}

static void end_call(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting--;
    pthread_mutex_unlock(&queue->mutex);
}

polytile_status polytile_message_send(polytile_queue *queue, const void *data, int64_t n_bytes,
                                      int to, int tag) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (queue->server == NULL)
        return refuse_call(queue, __func__);
    begin_call(queue);
    const polytile_status status =
        pti_program_send(queue->server, queue->object.context, data, n_bytes, to, tag);
    end_call(queue);
    return status;
}

polytile_status polytile_message_recv(polytile_queue *queue, void *data, int64_t n_bytes, int from,
                                      int tag, pt_status *status) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (queue->server == NULL)
        return refuse_call(queue, __func__);
    begin_call(queue);
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
