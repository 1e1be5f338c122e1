#include "message/match.h"

#include "message/copy.h"
#include "message/processes.h"
#include "message/spare.h"
#include <polytile/message.h>

#include <stdlib.h>
#include <string.h>

/** Longer messages are copied without the mutex. */
enum { LONG_BYTES = 32768 };

static const char no_memory[] = "there is no memory to keep";

static bool are_matching(const pti_post *receive, const pti_post *send) {
    return receive->is_collective == send->is_collective &&
           (receive->peer == PT_ANY || receive->peer == send->owner) &&
           (receive->tag == PT_ANY || receive->tag == send->tag);
}

/** Where a list has the first message of a receive; NULL: nowhere. */
static pti_post **find_message(pti_posts *messages, const pti_post *receive) {
    pti_post **at = &messages->first;
    while (*at != NULL && !are_matching(receive, *at))
        at = &(*at)->next;
    return *at == NULL ? NULL : at;
}

static pti_post **find_receive(pti_posts *receives, const pti_post *send) {
    pti_post **at = &receives->first;
    while (*at != NULL && !are_matching(*at, send))
        at = &(*at)->next;
    return *at == NULL ? NULL : at;
}

/** The rank of a participant, as statuses have it. */
static int rank_of(const pti_server *server, int participant) {
    return participant == server->n_slots ? PT_PROGRAM : participant;
}

/** Return whether the reply to a receive, of a slot on a device, can bring the data: in it, or
 * beside the replies, if the slot has taken what was there. */
static bool can_reply(const pti_server *server, const pti_post *send, const pti_post *receive) {
    const pti_participant *participant = &server->participant[receive->owner];
    const int64_t most_bytes =
        participant->n_given == participant->n_taken ? PT_PAYLOAD_BYTES : PT_REPLY_BYTES;
    return pti_copy_is_far(server, receive->owner) && pti_copy_is_near(server, send) &&
           send->n_bytes <= most_bytes;
}

/** Put the data of a message into the reply to a receive, or beside it. */
static void put_into_reply(pti_server *server, const pti_post *send, const pti_post *receive,
                           pt_reply *reply) {
    void *to = reply->data;
    reply->n_carried = send->n_bytes;
    if (send->n_bytes > PT_REPLY_BYTES) {
        pti_participant *owner = &server->participant[receive->owner];
        to = owner->part->payload + (size_t)owner->place * PT_PAYLOAD_BYTES;
        owner->n_given++;
    }
    if (send->n_bytes > 0)
        memcpy(to, send->data, (size_t)send->n_bytes);
}

/** Tell the owner of a request that it is done; then it may use the memory. */
static void complete_request(pti_server *server, pti_post *post, const pti_post *send) {
    if (post->request == PT_NO_REQUEST)
        return;
    pt_reply *reply = pti_reply_of(server, post->owner, post->request);
    reply->n_carried = 0;
    if (post->comes_with_reply)
        put_into_reply(server, send, post, reply);
    reply->source = rank_of(server, send->owner);
    reply->tag = send->tag;
    reply->n_bytes = send->n_bytes;
    PT_STORE_RELEASE(&reply->commit, reply->commit + 1);
    server->participant[post->owner].request[post->request] = NULL;
    post->request = PT_NO_REQUEST;
    pti_server_wake(server, post->owner);
}

static void end_with_long_message(pti_server *server, const pti_post *send,
                                  const pti_post *receive) {
    pti_server_end(server, POLYTILE_INVALID,
                   "%s: %s receives into %lld bytes a message of %lld bytes from %s, tag %d; give "
                   "a receive as much as its sender sends",
                   server->kernel_name, pti_name_participant(server, receive->owner).text,
                   (long long)receive->n_bytes, (long long)send->n_bytes,
                   pti_name_participant(server, send->owner).text, send->tag);
}

/** The data of a message is where it goes. */
static void end_message(pti_server *server, pti_post *send, pti_post *receive) {
    pti_server_note_progress(server);
    complete_request(server, receive, send);
    complete_request(server, send, send);
    pti_post_free(server, send);
    pti_post_free(server, receive);
}

/** End a launch that cannot go on with a message. */
static void refuse_message(pti_server *server, polytile_status status, const char *why,
                           const pti_post *send) {
    pti_server_end(server, status, "%s: %s a message of %lld bytes from %s to %s, tag %d",
                   server->kernel_name, why, (long long)send->n_bytes,
                   pti_name_participant(server, send->owner).text,
                   pti_name_participant(server, send->peer).text, send->tag);
}

