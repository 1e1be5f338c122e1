#include "distribute/mpi/transport_mpi.h"

#include "base/checked.h"
#include "distribute/exchange/pack.h"

#include <stdlib.h>
#include <string.h>

/* All operations of a list between the same two launches that send to a rank have one message, and
 * those that receive from it another one. A message is a word, not zero if the sender has failed,
 * and the packed elements of each operation, in the list's order. Both ends know its length. */

enum { HEADER_BYTES = 8 };

/** The message to or from a rank, between two launches. */
typedef struct channel {
    int launch; /* of its operations */
    int peer;   /* rank */
    bool sends;
    int first_op; /* of the list, as is the next */
    int last_op;
    int64_t n_bytes;
    char *message;         /* owned */
    int n_requests;        /* one a chunk of the message */
    MPI_Request *requests; /* persistent; owned */
} channel;

/** Where an operation's elements are. */
typedef struct place {
    int channel; /* -1: it sends and receives nothing */
    int64_t at;  /* in the message */
} place;

/** What the transport keeps for a list. Channels of the same launch lie side by side. */
typedef struct opened {
    int n_channels;
    channel *channels; /* owned, as is the next */
    place *places;     /* one an operation */
} opened;

static bool has_message(const pti_joint_op *op) {
    return op->kind == PTI_JOINT_SEND || op->kind == PTI_JOINT_RECEIVE;
}

/** Return an operation's array in this process. */
static const polytile_array *array_of_op(const pti_transport *transport,
                                         const pti_messages *messages, const pti_joint_op *op) {
    return messages->arrays[op->array * transport->n_local + op->member - transport->first];
}

/* Opening. */

static bool is_on(const channel *of, const pti_joint_op *op, int rank) {
    return of->launch == op->launch && of->peer == rank &&
           of->sends == (op->kind == PTI_JOINT_SEND);
}

/** Return the channel of an operation, which is added if there is none. */
static int place_channel(const pti_mpi_transport *mpi, opened *of, const pti_joint_op *op) {
    const int rank = op->peer / mpi->transport.n_local;
    int c = 0;
    while (c < of->n_channels && !is_on(&of->channels[c], op, rank))
        c++;
    if (c == of->n_channels)
        of->channels[of->n_channels++] = (channel){.launch = op->launch,
                                                   .peer = rank,
                                                   .sends = op->kind == PTI_JOINT_SEND,
                                                   .first_op = -1,
                                                   .n_bytes = HEADER_BYTES};
    return c;
}

/** Find each operation's place in its message. */
static void place_ops(const pti_mpi_transport *mpi, const pti_messages *messages, opened *of) {
    for (int o = 0; o < messages->list->n_ops; o++) {
        const pti_joint_op *op = &messages->list->op[o];
        of->places[o].channel = -1;
        if (!has_message(op))
            continue;
        const int c = place_channel(mpi, of, op);
        channel *on = &of->channels[c];
        of->places[o] = (place){c, on->n_bytes};
        on->n_bytes +=
            pti_packed_bytes(&op->boxes, array_of_op(&mpi->transport, messages, op)->element_bytes);
        on->first_op = on->first_op < 0 ? o : on->first_op;
        on->last_op = o;
    }
}

/** Create memory and requests of a channel. */
static polytile_status open_channel(const pti_mpi_transport *mpi, channel *of) {
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = mpi->transport.ctx;
    const int n_chunks = (int)pti_ceil_div(of->n_bytes, mpi->chunk_bytes);
    of->message = calloc(1, (size_t)of->n_bytes);
    of->requests = calloc((size_t)n_chunks, sizeof *of->requests);
    if (of->message == NULL || of->requests == NULL)
        return pti_fail_memory(ctx, "a message to another rank", (double)of->n_bytes);
    for (int64_t at = 0; at < of->n_bytes; at += mpi->chunk_bytes) {
        int n = (int)pti_min(mpi->chunk_bytes, of->n_bytes - at);
        MPI_Request *request = &of->requests[of->n_requests];
        if (of->sends)
            PTI_MPI_TRY(
                ctx, MPI_Send_init(of->message + at, n, MPI_BYTE, of->peer, 0, mpi->comm, request));
        else
            PTI_MPI_TRY(
                ctx, MPI_Recv_init(of->message + at, n, MPI_BYTE, of->peer, 0, mpi->comm, request));
        of->n_requests++;
    }
done:
    return status;
}

static void close_messages(opened *of) {
    for (int c = 0; c < of->n_channels; c++) {
        channel *closed = &of->channels[c];
        for (int k = 0; k < closed->n_requests; k++)
            MPI_Request_free(&closed->requests[k]);
        free(closed->requests);
        free(closed->message);
    }
    free(of->channels);
    free(of->places);
    free(of);
}

static int count_messages(const pti_joint_list *list) {
    int n = 0;
    for (int o = 0; o < list->n_ops; o++)
        n += has_message(&list->op[o]);
    return n;
}

/** Return NULL when memory runs out. */
static opened *allocate_messages(const pti_joint_list *list) {
    opened *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->channels = calloc((size_t)count_messages(list) + 1, sizeof *made->channels);
    made->places = calloc((size_t)list->n_ops + 1, sizeof *made->places);
    if (made->channels != NULL && made->places != NULL)
        return made;
    close_messages(made);
    return NULL;
}

