#include "base/checked.h"
#include "distribute/mpi/transport_mpi.h"
#include "message/deliver.h"
#include "message/spare.h"

#include <stdlib.h>
#include <string.h>

/* Packets between the servers of a team kernel's launch. Those of each launch have a tag of their
 * own: a rank that is done goes on to the next launch while others still receive. MPI does not
 * reorder messages of one tag between two ranks. */

/** Tags of exchanges are below. */
enum { FIRST_TAG = 1, N_TAGS = 30000 };

/** After this many failures in a row nothing is carried any more. */
enum { MOST_FAILURES = 1000 };

/** Packets under way at once; the server keeps those behind them. */
enum { MOST_UNDER_WAY = 64 };

/** A packet that leaves, or the data that follow it. */
typedef struct sent {
    struct sent *next;
    pti_packet *packet; /* owned by the last of what leaves of it */
    bool is_data;
    MPI_Request request; /* MPI_REQUEST_NULL: it is not sent off yet, as none behind it is, or a
                            test has failed */
    bool is_tested;
} sent;

/** The packet that comes from a rank, or the data that follow one. */
typedef struct coming {
    MPI_Request request; /* MPI_REQUEST_NULL: none comes, or a test of one has failed */
    bool is_tested;
    char *bytes; /* owned */
    int n_bytes;
    bool is_data;         /* what comes next are data */
    pti_packet_head head; /* that told of them */
    char *place;          /* where they belong; NULL: nowhere, they go to `bytes` */
} coming;

/** Return whether MPI has begun to receive something, which is not there yet. A test that fails may
 * have ended it: then the next one finds that. */
static bool is_on_its_way(const coming *from) {
    return from->is_tested || from->request != MPI_REQUEST_NULL;
}

typedef struct pti_mpi_carrier {
    sent *first;
    sent *spare; /* for the next packet, two if there are. Most looks find no packet */
    int n_ranks;
    coming coming[];
} pti_mpi_carrier;

static polytile_status find_carrier(pti_mpi_transport *mpi, pti_mpi_carrier **carrier) {
    const size_t n_bytes = sizeof **carrier + (size_t)mpi->n_ranks * sizeof(coming);
    if (mpi->carrier == NULL) {
        mpi->carrier = calloc(1, n_bytes);
        if (mpi->carrier == NULL)
            return pti_fail_memory(mpi->transport.ctx, "messages of slots to other ranks",
                                   (double)n_bytes);
        mpi->carrier->n_ranks = mpi->n_ranks;
        for (int r = 0; r < mpi->n_ranks; r++)
            mpi->carrier->coming[r].request = MPI_REQUEST_NULL;
    }
    *carrier = mpi->carrier;
    return POLYTILE_OK;
}

static sent *take_spare(pti_mpi_carrier *carrier) {
    sent *taken = carrier->spare;
    carrier->spare = taken->next;
    return taken;
}

/** MPI may still use the memory of what it has not sent or received. */
void pti_mpi_carrier_free(pti_mpi_carrier *carrier) {
    for (int r = 0; carrier != NULL && r < carrier->n_ranks; r++)
        if (!is_on_its_way(&carrier->coming[r]))
            pti_spare_release(carrier->coming[r].bytes);
    while (carrier != NULL && carrier->spare != NULL)
        free(take_spare(carrier));
    free(carrier);
}

static bool are_two(const sent *first) {
    return first != NULL && first->next != NULL;
}

static void keep_spare(pti_mpi_carrier *carrier, sent *of) {
    of->next = carrier->spare;
    carrier->spare = of;
}

/** Find room for a packet that leaves, and the data that follow; false when memory runs out. */
static bool find_spares(pti_mpi_carrier *carrier) {
    while (!are_two(carrier->spare)) {
        sent *made = malloc(sizeof *made);
        if (made == NULL)
            return false;
        keep_spare(carrier, made);
    }
    return true;
}

static void free_sent(pti_mpi_carrier *carrier, pti_server *server, sent *of) {
    if (of->is_data || of->packet->straight == NULL) {
        pti_deliver_sent(server, of->packet);
        pti_spare_release(of->packet);
    }
    if (are_two(carrier->spare))
        free(of);
    else
        keep_spare(carrier, of);
}

/** Append what leaves; returns where the next one goes. */
static sent **append_sent(pti_mpi_carrier *carrier, sent **last, pti_packet *packet, bool is_data) {
    sent *taken = take_spare(carrier);
    *taken = (sent){.packet = packet, .is_data = is_data, .request = MPI_REQUEST_NULL};
    *last = taken;
    return &taken->next;
}

