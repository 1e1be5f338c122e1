#include "message/processes.h"

#include "base/clock.h"
#include "message/slot_memory.h"
#include "message/spare.h"
#include "message/straight.h"
#include <polytile/message.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What is kept and no longer goes along with its message; longer data go in pieces: as many of
 * them as make copies and MPI overlap. */
enum {
    ALONG_BYTES = 32768,
    PIECES_A_MESSAGE = 8,
    LEAST_PIECE_BYTES = 64 << 10,
    MOST_PIECE_BYTES = 256 << 10
};

/** Pieces that wait for the carrier: no more are copied until it takes some, so that copies and MPI
 * overlap, and little memory is taken. */
enum { MOST_PIECES_WAITING = 2 };

/** Data that need no copy go in pieces so long: MPI counts their bytes by an int, and a rank whose
 * launch ends has to put them somewhere. */
enum { MOST_STRAIGHT_BYTES = 8 << 20 };

/** Others hear of what goes on so often, in the time that a launch may stand still. */
enum { BEATS_A_TIMEOUT = 8 };

int pti_process_of(const pti_server *server, int participant) {
    if (participant == server->n_slots)
        return PTI_PROGRAM_PROCESS;
    const int part = server->part_of[participant];
    return part < 0 ? -1 - part : server->processes->own;
}

bool pti_is_elsewhere(const pti_server *server, int participant) {
    return server->processes != NULL && server->part_of != NULL && participant >= 0 &&
           pti_process_of(server, participant) != server->processes->own;
}

/* Making. */

/** Make the packets that end the launch; false when memory runs out. */
static bool make_ends(pti_server_processes *of) {
    of->end = calloc((size_t)of->n, sizeof(pti_packet *));
    bool is_made = of->end != NULL;
    for (int p = 0; of->end != NULL && p < of->n; p++) {
        of->end[p] =
            p == of->own ? NULL : pti_spare_allocate((int64_t)sizeof(pti_packet) + PTI_ERROR_BYTES);
        is_made &= p == of->own || of->end[p] != NULL;
    }
    return is_made;
}

/** Drop what nobody has taken; the launch ends. */
static void drop_packets(pti_server *server) {
    pti_server_processes *of = server->processes;
    while (of->first != NULL) {
        pti_packet *packet = of->first;
        of->first = packet->next;
        if (packet->straight != NULL &&
            pti_straight_end_piece(server, packet->straight, packet->head.n_bytes))
            pti_post_forget(server, packet->straight);
        pti_spare_release(packet);
    }
    of->n_pieces = 0;
}

void pti_processes_free(pti_server *server) {
    pti_server_processes *processes = server->processes;
    if (processes == NULL)
        return;
    drop_packets(server);
    for (int p = 0; processes->end != NULL && p < processes->n; p++)
        pti_spare_release(processes->end[p]);
    for (int p = 0; processes->state != NULL && p < processes->n; p++)
        free(processes->state[p].waits);
    free(processes->end);
    free(processes->state);
    free(processes);
    server->processes = NULL;
}

bool pti_server_join(pti_server *server, int n_processes, int own, const pti_carrier *carrier) {
    pti_server_processes *made = calloc(1, sizeof *made);
    if (made == NULL)
        return false;
    made->n = n_processes;
    made->own = own;
    made->carrier = *carrier;
    made->n_answers = -1;
    made->looker = PTI_NO_LOOKER;
    made->state = own == 0 ? calloc((size_t)n_processes, sizeof *made->state) : NULL;
    server->processes = made;
    if ((own != 0 || made->state != NULL) && make_ends(made))
        return true;
    pti_processes_free(server);
    return false;
}

void pti_processes_forget(pti_server *server) {
    pti_server_processes *of = server->processes;
    while (of != NULL && of->offered.first != NULL) {
        pti_post *post = of->offered.first;
        of->offered.first = post->next;
        pti_post_forget(server, post);
    }
    while (of != NULL && of->incoming != NULL) {
        pti_incoming *incoming = of->incoming;
        of->incoming = incoming->next;
        pti_post_forget(server, incoming->send);
        pti_post_forget(server, incoming->receive);
        free(incoming);
    }
}

