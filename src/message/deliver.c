#include "message/deliver.h"

#include "base/clock.h"
#include "message/match.h"
#include "message/serve.h"
#include "message/spare.h"
#include "message/still.h"
#include "message/straight.h"
#include <polytile/message.h>

#include <stdlib.h>
#include <string.h>

static pti_post post_of(const pti_packet_head *head) {
    return (pti_post){.owner = head->from,
                      .request = PT_NO_REQUEST,
                      .peer = head->to,
                      .tag = head->tag,
                      .is_send = true,
                      .is_collective = head->is_such != 0,
                      .n_bytes = head->n_bytes,
                      .offer = head->offer};
}

static void fail_memory(pti_server *server, const pti_packet_head *head) {
    pti_server_end(server, POLYTILE_NO_MEMORY,
                   "%s: there is no memory for a message of %s, of %lld bytes", server->kernel_name,
                   pti_name_participant(server, head->from).text, (long long)head->n_bytes);
}

/** A message to a slot here. */
static void take_message(pti_server *server, const pti_packet_head *head, const char *data) {
    const pti_post asked = post_of(head);
    if (head->kind == PTI_MESSAGE_PACKET)
        pti_serve_passing(server, &asked, data);
    else
        pti_serve_post(server, &asked, false);
}

/** A message to the program, whose data follow. */
static void expect_message(pti_server *server, const pti_packet_head *head) {
    const pti_post asked = post_of(head);
    pti_post *send = pti_post_make(server, &asked);
    if (send == NULL) {
        fail_memory(server, head);
        return;
    }
    pti_server_note_progress(server);
    pti_processes_expect(server, send);
}

/** The data of an offer are asked for. */
static void give_data(pti_server *server, const pti_packet_head *head) {
    pti_server_processes *of = server->processes;
    pti_post **at = &of->offered.first;
    while (*at != NULL && (*at)->offer != head->offer)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    pti_post *send = pti_posts_take(&of->offered, at);
    pti_server_note_progress(server);
    if (head->is_such && pti_straight_is_allowed(server, send->owner) &&
        pti_straight_is_sooner(send, head->at))
        pti_processes_leave_straight(server, send);
    else
        pti_match_leave(server, send);
}

/** Find the message that a piece is of; NULL: nobody receives it any more. */
static pti_incoming *find_incoming(pti_server *server, int process, const pti_packet_head *head) {
    pti_incoming *of = server->processes->incoming;
    while (of != NULL &&
           (of->send->offer != head->offer || pti_process_of(server, of->send->owner) != process))
        of = of->next;
    return of;
}

/** A piece of a message has come, in a packet that becomes the server's. */
static void take_piece(pti_server *server, int process, const pti_packet_head *head, char *came,
                       const char *data, int64_t data_bytes) {
    pti_incoming *of = find_incoming(server, process, head);
    if (of != NULL)
        pti_match_arrive(server, of, came, data, head->at, data_bytes);
    else
        pti_spare_release(came);
}

/** All slots of another process have returned. */
static void note_returned(pti_server *server, int process) {
    for (int p = 0; p < server->n_slots; p++) {
        const bool is_theirs = pti_process_of(server, p) == process;
        server->participant[p].has_ended |= is_theirs;
        server->processes->n_returned += is_theirs;
    }
    pti_server_note_progress(server);
    pti_server_call_carrier(server);
    pthread_cond_broadcast(&server->changed);
}

/** Another process sends nothing more, and says why. */
static void note_end(pti_server *server, int process, const pti_packet_head *head,
                     const char *text) {
    server->processes->n_ends++;
    pti_server_call_carrier(server);
    if (head->status == POLYTILE_OK || server->is_ending)
        return;
    server->is_ended_by_peer = true;
    pti_server_end(server, (polytile_status)head->status, "rank %d: %s", process, text);
}

static void take_packet(pti_server *server, int process, const pti_packet_head *head,
                        const char *data) {
    switch (head->kind) {
    case PTI_MESSAGE_PACKET:
    case PTI_OFFER_PACKET:
        take_message(server, head, data);
        break;
    case PTI_BRING_PACKET:
        expect_message(server, head);
        break;
    case PTI_ASK_PACKET:
        give_data(server, head);
        break;
    case PTI_SIGNAL_PACKET:
        pti_serve_signal(server, head->to, head->tag);
        break;
    case PTI_ARRIVE_PACKET:
        pti_serve_arrivals(server, head->n_bytes);
        break;
    case PTI_BEGUN_PACKET:
        server->processes->n_begun++;
        pti_server_check_begun(server);
        break;
    case PTI_RETURNED_PACKET:
        note_returned(server, process);
        break;
    case PTI_BEAT_PACKET:
        server->progress_s = pti_now_s();
        break;
    case PTI_STILL_PACKET:
        pti_still_note_report(server, process, head);
        break;
    case PTI_PROBE_PACKET:
        pti_still_answer(server);
        break;
    case PTI_ANSWER_PACKET:
        pti_still_note_answer(server, process, head, data);
        break;
    default: /* the carrier has failed, and brings a packet of no kind */
        break;
    }
}

static bool is_running(const pti_server *server) {
    return !server->is_ending && server->phase != PTI_SERVER_OVER;
}

char *pti_deliver_find_place(pti_server *server, int process, const pti_packet_head *head) {
    pthread_mutex_lock(&server->mutex);
    const pti_incoming *of = is_running(server) ? find_incoming(server, process, head) : NULL;
    char *place = of == NULL || of->receive == NULL ? NULL : of->receive->data + head->at;
    server->processes->straight_bytes += place == NULL ? 0 : head->n_bytes;
    pthread_mutex_unlock(&server->mutex);
    return place;
}

void pti_deliver_straight(pti_server *server, int process, const pti_packet_head *head) {
    pti_server_processes *processes = server->processes;
    pthread_mutex_lock(&server->mutex);
    pti_incoming *of = is_running(server) ? find_incoming(server, process, head) : NULL;
    processes->straight_bytes -= head->n_bytes;
    pti_server_tell_still(server);
    if (of != NULL) {
        processes->n_got++;
        pti_match_note_piece(server, of, head->n_bytes);
    }
    pthread_mutex_unlock(&server->mutex);
}

void pti_deliver_sent(pti_server *server, const pti_packet *packet) {
    pti_post *send = packet->straight;
    if (send == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    if (pti_straight_end_piece(server, send, packet->head.n_bytes))
        pti_match_end_send(server, send);
    pthread_mutex_unlock(&server->mutex);
}

void pti_deliver_packet(pti_server *server, int process, char *bytes, int64_t n_bytes) {
    const char *data = bytes + sizeof(pti_packet_head);
    pti_packet_head head;
    memcpy(&head, bytes, sizeof head);
    pthread_mutex_lock(&server->mutex);
    const bool counts = is_running(server);
    const bool is_piece = head.kind == PTI_DATA_PACKET && counts;
    if (head.kind == PTI_END_PACKET) {
        note_end(server, process, &head, data);
    } else if (counts) {
        server->processes->n_got += head.kind < PTI_BEAT_PACKET;
        if (is_piece)
            take_piece(server, process, &head, bytes, data, n_bytes - (int64_t)sizeof head);
        else
            take_packet(server, process, &head, data);
    }
    pthread_mutex_unlock(&server->mutex);
    if (!is_piece)
        pti_spare_release(bytes);
}