/** Take what a server has to send, as long as little is under way. */
static polytile_status take_packets(const pti_mpi_transport *mpi, pti_mpi_carrier *carrier,
                                    pti_server *server) {
    sent **last = &carrier->first;
    int n_taken = 0;
    for (; *last != NULL; n_taken++)
        last = &(*last)->next;
    for (; n_taken < MOST_UNDER_WAY; n_taken++) {
        if (!find_spares(carrier))
            return pti_fail_memory(mpi->transport.ctx, "a message to another rank", sizeof(sent));
        pti_packet *packet = pti_processes_take(server);
        if (packet == NULL)
            return POLYTILE_OK;
        last = append_sent(carrier, last, packet, false);
        if (packet->straight != NULL)
            last = append_sent(carrier, last, packet, true);
    }
    return POLYTILE_OK;
}

/** Return whether MPI has got a packet, which is not to be sent twice. */
static bool is_sent_off(const sent *packet) {
    return packet->is_tested || packet->request != MPI_REQUEST_NULL;
}

/** Send off what was taken, in its order. */
static polytile_status send_packets(const pti_mpi_transport *mpi, pti_mpi_carrier *carrier, int tag,
                                    bool *has_moved) {
    polytile_status status = POLYTILE_OK;
    for (sent *at = carrier->first; at != NULL; at = at->next) {
        const pti_packet *packet = at->packet;
        if (is_sent_off(at))
            continue;
        const void *bytes =
            at->is_data ? packet->straight->data + packet->head.at : (const void *)&packet->head;
        PTI_MPI_TRY(mpi->transport.ctx,
                    MPI_Isend(bytes, (int)(at->is_data ? packet->head.n_bytes : packet->n_bytes),
                              MPI_BYTE, packet->process, tag, mpi->comm, &at->request));
        *has_moved = true;
    }
done:
    return status;
}

/** What is tested after something that has not left: its data are not, which are freed with it. */
static sent **next_of(sent *of) {
    const bool has_data = !of->is_data && of->packet->straight != NULL;
    return has_data ? &of->next->next : &of->next;
}

/** Free what has left. */
static polytile_status test_sent(const pti_mpi_transport *mpi, pti_mpi_carrier *carrier,
                                 pti_server *server, bool *has_moved) {
    polytile_status status = POLYTILE_OK;
    sent **at = &carrier->first;
    while (*at != NULL) {
        sent *tested = *at;
        int is_done = 0;
        if (!is_sent_off(tested))
            break;
        tested->is_tested = true;
        PTI_MPI_TRY(mpi->transport.ctx, MPI_Test(&tested->request, &is_done, MPI_STATUS_IGNORE));
        if (!is_done) {
            at = next_of(tested);
            continue;
        }
        *has_moved = true;
        *at = tested->next;
        free_sent(carrier, server, tested);
    }
done:
    return status;
}

/** Begin to receive the next packet of a rank, if there is one. What MPI does not bring is a packet
 * of no kind. */
static polytile_status begin_receive(const pti_mpi_transport *mpi, coming *from, int rank,
                                     int tag) {
    polytile_status status = POLYTILE_OK;
    int is_there = 0;
    MPI_Status found;
    PTI_MPI_TRY(mpi->transport.ctx, MPI_Iprobe(rank, tag, mpi->comm, &is_there, &found));
    if (!is_there)
        return POLYTILE_OK;
    PTI_MPI_TRY(mpi->transport.ctx, MPI_Get_count(&found, MPI_BYTE, &from->n_bytes));
    pti_spare_release(from->bytes);
    from->bytes = pti_spare_allocate(pti_max(from->n_bytes, (int64_t)sizeof(pti_packet_head)));
    if (from->bytes == NULL)
        PTI_TRY(pti_fail_memory(mpi->transport.ctx, "a message of another rank", from->n_bytes));
    memset(from->bytes, 0, sizeof(pti_packet_head));
    PTI_MPI_TRY(mpi->transport.ctx, MPI_Irecv(from->bytes, from->n_bytes, MPI_BYTE, rank, tag,
                                              mpi->comm, &from->request));
done:
    return status;
}

