#include "message/serve.h"

#include "message/hang.h"
#include "message/match.h"
#include "message/processes.h"
#include <polytile/message.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_message_memory(pti_server *server, int owner, int64_t n_bytes) {
    pti_server_end(server, POLYTILE_NO_MEMORY,
                   "%s: there is no memory for a message of %s, of %lld bytes", server->kernel_name,
                   pti_name_participant(server, owner).text, (long long)n_bytes);
}

bool pti_serve_post(pti_server *server, const pti_post *asked, bool is_kept) {
    pti_post *post = malloc(sizeof *post);
    if (post == NULL) {
        fail_message_memory(server, asked->owner, asked->n_bytes);
        free(asked->kept);
        return false;
    }
    *post = *asked;
    if (post->request != PT_NO_REQUEST)
        server->participant[post->owner].request[post->request] = post;
    pti_server_note_progress(server);
    if (post->is_send)
        pti_match_send(server, post, is_kept);
    else
        pti_match_receive(server, post);
    return true;
}

/* Bad input. */

static bool is_peer(const pti_server *server, const pt_entry *entry) {
    bool is_any = entry->kind == PT_RECV_ENTRY && entry->peer == PT_ANY;
    bool is_program = entry->peer == PT_PROGRAM && (entry->flags & PT_COLLECTIVE) == 0;
    return is_any || is_program || (entry->peer >= 0 && entry->peer < server->n_slots);
}

static bool is_tag(const pt_entry *entry) {
    return entry->tag >= 0 || (entry->kind == PT_RECV_ENTRY && entry->tag == PT_ANY);
}

/** Return whether a buffer lies in the launch's arrays, or in what a slot has to reduce. */
static bool is_buffer(const pti_server *server, const pt_entry *entry) {
    const pti_participant *slot = &server->participant[entry->slot];
    const pt_ring *ring = &slot->part->ring;
    const void *data = (const void *)(uintptr_t)entry->address;
    const char *stages = slot->part->stages + (size_t)slot->place * PTI_STAGES_BYTES;
    const bool is_written = entry->kind == PT_RECV_ENTRY;
    if (entry->n_bytes == 0 || pt_lies_in(data, entry->n_bytes, stages, stages + PTI_STAGES_BYTES))
        return true;
    for (int m = 0; m < ring->n_memories; m++) {
        const pt_memory *memory = &ring->memory[m];
        if (pt_lies_in(data, entry->n_bytes, memory->begin, memory->end) &&
            (memory->is_written || !is_written))
            return true;
    }
    return false;
}

static void refuse_entry(pti_server *server, const pt_entry *entry, const char *why) {
    static const char *const calls[] = {[PT_SEND_ENTRY] = "a send to",
                                        [PT_RECV_ENTRY] = "a receive from",
                                        [PT_REQUESTS_ENTRY] = "a request of",
                                        [PT_PUT_ENTRY] = "a put to",
                                        [PT_SIGNAL_ENTRY] = "a signal of"};
    pti_server_end(server, POLYTILE_INVALID, "%s: slot %d: %s rank %d, tag %d, %lld bytes: %s",
                   server->kernel_name, entry->slot, calls[entry->kind], entry->peer, entry->tag,
                   (long long)entry->n_bytes, why);
}

/** Why an entry is refused; NULL: it is not. */
static const char *find_fault(const pti_server *server, const pt_entry *entry, char *text,
                              size_t text_bytes) {
    if (!is_peer(server, entry)) {
        snprintf(text, text_bytes, "ranks are 0 to %d, or PT_PROGRAM, or of a receive PT_ANY",
                 server->n_slots - 1);
        return text;
    }
    if (entry->peer == PT_PROGRAM && !server->has_program)
        return "the program takes no part in polytile_run(); launch through a queue";
    if (!is_tag(entry))
        return "tags are 0 or more, or of a receive PT_ANY";
    if (entry->n_bytes < 0)
        return "the size is negative";
    if (!is_buffer(server, entry))
        return entry->kind == PT_RECV_ENTRY
                   ? "the buffer is in no array that the launch writes; receive into one"
                   : "the buffer is in no array of the launch; send from one";
    return NULL;
}

