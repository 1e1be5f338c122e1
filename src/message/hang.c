#include "message/hang.h"

#include "base/clock.h"
#include "message/processes.h"
#include <polytile/message.h>

#include <stdio.h>

/** As many slots are named in a text. */
enum { MOST_NAMED = 6 };

/** Return whether who waits for a word waits for a place in the ring. */
static bool is_crowd_word(const pti_server *server, const uint64_t *word) {
    bool is = false;
    for (int k = 0; k < server->n_parts; k++)
        is |= server->part[k].words != NULL && word == &server->part[k].words->n_taken;
    return is;
}

void pti_hang_begin_wait(pti_server *server, int participant, const uint64_t *word,
                         uint64_t wanted) {
    pti_participant *of = &server->participant[participant];
    pti_hang_end_wait(server, participant);
    of->word = word;
    of->wanted = wanted;
    of->since_s = pti_coarse_now_s();
    server->n_waiting += participant < server->n_slots;
    server->n_crowded += is_crowd_word(server, word);
}

void pti_hang_end_wait(pti_server *server, int participant) {
    pti_participant *of = &server->participant[participant];
    if (of->word == NULL)
        return;
    server->n_crowded -= is_crowd_word(server, of->word);
    server->n_waiting -= participant < server->n_slots;
    of->word = NULL;
}

void pti_hang_note_end(pti_server *server, int slot) {
    server->participant[slot].has_ended = true;
    server->participant[slot].part->n_ended++;
    server->n_ended++;
    pti_server_note_progress(server);
    pti_processes_note_returns(server);
    pthread_cond_broadcast(&server->changed);
}

bool pti_hang_is_blocked(const pti_server *server, int participant) {
    const pti_participant *of = &server->participant[participant];
    return of->word != NULL && PT_LOAD_ACQUIRE(of->word) < of->wanted;
}

static bool may_program_send(const pti_server *server) {
    return server->has_program && !pti_is_elsewhere(server, server->n_slots) &&
           server->n_program_waits == 0 && !pti_hang_is_blocked(server, server->n_slots);
}

static bool are_slots_blocked(const pti_server *server) {
    if (server->n_waiting + server->n_ended < server->n_here)
        return false;
    for (int p = 0; p < server->n_slots; p++)
        if (server->participant[p].part != NULL && !server->participant[p].has_ended &&
            !pti_hang_is_blocked(server, p))
            return false;
    return true;
}

/* Words. */

static void describe_message(const pti_server *server, const pti_post *post, pti_text *text) {
    static const char *const collectives[] = {[PT_BCAST_TAG] = "pt_bcast",
                                              [PT_REDUCE_TAG] = "pt_reduce",
                                              [PT_GATHER_TAG] = "pt_gather",
                                              [PT_SCATTER_TAG] = "pt_scatter",
                                              [PT_ALLTOALL_TAG] = "pt_alltoall"};
    const bool has_ended = post->peer >= 0 && server->participant[post->peer].has_ended;
    pti_text_add(text, post->is_send ? "until %s receives its %lld bytes" : "for a message from %s",
                 pti_name_participant(server, post->peer).text, (long long)post->n_bytes);
    pti_text_add(text, "%s", has_ended ? ", which has returned" : "");
    if (post->is_collective)
        pti_text_add(text, ", in %s", collectives[post->tag]);
    else if (post->tag == PT_ANY)
        pti_text_add(text, ", any tag");
    else
        pti_text_add(text, ", tag %d", post->tag);
}

/** The number of the count that a word is; -1: it is none. */
static int64_t number_of_count(const pti_server *server, const uint64_t *word, int participant) {
    const pti_server_part *part = server->participant[participant].part;
    const bool is = part != NULL && part->count != NULL && word >= part->count &&
                    word < part->count + pti_n_counts(server);
    return is ? word - part->count : -1;
}

static void describe_count(const pti_server *server, int64_t number, const pti_participant *of,
                           pti_text *text) {
    const unsigned long long has = PT_LOAD_ACQUIRE(of->word);
    const uint64_t wanted = of->wanted;
    const int64_t n_ranks = server->n_slots;
    if (number == n_ranks * PT_MAX_SIGNALS)
        pti_text_add(text, "at a barrier, where %llu of %d slots are",
                     has - (wanted - (unsigned long long)n_ranks), server->n_slots);
    else
        pti_text_add(text, "for signal %d, given %llu of %llu times",
                     (int)(number % PT_MAX_SIGNALS), has, (unsigned long long)wanted);
}

/** The post of the request whose reply a participant waits for; NULL: it waits for none. */
static const pti_post *find_post(const pti_server *server, int participant) {
    const pti_participant *of = &server->participant[participant];
    const int n_requests = participant == server->n_slots ? 1 : PT_MAX_REQUESTS;
    for (int r = 0; r < n_requests; r++)
        if (of->word == &pti_reply_of((pti_server *)(uintptr_t)server, participant, r)->commit)
            return of->request[r];
    return NULL;
}

static void describe_wait(const pti_server *server, int participant, double now_s, pti_text *text) {
    const pti_participant *of = &server->participant[participant];
    const pti_post *post = find_post(server, participant);
    const int64_t number = number_of_count(server, of->word, participant);
    pti_text_add(text, "%s waits ", pti_name_participant(server, participant).text);
    if (post != NULL)
        describe_message(server, post, text);
    else if (number >= 0)
        describe_count(server, number, of, text);
    else
        pti_text_add(text, "for the server");
    pti_text_add(text, ", since %.1f s", now_s - of->since_s);
}