static void join_posts(pti_server *server, pti_post *send, pti_post *receive);

/** A message goes to the first receive that matches, or waits in the list; or it leaves for the
 * process of its receiver. */
static void offer_message(pti_server *server, pti_post *send) {
    pti_participant *receiver = &server->participant[send->peer];
    if (pti_is_elsewhere(server, send->peer)) {
        if (pti_processes_send(server, send))
            pti_match_leave(server, send);
        return;
    }
    pti_post **at = find_receive(&receiver->receives, send);
    if (at == NULL)
        pti_posts_append(&receiver->messages, send);
    else
        join_posts(server, send, pti_posts_take(&receiver->receives, at));
}

void pti_match_end_send(pti_server *server, pti_post *send) {
    if (server->is_ending || server->phase == PTI_SERVER_OVER) {
        pti_post_forget(server, send);
        return;
    }
    pti_server_note_progress(server);
    complete_request(server, send, send);
    pti_post_free(server, send);
}

/** What comes after a copy: the message is there, or kept until it is received. */
static void end_copy(pti_server *server, const pti_copy *copy) {
    pti_post *send = copy->send;
    if (copy->receive != NULL) {
        end_message(server, send, copy->receive);
        return;
    }
    send->data = send->kept;
    complete_request(server, send, send);
    offer_message(server, send);
}

static void forget_copy(pti_server *server, pti_post *send, pti_post *receive) {
    pti_post_forget(server, send);
    pti_post_forget(server, receive);
}

/** Copy a message, or leave that to the next call that serves. */
static void copy_soon(pti_server *server, pti_post *send, pti_post *receive) {
    if (receive != NULL)
        receive->comes_with_reply = can_reply(server, send, receive);
    pti_server_part *part = pti_copy_find_part(server, send, receive);
    const pti_copy copy = {.send = send, .receive = receive, .part = part};
    if ((part != NULL || send->n_bytes > LONG_BYTES) && pti_copy_append(server, &copy))
        return;
    if (part != NULL) {
        refuse_message(server, POLYTILE_NO_MEMORY, no_memory, send);
        forget_copy(server, send, receive);
        return;
    }
    pti_copy_data(server, &copy);
    end_copy(server, &copy);
}

/** Free a copy that is not made, with its message; what else comes of an incoming one has
 * that. */
static void drop_copy(pti_server *server, pti_copy *copy) {
    if (copy->incoming == NULL)
        forget_copy(server, copy->send, copy->receive);
    pti_copy_free(copy);
}

/** Let the piece leave that was copied, and the next one be copied. */
static void leave_piece(pti_server *server, pti_copy *copy) {
    pti_post *send = copy->send;
    pti_processes_post_piece(server, copy->packet);
    copy->packet = NULL;
    copy->at += copy->n_bytes;
    if (server->is_ending) {
        drop_copy(server, copy);
    } else if (copy->at < send->n_bytes) {
        pti_copy_put_back(server, copy);
    } else {
        pti_match_end_send(server, send);
        pti_copy_free(copy);
    }
}

/** Take a message out of those that come, all of which is there: its receive is done, or it is
 * matched as one that is kept. */
static void end_incoming(pti_server *server, pti_incoming *incoming) {
    pti_incoming **at = &server->processes->incoming;
    pti_post *send = incoming->send;
    while (*at != incoming)
        at = &(*at)->next;
    *at = incoming->next;
    send->data = send->kept;
    if (incoming->receive != NULL)
        end_message(server, send, incoming->receive);
    else
        pti_match_send(server, send, true);
    free(incoming);
    pti_server_tell_still(server);
}

void pti_match_note_piece(pti_server *server, pti_incoming *incoming, int64_t n_bytes) {
    pti_server_note_progress(server);
    incoming->n_left -= n_bytes;
    if (incoming->n_left == 0)
        end_incoming(server, incoming);
}

/** What comes after a copy was made without the mutex. */
static void end_long_copy(pti_server *server, pti_copy *copy) {
    if (copy->leaves) {
        leave_piece(server, copy);
        return;
    }
    if (copy->incoming != NULL)
        pti_match_note_piece(server, copy->incoming, copy->n_bytes);
    else
        end_copy(server, copy);
    pti_copy_free(copy);
}