static int participant_of(const pti_server *server, int rank) {
    return rank == PT_PROGRAM ? server->n_slots : rank;
}

/** A message of a slot, of which kept is what its entry carried; NULL: it carried nothing. */
static void serve_message(pti_server *server, const pt_entry *entry, char *kept) {
    char text[128];
    const char *fault = find_fault(server, entry, text, sizeof text);
    if (fault != NULL) {
        refuse_entry(server, entry, fault);
        free(kept);
        return;
    }
    const pti_post asked = {.owner = entry->slot,
                            .request = kept != NULL ? PT_NO_REQUEST : entry->request,
                            .peer = participant_of(server, entry->peer),
                            .tag = entry->tag,
                            .is_send = entry->kind == PT_SEND_ENTRY,
                            .is_collective = (entry->flags & PT_COLLECTIVE) != 0,
                            .data = kept != NULL ? kept : (char *)(uintptr_t)entry->address,
                            .kept = kept,
                            .n_bytes = entry->n_bytes};
    pti_serve_post(server, &asked,
                   entry->n_bytes <= PT_EAGER_BYTES || (entry->flags & PT_BUFFERED) != 0);
}

/** The word that a slot names, as the server reads it; NULL: it is none. */
static const uint64_t *find_word(const pti_server_part *part, uint64_t address) {
    const uint64_t *word = (const uint64_t *)(uintptr_t)address;
    const pt_reply *last = &part->reply[part->n_slots * PT_MAX_REQUESTS];
    if (word >= part->ring.count && word < part->ring.count + pti_n_counts(part->server))
        return part->count + (word - part->ring.count);
    return word >= &part->reply->commit && word < &last->commit ? word : NULL;
}

static void note_wait(pti_server *server, const pt_entry *entry) {
    const uint64_t *word = find_word(server->participant[entry->slot].part, entry->address);
    pti_server_note_progress(server);
    if (word != NULL)
        pti_hang_begin_wait(server, entry->slot, word, (uint64_t)entry->n_bytes);
}

/* Counts of slots on several devices: the server alone stores them. */

static void add_to_count(pti_server_part *part, int64_t number, int64_t n_more) {
    PT_STORE_RELEASE(&part->count[number], part->count[number] + (uint64_t)n_more);
}

void pti_serve_signal(pti_server *server, int slot, int signal) {
    add_to_count(server->participant[slot].part, (int64_t)slot * PT_MAX_SIGNALS + signal, 1);
    pti_server_note_progress(server);
    pti_server_wake(server, slot);
}

static void give_signal(pti_server *server, const pt_entry *entry) {
    if (!pti_is_elsewhere(server, entry->peer)) {
        pti_serve_signal(server, entry->peer, entry->tag);
        return;
    }
    pti_processes_signal(server, entry->peer, entry->tag);
    pti_server_note_progress(server);
}

void pti_serve_arrivals(pti_server *server, int64_t n_slots) {
    for (int k = 0; k < server->n_parts; k++)
        add_to_count(&server->part[k], pti_n_counts(server) - 1, n_slots);
    pti_server_note_progress(server);
    for (int p = 0; p < server->n_slots; p++)
        if (!pti_hang_is_blocked(server, p))
            pti_server_wake(server, p);
}

/** Why a put is refused: the slot itself has looked at all but the device. */
static const char *find_put_fault(const pti_server *server, const pt_entry *entry) {
    const bool is_rank = entry->peer >= 0 && entry->peer < server->n_slots;
    return is_rank && server->participant[entry->peer].part != server->participant[entry->slot].part
               ? "the slots are on different devices, and a put reaches linked GPUs alone, in an "
                 "array that the launch writes and that lies alike there; send it, and let the "
                 "slot receive"
               : "the target is in no array that the launch writes, or no rank; put into one";
}

