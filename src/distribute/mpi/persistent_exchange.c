#include "distribute/mpi/transport_mpi.h"

#include "base/checked.h"
#include "distribute/exchange/pack.h"

#include <stdlib.h>
#include <string.h>

/* An exchange has one message for each pair of ranks: a word, not zero if the sender has failed,
 * then the packed elements of all transfers between the two, in the order of the exchange. Both
 * ends know its length. */

enum { HEADER_BYTES = 8 };

/** The message to or from a peer. */
typedef struct channel {
    int peer;
    bool sends;
    int64_t n_bytes;
    char *message;         /* owned */
    int n_requests;        /* one a chunk of the message */
    MPI_Request *requests; /* persistent; owned */
} channel;

/** What the transport keeps for a persistent exchange. */
typedef struct messages {
    int n_channels;
    channel *channels; /* what is received, then what is sent; by peer; owned */
    bool has_failed;   /* this process, when the messages were started */
} messages;

/** Return whether a transfer is part of a channel. */
static bool is_on(const channel *of, const pti_transfer *transfer, int rank) {
    return of->sends ? transfer->from == rank && transfer->to == of->peer
                     : transfer->to == rank && transfer->from == of->peer;
}

/** Return the array of a transfer; there is one member a process. */
static const polytile_array *array_of(const pti_persistent_exchange *persistent,
                                      const pti_transfer *transfer) {
    return persistent->arrays[transfer->array];
}

static int64_t message_bytes(const channel *of, const pti_persistent_exchange *persistent,
                             int rank) {
    int64_t n_bytes = HEADER_BYTES;
    for (int t = 0; t < persistent->exchange->n_transfers; t++) {
        const pti_transfer *transfer = &persistent->exchange->transfer[t];
        if (is_on(of, transfer, rank))
            n_bytes +=
                pti_packed_bytes(&transfer->boxes, array_of(persistent, transfer)->element_bytes);
    }
    return n_bytes;
}

/** Create memory and requests of a channel, whose peer and direction are set. */
static polytile_status open_channel(pti_mpi_transport *mpi, channel *of,
                                    const pti_persistent_exchange *persistent) {
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = mpi->transport.ctx;
    of->n_bytes = message_bytes(of, persistent, mpi->transport.first);
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

static void close_messages(messages *of) {
    for (int c = 0; c < of->n_channels; c++) {
        channel *closed = &of->channels[c];
        for (int k = 0; k < closed->n_requests; k++)
            MPI_Request_free(&closed->requests[k]);
        free(closed->requests);
        free(closed->message);
    }
    free(of->channels);
    free(of);
}

/** Return whether anything goes to a peer, or comes from it. */
static bool has_transfers(const channel *of, const pti_exchange *exchange, int rank) {
    for (int t = 0; t < exchange->n_transfers; t++) {
        if (is_on(of, &exchange->transfer[t], rank))
            return true;
    }
    return false;
}

/** Open one channel for each peer and direction in which something moves. */
static polytile_status open_channels(pti_mpi_transport *mpi, messages *of,
                                     const pti_persistent_exchange *persistent) {
    polytile_status status = POLYTILE_OK;
    for (int sends = 0; sends < 2; sends++) {
        for (int peer = 0; peer < mpi->transport.n_members; peer++) {
            channel next = {.peer = peer, .sends = sends};
            if (!has_transfers(&next, persistent->exchange, mpi->transport.first))
                continue;
            of->channels[of->n_channels++] = next;
            PTI_TRY(open_channel(mpi, &of->channels[of->n_channels - 1], persistent));
        }
    }
done:
    return status;
}

polytile_status pti_mpi_open_exchange(pti_transport *transport,
                                      pti_persistent_exchange *persistent) {
    const size_t n_channels = (size_t)transport->n_members * 2;
    polytile_status status = POLYTILE_OK;
    messages *opened = calloc(1, sizeof *opened);
    if (opened != NULL)
        opened->channels = calloc(n_channels, sizeof *opened->channels);
    if (opened == NULL || opened->channels == NULL)
        PTI_TRY(pti_fail_memory(transport->ctx, "messages to other ranks",
                                (double)(n_channels * sizeof(channel))));
    PTI_TRY(open_channels(pti_mpi_of(transport), opened, persistent));
    persistent->state = opened;
    return POLYTILE_OK;
done:
    if (opened != NULL)
        close_messages(opened);
    return status;
}

static void pack_message(const channel *of, const pti_persistent_exchange *persistent, int rank) {
    char *at = of->message + HEADER_BYTES;
    for (int t = 0; t < persistent->exchange->n_transfers; t++) {
        const pti_transfer *transfer = &persistent->exchange->transfer[t];
        if (is_on(of, transfer, rank))
            at = pti_pack(array_of(persistent, transfer), &transfer->boxes, at);
    }
}

static void unpack_message(const channel *of, const pti_persistent_exchange *persistent, int rank) {
    const char *at = of->message + HEADER_BYTES;
    for (int t = 0; t < persistent->exchange->n_transfers; t++) {
        const pti_transfer *transfer = &persistent->exchange->transfer[t];
        if (is_on(of, transfer, rank))
            at = pti_unpack(array_of(persistent, transfer), &transfer->boxes, at);
    }
}

/** Fill a message; a rank that has failed sends old contents. */
static void fill_message(const channel *of, const pti_persistent_exchange *persistent, int rank,
                         bool has_failed) {
    const uint64_t header = has_failed;
    memcpy(of->message, &header, sizeof header);
    if (!has_failed)
        pack_message(of, persistent, rank);
}

static bool peer_has_failed(const channel *of) {
    uint64_t header;
    memcpy(&header, of->message, sizeof header);
    return header != 0;
}

/** A failure on one channel does not stop the others, for which peers wait. */
polytile_status pti_mpi_start(pti_transport *transport, pti_persistent_exchange *persistent,
                              bool has_failed) {
    messages *of = persistent->state;
    of->has_failed = has_failed;
    pti_error first = {0};
    for (int c = 0; c < of->n_channels; c++) {
        const channel *started = &of->channels[c];
        if (started->sends)
            fill_message(started, persistent, transport->first, has_failed);
        pti_error_keep(&first, transport->ctx,
                       pti_mpi_check(transport->ctx, "MPI_Startall",
                                     MPI_Startall(started->n_requests, started->requests)));
    }
    return pti_error_restore(transport->ctx, &first);
}

polytile_status pti_mpi_finish(pti_transport *transport, pti_persistent_exchange *persistent) {
    pti_error first = {0};
    bool failed = false;
    const messages *of = persistent->state;
    for (int c = 0; c < of->n_channels; c++) {
        const channel *finished = &of->channels[c];
        polytile_status arrived =
            pti_mpi_wait(transport->ctx, finished->n_requests, finished->requests);
        pti_error_keep(&first, transport->ctx, arrived);
        if (finished->sends || arrived != POLYTILE_OK)
            continue;
        if (peer_has_failed(finished))
            failed = true;
        else if (!of->has_failed)
            unpack_message(finished, persistent, transport->first);
    }
    pti_error_keep(&first, transport->ctx, failed ? PTI_PEER_FAILED : POLYTILE_OK);
    return pti_error_restore(transport->ctx, &first);
}

void pti_mpi_forget_exchange(pti_transport *transport, pti_persistent_exchange *persistent) {
    (void)transport;
    if (persistent->state != NULL)
        close_messages(persistent->state);
    persistent->state = NULL;
}