bool pti_match_copy(pti_server *server, const pti_server_part *part) {
    pti_copy *copy = pti_copy_take(server, part);
    if (copy == NULL)
        return false;
    if (pti_copy_make(server, copy)) {
        end_long_copy(server, copy);
        return true;
    }
    refuse_message(server, POLYTILE_DEVICE, "the device cannot copy",
                   copy->incoming != NULL ? copy->incoming->send : copy->send);
    drop_copy(server, copy);
    return true;
}

void pti_match_leave(pti_server *server, pti_post *send) {
    const pti_copy copy = {
        .send = send, .part = pti_copy_find_part(server, send, NULL), .leaves = true};
    if (pti_copy_append(server, &copy))
        return;
    refuse_message(server, POLYTILE_NO_MEMORY, no_memory, send);
    pti_post_forget(server, send);
}

void pti_match_arrive(pti_server *server, pti_incoming *incoming, char *came, const char *piece,
                      int64_t at, int64_t n_bytes) {
    const pti_post *receive = incoming->receive;
    const bool is_to_device = receive != NULL && pti_copy_is_far(server, receive->owner);
    const pti_copy copy = {.part = is_to_device ? server->participant[receive->owner].part : NULL,
                           .incoming = incoming,
                           .came = came,
                           .at = at,
                           .piece = piece,
                           .n_bytes = n_bytes};
    if (is_to_device && pti_copy_append(server, &copy))
        return;
    if (is_to_device) {
        refuse_message(server, POLYTILE_NO_MEMORY, no_memory, incoming->send);
    } else {
        memcpy((receive == NULL ? incoming->send->kept : receive->data) + at, piece,
               (size_t)n_bytes);
        pti_match_note_piece(server, incoming, n_bytes);
    }
    pti_spare_release(came);
}

/** Give a message to a receive; both are in no list any more. The program sees by the reply that a
 * message is too long, and can receive it into more memory; slots must know. */
static void join_posts(pti_server *server, pti_post *send, pti_post *receive) {
    if (send->n_bytes <= receive->n_bytes && pti_is_elsewhere(server, send->owner) &&
        send->kept == NULL) {
        pti_processes_ask(server, send, receive);
        return;
    }
    if (send->n_bytes <= receive->n_bytes) {
        copy_soon(server, send, receive);
        return;
    }
    if (receive->owner == server->n_slots) {
        complete_request(server, receive, send);
        pti_post_free(server, receive);
        pti_posts_append(&pti_program_of(server)->messages, send);
        return;
    }
    end_with_long_message(server, send, receive);
    pti_post_forget(server, receive);
    pti_post_forget(server, send);
}

/** Copy the data of a send, so that they are kept, and offer it then. */
static void keep_message(pti_server *server, pti_post *send) {
    if (pti_post_keep(send)) {
        copy_soon(server, send, NULL);
        return;
    }
    refuse_message(server, POLYTILE_NO_MEMORY, no_memory, send);
    pti_post_forget(server, send);
}

void pti_match_send(pti_server *server, pti_post *send, bool is_kept) {
    const bool is_expected = find_receive(&server->participant[send->peer].receives, send) != NULL;
    if (is_expected || !is_kept || send->kept != NULL)
        offer_message(server, send);
    else
        keep_message(server, send);
}

const pti_post *pti_match_peek(pti_server *server, const pti_post *receive) {
    pti_post **at = find_message(&server->participant[receive->owner].messages, receive);
    return at == NULL ? NULL : *at;
}

void pti_match_receive(pti_server *server, pti_post *receive) {
    pti_participant *owner = &server->participant[receive->owner];
    pti_post **at = find_message(&owner->messages, receive);
    if (at == NULL)
        pti_posts_append(&owner->receives, receive);
    else
        join_posts(server, pti_posts_take(&owner->messages, at), receive);
}

/** Forget the posts of a list, but for messages that are kept if the rest is to stay. */
static void forget_posts(pti_server *server, pti_posts *posts, bool but_kept) {
    pti_post **at = &posts->first;
    while (*at != NULL) {
        if (but_kept && (*at)->kept != NULL)
            at = &(*at)->next;
        else
            pti_post_forget(server, pti_posts_take(posts, at));
    }
}

void pti_match_forget_all(pti_server *server) {
    for (int p = 0; p <= server->n_slots; p++) {
        pti_participant *participant = &server->participant[p];
        forget_posts(server, &participant->receives, false);
        forget_posts(server, &participant->messages, p == server->n_slots && !server->is_ending);
    }
    pti_processes_forget(server);
    while (server->copy != NULL) {
        pti_copy *copy = server->copy;
        server->copy = copy->next;
        drop_copy(server, copy);
    }
}