static void serve_entry(pti_server *server, const pt_entry *entry, char *kept) {
    switch (entry->kind) {
    case PT_SEND_ENTRY:
    case PT_RECV_ENTRY:
        serve_message(server, entry, kept);
        break;
    case PT_WAIT_ENTRY:
        note_wait(server, entry);
        break;
    case PT_LOOK_ENTRY:
        server->n_polls++;
        break;
    case PT_END_ENTRY:
        pti_hang_note_end(server, entry->slot);
        break;
    case PT_REQUESTS_ENTRY:
        refuse_entry(server, entry,
                     "the slot has 16 requests under way, the most; wait for some before");
        break;
    case PT_PUT_ENTRY:
        refuse_entry(server, entry, find_put_fault(server, entry));
        break;
    case PT_GIVE_ENTRY:
        give_signal(server, entry);
        break;
    case PT_ARRIVE_ENTRY:
        pti_serve_arrivals(server, 1);
        pti_processes_arrive(server);
        break;
    default:
        refuse_entry(server, entry, "signals are 0 to 15, and ranks those of the launch");
    }
}

/** Wake slots that wait for a place in a ring, some of which may have it now. */
static void wake_crowded(const pti_server_part *part) {
    pti_server *server = part->server;
    for (int p = 0; p < server->n_slots; p++)
        if (server->participant[p].word == &part->words->n_taken)
            pti_server_wake(server, p);
}

/** What the next entry carries: within it, or beside its place. */
static const void *find_payload(const pti_server_part *part, const pt_entry *entry) {
    const pt_ring *ring = &part->ring;
    return entry->n_bytes <= PT_ENTRY_BYTES
               ? (const void *)entry->data
               : ring->payload + (part->n_taken & (ring->n_entries - 1)) * PT_PAYLOAD_BYTES;
}

/** Copy what an entry carries, before its place is given away. False when memory runs out. */
static bool take_payload(const pti_server_part *part, const pt_entry *entry, char **kept) {
    *kept = NULL;
    if ((entry->flags & PT_CARRIED) == 0)
        return true;
    *kept = malloc((size_t)entry->n_bytes + 1);
    if (*kept != NULL)
        memcpy(*kept, find_payload(part, entry), (size_t)entry->n_bytes);
    else
        fail_message_memory(part->server, entry->slot, entry->n_bytes);
    return *kept != NULL;
}

/** A slot on a device that puts an entry waits no more for what it said before, and has taken so
 * many payloads. */
static void end_wait(pti_server *server, const pt_entry *entry) {
    if (pti_device_of(server, entry->slot) == NULL)
        return;
    pti_hang_end_wait(server, entry->slot);
    server->participant[entry->slot].n_taken = entry->n_payloads;
}

/** Take the entries of a part. */
static void serve_part(pti_server_part *part) {
    pti_server *server = part->server;
    const pt_ring *ring = &part->ring;
    while (server->phase == PTI_SERVER_RUNS && !server->is_ending) {
        const pt_entry *at = &ring->entry[part->n_taken & (ring->n_entries - 1)];
        char *kept;
        if (PT_LOAD_ACQUIRE(&at->commit) != part->n_taken + 1)
            return;
        const pt_entry entry = *at;
        if (!take_payload(part, &entry, &kept))
            return;
        part->n_taken++;
        server->n_entries++;
        PT_STORE_RELEASE(&part->words->n_taken, part->n_taken);
        if (server->n_crowded > 0)
            wake_crowded(part);
        end_wait(server, &entry);
        serve_entry(server, &entry, kept);
    }
}

void pti_serve(pti_server *server) {
    for (int k = 0; k < server->n_parts; k++)
        serve_part(&server->part[k]);
}