/** Begin to receive the data that follow a packet: they are next. */
static polytile_status begin_data(const pti_mpi_transport *mpi, coming *from, int rank, int tag) {
    polytile_status status = POLYTILE_OK;
    const int n_bytes = (int)from->head.n_bytes;
    if (from->place == NULL && from->bytes == NULL)
        from->bytes = pti_spare_allocate(n_bytes);
    if (from->place == NULL && from->bytes == NULL)
        PTI_TRY(pti_fail_memory(mpi->transport.ctx, "a message of another rank", n_bytes));
    PTI_MPI_TRY(mpi->transport.ctx,
                MPI_Irecv(from->place == NULL ? from->bytes : from->place, n_bytes, MPI_BYTE, rank,
                          tag, mpi->comm, &from->request));
done:
    return status;
}

/** Give the server what has come, or find out where what follows belongs. */
static void give_to_server(coming *from, pti_server *server, int rank) {
    if (from->is_data) {
        if (from->place != NULL)
            pti_deliver_straight(server, rank, &from->head);
        pti_spare_release(from->bytes);
        from->bytes = NULL;
        from->is_data = false;
        return;
    }
    memcpy(&from->head, from->bytes, sizeof from->head);
    if (from->head.mark != PTI_PACKET_MARK)
        memset(from->bytes, 0, sizeof from->head);
    from->is_data = from->head.mark == PTI_PACKET_MARK && from->head.kind == PTI_STRAIGHT_PACKET;
    if (from->is_data) {
        from->place = pti_deliver_find_place(server, rank, &from->head);
        pti_spare_release(from->bytes);
    } else {
        pti_deliver_packet(server, rank, from->bytes, from->n_bytes);
    }
    from->bytes = NULL;
}

/** Receive what has come from a rank. */
static polytile_status receive_packets(const pti_mpi_transport *mpi, coming *from,
                                       pti_server *server, int rank, int tag, bool *has_moved) {
    polytile_status status = POLYTILE_OK;
    int is_done = 1;
    while (is_done) {
        if (!is_on_its_way(from))
            PTI_TRY(from->is_data ? begin_data(mpi, from, rank, tag)
                                  : begin_receive(mpi, from, rank, tag));
        if (!is_on_its_way(from))
            return POLYTILE_OK;
        from->is_tested = true;
        PTI_MPI_TRY(mpi->transport.ctx, MPI_Test(&from->request, &is_done, MPI_STATUS_IGNORE));
        if (is_done) {
            from->is_tested = false;
            give_to_server(from, server, rank);
            *has_moved = true;
        }
    }
done:
    return status;
}

static bool is_nothing_under_way(const pti_mpi_carrier *carrier) {
    bool is = carrier->first == NULL;
    for (int r = 0; r < carrier->n_ranks; r++)
        is &= !is_on_its_way(&carrier->coming[r]) && !carrier->coming[r].is_data;
    return is;
}

static polytile_status carry_once(pti_mpi_transport *mpi, pti_server *server,
                                  pti_carrying *carried) {
    const int tag = FIRST_TAG + (int)(pti_server_number(server) % N_TAGS);
    pti_mpi_carrier *carrier = NULL;
    polytile_status status;
    PTI_TRY(find_carrier(mpi, &carrier));
    PTI_TRY(take_packets(mpi, carrier, server));
    PTI_TRY(send_packets(mpi, carrier, tag, &carried->has_moved));
    for (int r = 0; r < mpi->n_ranks; r++)
        if (r != mpi->rank)
            PTI_TRY(receive_packets(mpi, &carrier->coming[r], server, r, tag, &carried->has_moved));
    PTI_TRY(test_sent(mpi, carrier, server, &carried->has_moved));
    carried->is_idle = is_nothing_under_way(carrier);
done:
    return status;
}

/** A failure ends the launch, and is not the end of carrying: others are to hear of it. Its text is
 * the server's, since a slot may have called. */
pti_carrying pti_mpi_carry(void *transport, pti_server *server) {
    pti_mpi_transport *mpi = transport;
    pti_carrying carried = {0};
    pti_error failure = {0};
    pti_error *before = pti_redirect_errors(&failure);
    const polytile_status status =
        mpi->n_failures < MOST_FAILURES
            ? carry_once(mpi, server, &carried)
            : pti_fail(mpi->transport.ctx, POLYTILE_DEVICE,
                       "messages to other ranks have failed before; make a new queue");
    pti_redirect_errors(before);
    if (status != POLYTILE_OK)
        pti_server_fail(server, status, failure.text);
    if (mpi->n_failures < MOST_FAILURES)
        mpi->n_failures = status == POLYTILE_OK ? 0 : mpi->n_failures + 1;
    carried.has_failed = mpi->n_failures == MOST_FAILURES;
    return carried;
}