polytile_status pti_mpi_open(pti_transport *transport, pti_messages *messages) {
    polytile_status status = POLYTILE_OK;
    opened *made = allocate_messages(messages->list);
    if (made == NULL)
        PTI_TRY(pti_fail_memory(transport->ctx, "messages to other ranks",
                                messages->list->n_ops * (double)sizeof(place)));
    place_ops(pti_mpi_of(transport), messages, made);
    for (int c = 0; c < made->n_channels; c++)
        PTI_TRY(open_channel(pti_mpi_of(transport), &made->channels[c]));
    messages->state = made;
    return POLYTILE_OK;
done:
    if (made != NULL)
        close_messages(made);
    return status;
}

void pti_mpi_forget(pti_transport *transport, pti_messages *messages) {
    (void)transport;
    if (messages->state != NULL)
        close_messages(messages->state);
    messages->state = NULL;
}

/* Running. A failure on one channel does not stop the others, for which peers wait. */

static polytile_status start_channel(const pti_transport *transport, const channel *of) {
    return pti_mpi_check(transport->ctx, "MPI_Startall",
                         MPI_Startall(of->n_requests, of->requests));
}

/** Return whether a channel of the same launch has an operation before this one, or after it. */
static bool has_op_beside(const opened *of, int op, bool before) {
    const int launch = of->channels[of->places[op].channel].launch;
    bool has = false;
    for (int c = 0; c < of->n_channels && !has; c++)
        has = of->channels[c].launch == launch &&
              (before ? of->channels[c].first_op < op : of->channels[c].last_op > op);
    return has;
}

/** Start all receives of an exchange, before its first operation. */
static polytile_status begin_exchange(const pti_transport *transport, const opened *of, int op) {
    pti_error first = {0};
    if (has_op_beside(of, op, true))
        return POLYTILE_OK;
    for (int c = 0; c < of->n_channels; c++)
        if (of->channels[c].launch == of->channels[of->places[op].channel].launch &&
            !of->channels[c].sends)
            pti_error_keep(&first, transport->ctx, start_channel(transport, &of->channels[c]));
    return pti_error_restore(transport->ctx, &first);
}

/** Wait until all that an exchange sends has left, after its last operation. */
static polytile_status end_exchange(const pti_transport *transport, const opened *of, int op) {
    pti_error first = {0};
    if (has_op_beside(of, op, false))
        return POLYTILE_OK;
    for (int c = 0; c < of->n_channels; c++) {
        const channel *sent = &of->channels[c];
        if (sent->launch == of->channels[of->places[op].channel].launch && sent->sends)
            pti_error_keep(&first, transport->ctx,
                           pti_mpi_wait(transport->ctx, sent->n_requests, sent->requests));
    }
    return pti_error_restore(transport->ctx, &first);
}

/** Send a message off; one of a rank that has failed has old contents. */
static polytile_status send_off(const pti_transport *transport, const channel *of,
                                bool has_failed) {
    const uint64_t header = has_failed;
    memcpy(of->message, &header, sizeof header);
    return start_channel(transport, of);
}

polytile_status pti_mpi_send(pti_transport *transport, pti_messages *messages, int number,
                             bool has_failed) {
    const opened *of = messages->state;
    const place *in = &of->places[number];
    const channel *on = &of->channels[in->channel];
    const pti_joint_op *op = &messages->list->op[number];
    pti_error first = {0};
    pti_error_keep(&first, transport->ctx, begin_exchange(transport, of, number));
    if (!has_failed)
        pti_pack(array_of_op(transport, messages, op), &op->boxes, on->message + in->at);
    if (on->last_op == number)
        pti_error_keep(&first, transport->ctx, send_off(transport, on, has_failed));
    pti_error_keep(&first, transport->ctx, end_exchange(transport, of, number));
    return pti_error_restore(transport->ctx, &first);
}

static bool peer_has_failed(const channel *of) {
    uint64_t header;
    memcpy(&header, of->message, sizeof header);
    return header != 0;
}

polytile_status pti_mpi_receive(pti_transport *transport, pti_messages *messages, int number,
                                bool has_failed) {
    const opened *of = messages->state;
    const place *in = &of->places[number];
    const channel *on = &of->channels[in->channel];
    const pti_joint_op *op = &messages->list->op[number];
    pti_error first = {0};
    pti_error_keep(&first, transport->ctx, begin_exchange(transport, of, number));
    if (on->first_op == number)
        pti_error_keep(&first, transport->ctx,
                       pti_mpi_wait(transport->ctx, on->n_requests, on->requests));
    const bool arrived = first.status == POLYTILE_OK && !peer_has_failed(on);
    if (arrived && !has_failed)
        pti_unpack(array_of_op(transport, messages, op), &op->boxes, on->message + in->at);
    pti_error_keep(&first, transport->ctx, end_exchange(transport, of, number));
    pti_error_keep(&first, transport->ctx, arrived ? POLYTILE_OK : PTI_PEER_FAILED);
    return pti_error_restore(transport->ctx, &first);
}