void pti_server_open(pti_server *server, int64_t number) {
    if (server->processes == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->processes->number = number;
    server->processes->own_progress_s = server->processes->beat_s = pti_now_s();
    pti_server_check_begun(server);
    pthread_mutex_unlock(&server->mutex);
}

int64_t pti_server_number(const pti_server *server) {
    return server->processes->number;
}

/* Packets that leave. */

static void append_packet(pti_server *server, pti_packet *packet) {
    pti_server_processes *of = server->processes;
    packet->next = NULL;
    if (of->first == NULL)
        of->first = packet;
    else
        of->last->next = packet;
    of->last = packet;
    if (!of->is_lent)
        pti_server_call_carrier(server);
}

/** Make a packet, without its data; NULL, after the launch was ended: there is no memory. */
static pti_packet *make_packet(pti_server *server, int process, const pti_packet_head *head,
                               int64_t data_bytes) {
    pti_packet *packet = pti_spare_allocate((int64_t)sizeof *packet + data_bytes);
    if (packet == NULL) {
        pti_server_end(server, POLYTILE_NO_MEMORY,
                       "%s: there is no memory for a message of %lld bytes to rank %d of MPI",
                       server->kernel_name, (long long)data_bytes, process);
        return NULL;
    }
    packet->process = process;
    packet->straight = NULL;
    packet->n_bytes = (int64_t)sizeof packet->head + data_bytes;
    packet->head = *head;
    packet->head.mark = PTI_PACKET_MARK;
    return packet;
}

static bool may_packets_leave(const pti_server *server) {
    return !server->is_ending && !server->processes->has_told_end;
}

void pti_processes_post(pti_server *server, int process, const pti_packet_head *head,
                        const void *data, int64_t data_bytes) {
    pti_packet *packet =
        may_packets_leave(server) ? make_packet(server, process, head, data_bytes) : NULL;
    if (packet == NULL)
        return;
    if (data_bytes > 0)
        memcpy(packet->data, data, (size_t)data_bytes);
    server->processes->n_sent += head->kind < PTI_BEAT_PACKET;
    append_packet(server, packet);
}

void pti_processes_post_all(pti_server *server, const pti_packet_head *head) {
    for (int p = 0; server->processes != NULL && p < server->processes->n; p++)
        if (p != server->processes->own)
            pti_processes_post(server, p, head, NULL, 0);
}

/* Messages. */

static pti_packet_head head_of_send(const pti_post *send, pti_packet_kind kind) {
    return (pti_packet_head){.kind = (int32_t)kind,
                             .from = send->owner,
                             .to = send->peer,
                             .tag = send->tag,
                             .is_such = send->is_collective,
                             .offer = send->offer,
                             .n_bytes = send->n_bytes};
}

static int64_t piece_bytes_in_tests;

void pti_processes_set_piece(int64_t n_bytes) {
    piece_bytes_in_tests = n_bytes;
}

int64_t pti_processes_size_piece(const pti_post *send, int64_t at) {
    const int64_t share = send->n_bytes / PIECES_A_MESSAGE, left = send->n_bytes - at;
    const int64_t size = piece_bytes_in_tests > 0    ? piece_bytes_in_tests
                         : share < LEAST_PIECE_BYTES ? LEAST_PIECE_BYTES
                         : share < MOST_PIECE_BYTES  ? share
                                                     : MOST_PIECE_BYTES;
    return left < size ? left : size;
}

pti_packet *pti_processes_make_piece(pti_server *server, const pti_post *send, int64_t at,
                                     int64_t n_bytes) {
    pti_packet_head head = head_of_send(send, PTI_DATA_PACKET);
    head.at = at;
    return make_packet(server, pti_process_of(server, send->peer), &head, n_bytes);
}

void pti_processes_post_piece(pti_server *server, pti_packet *piece) {
    if (!may_packets_leave(server)) {
        pti_spare_release(piece);
        return;
    }
    server->processes->n_sent++;
    server->processes->n_pieces++;
    append_packet(server, piece);
}

/** Let a piece leave straight; false: there is no memory for its packet. */
static bool leave_straight_piece(pti_server *server, pti_post *send, int64_t at, int64_t n_bytes) {
    pti_packet_head head = head_of_send(send, PTI_STRAIGHT_PACKET);
    head.at = at;
    head.n_bytes = n_bytes;
    pti_packet *packet = make_packet(server, pti_process_of(server, send->peer), &head, 0);
    if (packet == NULL)
        return false;
    packet->straight = send;
    send->n_leaving++;
    server->processes->straight_bytes += n_bytes;
    server->processes->n_sent++;
    append_packet(server, packet);
    return true;
}

void pti_processes_leave_straight(pti_server *server, pti_post *send) {
    const int64_t most_bytes =
        piece_bytes_in_tests > 0 ? piece_bytes_in_tests : MOST_STRAIGHT_BYTES;
    bool is_made = may_packets_leave(server);
    for (int64_t at = 0; is_made && at < send->n_bytes; at += most_bytes)
        is_made = leave_straight_piece(
            server, send, at, send->n_bytes - at < most_bytes ? send->n_bytes - at : most_bytes);
    if (send->n_leaving == 0)
        pti_post_forget(server, send);
}

bool pti_processes_want_pieces(const pti_server *server) {
    return server->processes->n_pieces < MOST_PIECES_WAITING;
}

/** Let threads copy more that waited for a piece to be taken. */
static void note_piece_taken(pti_server *server) {
    server->processes->n_pieces--;
    if (server->copy != NULL)
        pthread_cond_broadcast(&server->changed);
}

pti_packet *pti_processes_take(pti_server *server) {
    pthread_mutex_lock(&server->mutex);
    pti_packet *taken = server->processes->first;
    if (taken != NULL)
        server->processes->first = taken->next;
    if (taken != NULL && taken->head.kind == PTI_DATA_PACKET)
        note_piece_taken(server);
    pthread_mutex_unlock(&server->mutex);
    return taken;
}

bool pti_processes_send(pti_server *server, pti_post *send) {
    pti_server_processes *of = server->processes;
    const bool is_kept = send->kept != NULL && send->data == send->kept;
    const bool goes_along = is_kept && send->n_bytes <= ALONG_BYTES;
    const bool follows = is_kept && !goes_along && send->peer == server->n_slots;
    send->offer = goes_along ? 0 : ++of->n_offers;
    const pti_packet_head head = head_of_send(send, goes_along ? PTI_MESSAGE_PACKET
                                                    : follows  ? PTI_BRING_PACKET
                                                               : PTI_OFFER_PACKET);
    pti_processes_post(server, pti_process_of(server, send->peer), &head, send->data,
                       goes_along ? send->n_bytes : 0);
    if (goes_along)
        pti_post_forget(server, send);
    else if (!follows)
        pti_posts_append(&of->offered, send);
    return follows;
}

/** Wait for the data of a message; receive: what they go to, or NULL: they are kept. Both become
 * the server's. False, after the launch was ended: there is no memory. */
static bool await_data(pti_server *server, pti_post *send, pti_post *receive) {
    pti_incoming *incoming = malloc(sizeof *incoming);
    if (incoming == NULL || (receive == NULL && !pti_post_keep(send))) {
        pti_server_end(server, POLYTILE_NO_MEMORY,
                       "%s: there is no memory for a message of %lld bytes from %s to %s",
                       server->kernel_name, (long long)send->n_bytes,
                       pti_name_participant(server, send->owner).text,
                       pti_name_participant(server, send->peer).text);
        free(incoming);
        pti_post_forget(server, send);
        pti_post_forget(server, receive);
        return false;
    }
    *incoming = (pti_incoming){.next = server->processes->incoming,
                               .send = send,
                               .receive = receive,
                               .n_left = send->n_bytes};
    server->processes->incoming = incoming;
    return true;
}

void pti_processes_expect(pti_server *server, pti_post *send) {
    await_data(server, send, NULL);
}

void pti_processes_ask(pti_server *server, pti_post *send, pti_post *receive) {
    const pti_packet_head head = {.kind = PTI_ASK_PACKET,
                                  .from = send->peer,
                                  .to = send->owner,
                                  .is_such = pti_straight_is_allowed(server, receive->owner),
                                  .offer = send->offer,
                                  .at = pti_straight_find_page_offset(receive->data)};
    if (await_data(server, send, receive))
        pti_processes_post(server, pti_process_of(server, send->owner), &head, NULL, 0);
}

void pti_processes_signal(pti_server *server, int slot, int signal) {
    const pti_packet_head head = {.kind = PTI_SIGNAL_PACKET, .to = slot, .tag = signal};
    pti_processes_post(server, pti_process_of(server, slot), &head, NULL, 0);
}

void pti_processes_tell_arrivals(pti_server *server) {
    pti_server_processes *of = server->processes;
    const int64_t n_new = of->n_arrived - of->n_arrived_told;
    of->n_arrived_told = of->n_arrived;
    if (n_new > 0)
        pti_processes_post_all(server,
                               &(pti_packet_head){.kind = PTI_ARRIVE_PACKET, .n_bytes = n_new});
}

void pti_processes_arrive(pti_server *server) {
    if (server->processes != NULL && ++server->processes->n_arrived % server->n_here == 0)
        pti_processes_tell_arrivals(server);
}

void pti_processes_note_returns(pti_server *server) {
    if (server->n_ended < server->n_here)
        return;
    pti_processes_post_all(server, &(pti_packet_head){.kind = PTI_RETURNED_PACKET});
    pti_server_call_carrier(server);
}

void pti_server_check_begun(pti_server *server) {
    pti_server_processes *of = server->processes;
    if (server->n_begun < server->n_parts || server->is_ending ||
        server->phase == PTI_SERVER_RUNS || (of != NULL && of->number == 0))
        return;
    if (of != NULL && !of->has_told_begun)
        pti_processes_post_all(server, &(pti_packet_head){.kind = PTI_BEGUN_PACKET});
    if (of != NULL)
        of->has_told_begun = true;
    pti_server_call_carrier(server);
    if (of != NULL && of->n_begun < of->n - 1)
        return;
    pti_server_note_progress(server);
    pti_slot_memory_find_links(server);
    server->phase = PTI_SERVER_RUNS;
    pthread_cond_broadcast(&server->changed);
}

/* The end. */

/** Tell all others how the launch has ended here; the memory for that is there. */
static void send_ends(pti_server *server) {
    pti_server_processes *of = server->processes;
    if (server->is_ending)
        drop_packets(server);
    for (int p = 0; p < of->n; p++) {
        pti_packet *packet = of->end[p];
        if (packet == NULL)
            continue;
        packet->process = p;
        packet->straight = NULL;
        packet->head = (pti_packet_head){
            .mark = PTI_PACKET_MARK, .kind = PTI_END_PACKET, .status = (int32_t)server->status};
        snprintf(packet->data, PTI_ERROR_BYTES, "%s", server->is_ending ? server->text : "");
        packet->n_bytes = (int64_t)(sizeof packet->head + strlen(packet->data) + 1);
        of->end[p] = NULL;
        append_packet(server, packet);
    }
    of->has_told_end = true;
}

void pti_processes_tell(pti_server *server) {
    pti_server_processes *of = server->processes;
    const double now_s = pti_now_s();
    if (of->own_progress_s > of->beat_s &&
        now_s > of->beat_s + server->timeout_s / BEATS_A_TIMEOUT) {
        of->beat_s = now_s;
        pti_processes_post_all(server, &(pti_packet_head){.kind = PTI_BEAT_PACKET});
    }
    if (!of->has_told_end && (server->is_ending || pti_have_all_ended(server)))
        send_ends(server);
}