static void describe_waits(const pti_server *server, pti_text *text) {
    const double now_s = pti_now_s();
    int n_named = 0, n_more = 0;
    for (int p = 0; p <= server->n_slots; p++) {
        if (!pti_hang_is_blocked(server, p))
            continue;
        if (n_named == MOST_NAMED) {
            n_more++;
            continue;
        }
        pti_text_add(text, n_named++ == 0 ? ": " : "; ");
        describe_wait(server, p, now_s, text);
    }
    if (n_more > 0)
        pti_text_add(text, "; and %d more", n_more);
    if (server->n_ended > 0)
        pti_text_add(text, "; %d of %d slots have returned", server->n_ended, server->n_here);
}

static const char *describe_program(const pti_server *server) {
    return server->n_program_waits > 0 ? "; the program waits for the queue and sends nothing" : "";
}

static void end_with(pti_server *server, polytile_status status, const char *what) {
    pti_text text = {0};
    describe_waits(server, &text);
    pti_server_end(server, status, "%s: %s%s%s", server->kernel_name, what,
                   text.failed || text.data == NULL ? "" : text.data, describe_program(server));
    pti_text_free(&text);
}

/* Slots on devices add to counts that are far from the server, whose threads ask for them when
 * nobody seems to go on: each for those of its own device. */

/** The sum of what only grows: it differs when anything has. */
static uint64_t sum_counts(const pti_server_part *part) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < pti_n_counts(part->server); k++)
        sum += part->count[k];
    return sum;
}

/** Ask for the counts of a part. Returns whether any has grown. */
static bool fetch_counts(pti_server_part *part) {
    pti_server *server = part->server;
    const pti_slot_device *device = part->device;
    const size_t n_bytes = (size_t)pti_n_counts(server) * sizeof *part->count;
    const uint64_t before = sum_counts(part);
    part->n_entries_asked = server->n_entries;
    part->asked_s = pti_now_s();
    if (!device->fetch(device->device, part->count, part->ring.count, (int64_t)n_bytes)) {
        pti_server_end(server, POLYTILE_DEVICE, "%s: the device's signals cannot be read",
                       server->kernel_name);
        return false;
    }
    return before != sum_counts(part);
}

/** Return whether the counts of all parts were asked for since the last entry was taken. */
static bool are_counts_known(const pti_server *server) {
    bool are = true;
    for (int k = 0; k < server->n_parts && pti_are_counts_far(server); k++)
        are &= server->part[k].n_entries_asked == server->n_entries;
    return are;
}

static bool does_nobody_go_on(const pti_server *server) {
    return server->phase == PTI_SERVER_RUNS && !server->is_ending &&
           !pti_have_all_returned(server) && !pti_is_memory_used(server) && server->copy == NULL &&
           !may_program_send(server) && are_slots_blocked(server);
}

bool pti_hang_is_still(const pti_server *server) {
    return does_nobody_go_on(server);
}

void pti_hang_describe(const pti_server *server, pti_text *text) {
    describe_waits(server, text);
}

void pti_hang_check(pti_server *server, pti_server_part *part) {
    if (!does_nobody_go_on(server))
        return;
    if (pti_are_counts_far(server) && part->n_entries_asked != server->n_entries)
        fetch_counts(part);
    if (are_counts_known(server) && does_nobody_go_on(server))
        end_with(server, POLYTILE_DEADLOCK, "DEADLOCK, no slot can go on");
}

/** Return whether anybody waits, or looks in vain. A slot on the host may have all that it waits
 * for, and not have run since; that is looked at only when time is up. */
static bool is_anything_awaited(const pti_server *server, bool is_time_up) {
    const bool looks = is_time_up || pti_has_devices(server);
    bool is = server->n_polls > 0 || (server->n_waiting > 0 && !looks);
    for (int p = 0; !is && looks && server->n_waiting > 0 && p < server->n_slots; p++)
        is = pti_hang_is_blocked(server, p);
    return is;
}

/** When time is up. What went on last did so up to a tick after the coarse clock's time. */
static double find_end_s(const pti_server *server) {
    return server->progress_s + pti_coarse_tick_s() + server->timeout_s;
}

/** Return whether the counts of all parts were asked for since time was up: none has grown. */
static bool are_counts_old(const pti_server *server) {
    const double end_s = find_end_s(server);
    bool are = true;
    for (int k = 0; k < server->n_parts && pti_are_counts_far(server); k++)
        are &= server->part[k].asked_s >= end_s;
    return are;
}

double pti_hang_check_time(pti_server *server, pti_server_part *part) {
    char what[64];
    const double now_s = pti_now_s();
    if (!is_anything_awaited(server, now_s >= find_end_s(server)) || server->n_copying > 0)
        server->progress_s = now_s;
    double left_s = find_end_s(server) - now_s;
    if (left_s <= 0 && pti_are_counts_far(server) && fetch_counts(part)) {
        server->progress_s = now_s;
        left_s = server->timeout_s;
    }
    if (left_s > 0 || server->is_ending || !are_counts_old(server))
        return left_s > 0 ? left_s : server->timeout_s;
    snprintf(what, sizeof what, "TIMEOUT, nothing went on for %.1f s", server->timeout_s);
    end_with(server, POLYTILE_TIMEOUT, what);
    return server->timeout_s;
}
