#include "message/wait.h"

#include "base/clock.h"
#include "message/hang.h"
#include "message/match.h"
#include "message/processes.h"
#include "message/serve.h"
#include "message/still.h"
#include <polytile/message.h>

#include <sched.h>

/** Return whether only threads that launched copy, and judge who can go on: they alone may ask
 * their devices for the counts by which one judges. */
static bool does_launcher_judge(const pti_server *server) {
    return pti_are_counts_far(server);
}

void pti_server_close(pti_server *server) {
    server->phase = PTI_SERVER_OVER;
    for (int k = 0; k < server->n_parts; k++)
        server->part[k].words = NULL;
    pti_match_forget_all(server);
    pti_server_wake(server, server->n_slots);
}

/** See whether anybody can go on; part: see pti_hang_check(). */
static void judge_slots(pti_server *server, pti_server_part *part) {
    if (server->processes != NULL)
        pti_still_note(server, pti_hang_is_still(server));
    else
        pti_hang_check(server, part);
}

/** Close a launch that has no slots here when all others have returned: no part does so. */
static void close_without_parts(pti_server *server) {
    if (server->n_parts == 0 && server->phase == PTI_SERVER_RUNS && pti_have_all_ended(server))
        pti_server_close(server);
}

/** Serve; copy what is to be copied, but what a device copies only the thread that launched there;
 * and see whether anybody can go on. */
static void serve_and_judge(pti_server *server) {
    do
        pti_serve(server);
    while (!does_launcher_judge(server) && pti_match_copy(server, NULL));
    if (!does_launcher_judge(server))
        judge_slots(server, NULL);
    close_without_parts(server);
}

/** Wake who looks for packets. */
static void wake_look(pti_server *server) {
    if (server->processes->looker == PTI_NO_LOOKER)
        pti_server_call_carrier(server);
    else
        pti_server_wake(server, server->processes->looker);
}

/** Have packets leave at once, by this thread if slots may carry; else the program's thread was
 * called. Whoever carries just now takes them, too. */
static void let_packets_leave(pti_server *server) {
    pti_server_processes *of = server->processes;
    if (of == NULL || !of->is_lent || of->first == NULL || of->is_carrying)
        return;
    of->has_slot_moved |= pti_wait_carry(server).has_moved;
    if (server->n_ended == server->n_here)
        pti_server_call_carrier(server);
    else if (of->first != NULL)
        wake_look(server);
}

void pti_wait_serve(pti_server *server) {
    serve_and_judge(server);
    let_packets_leave(server);
}

/* Nobody wakes who waits for slots on a device: it looks again, busily at first. */
static const double busy_s = 50e-6, first_sleep_s = 50e-6, longest_sleep_s = 1e-3;

/* Who waits for a packet is busy for longer than the first sleep takes, twice that with the slack
 * of its clock: else two slots that answer each other may each find the other one asleep, each
 * time. */
static const double busy_for_packets_s = 200e-6, least_bytes_a_s = 2e9;

/** Looks at memory between two at the clock, and looks for packets before other threads may have
 * the core: under load it is gone for long then. */
enum { LOOKS_A_YIELD = 512, CARRIES_A_YIELD = 16, LOOKS_A_SLEEP = 2 };

/** How a thread looks again and again. It asks for the time only when nothing goes on. */
typedef struct pacer {
    double since_s; /* when something last went on; 0: it has not looked at the clock since */
    double sleep_s;
    int n_looks; /* for packets, in vain */
} pacer;

static pacer start_pacer(void) {
    return (pacer){.sleep_s = first_sleep_s};
}

/** Return whether the program's thread takes entries soon: two threads that do would be in each
 * other's way. */
static bool does_program_serve(const pti_server *server) {
    double until_s;
    __atomic_load(&server->program_serves_until_s, &until_s, __ATOMIC_RELAXED);
    return !__atomic_load_n(&server->does_program_wait, __ATOMIC_RELAXED) && pti_now_s() < until_s;
}

/** Return whether an entry or a copy waits for this thread; the mutex need not be locked. */
static bool is_anything_to_do(const pti_server_part *part, const pti_slot_words *words) {
    const pti_server *server = part->server;
    const uint64_t n_taken = PT_LOAD_ACQUIRE(&words->n_taken);
    const pt_entry *next = &part->ring.entry[n_taken & (part->ring.n_entries - 1)];
    return __atomic_load_n(&server->copy, __ATOMIC_RELAXED) != NULL ||
           (PT_LOAD_ACQUIRE(&next->commit) == n_taken + 1 && !does_program_serve(server));
}

/** Return whether less than some time has gone by since anything went on. */
static bool is_busy(pacer *of, double most_s) {
    const double now_s = pti_now_s();
    if (of->since_s == 0)
        of->since_s = now_s;
    return now_s - of->since_s < most_s;
}

/** Let other threads go on from time to time; whether this one is busy still. */
static bool look_again(pacer *of, int n_looks) {
    if (n_looks % LOOKS_A_YIELD != 0)
        return true;
    sched_yield();
    return is_busy(of, busy_s);
}

/** Sleep until somebody wakes this thread, longer from time to time. */
static void sleep_some(pti_server *server, pacer *of, pthread_cond_t *wake) {
    const struct timespec until = pti_time_after(of->sleep_s);
    of->sleep_s = 2 * of->sleep_s < longest_sleep_s ? 2 * of->sleep_s : longest_sleep_s;
    pthread_cond_timedwait(wake, &server->mutex, &until);
}

/** Wait some time for a word that the thread changes which serves slots on a device. */
static void look_at_word(pti_server *server, pacer *of, pthread_cond_t *wake, const uint64_t *word,
                         uint64_t wanted) {
    if (!is_busy(of, busy_s)) {
        sleep_some(server, of, wake);
        return;
    }
    __atomic_store_n(&server->does_program_wait, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&server->mutex);
    for (int k = 1; PT_LOAD_ACQUIRE(word) < wanted && look_again(of, k); k++)
        ;
    pti_server_lock(server);
    __atomic_store_n(&server->does_program_wait, false, __ATOMIC_RELAXED);
}

pti_carrying pti_wait_carry(pti_server *server) {
    pti_server_processes *of = server->processes;
    if (of->number == 0)
        return (pti_carrying){.is_idle = true};
    pti_processes_tell(server);
    of->is_carrying = true;
    pthread_mutex_unlock(&server->mutex);
    const pti_carrying carried = of->carrier.carry(of->carrier.carrier, server);
    pti_server_lock(server);
    of->is_carrying = false;
    of->is_idle = carried.is_idle;
    if (carried.has_failed && !of->has_failed)
        pthread_cond_broadcast(&server->changed);
    of->has_failed = carried.has_failed;
    if (of->carrier.by_any_thread && !of->is_lent)
        pti_server_call_carrier(server);
    return carried;
}

/** How long to sleep before the next look for packets, which wake nobody: an eighth of the time
 * since the last one, so that they are late by little. What is under way, MPI moves by looks. */
static double find_sleep(const pacer *of, const pti_carrying *carried) {
    const double eighth_s = of->since_s == 0 ? 0 : (pti_now_s() - of->since_s) / 8;
    if (!carried->is_idle || eighth_s < first_sleep_s)
        return first_sleep_s;
    return eighth_s < longest_sleep_s ? eighth_s : longest_sleep_s;
}

/** Let slots go on that wait for the mutex or for a core. */
static void yield_to_slots(pti_server *server) {
    pthread_mutex_unlock(&server->mutex);
    sched_yield();
    pti_server_lock(server);
}

/** Return whether what somebody waits for is there, or will never be. */
static bool is_there(const pti_server *server, const uint64_t *word, uint64_t wanted) {
    return server->is_ending || server->phase == PTI_SERVER_OVER || PT_LOAD_ACQUIRE(word) >= wanted;
}

/** Return whether a participant, which had no mutex just now, is to look at its word in place of
 * going to sleep: nobody has woken it then. */
static bool may_go_on(const pti_server *server, int participant) {
    const pti_participant *of = &server->participant[participant];
    return of->word != NULL && is_there(server, of->word, of->wanted);
}

/** How long to look busily for packets: also as long as data take that are under way, at a rate
 * that MPI has within a machine and between two. */
static double find_busy_s(const pti_server_processes *of) {
    return busy_for_packets_s + (double)of->straight_bytes / least_bytes_a_s;
}

/** Carry packets as a participant; if none moves, look again, busily at first. MPI takes what has
 * come by one look, and tells of it at the next: each sleep follows two. Returns whether any has
 * moved. */
static bool carry_or_sleep(pti_server *server, pacer *of, int participant) {
    const pti_carrying carried = pti_wait_carry(server);
    if (carried.has_moved) {
        *of = start_pacer();
        return true;
    }
    of->n_looks++;
    if (is_busy(of, find_busy_s(server->processes))) {
        if (of->n_looks % CARRIES_A_YIELD == 0)
            yield_to_slots(server);
        return false;
    }
    const bool may_sleep = server->processes->first == NULL || !carried.is_idle;
    of->sleep_s = find_sleep(of, &carried);
    if (may_sleep && of->n_looks % LOOKS_A_SLEEP == 0 && !may_go_on(server, participant))
        sleep_some(server, of, &server->participant[participant].wake);
    return false;
}

/* Where any thread may call MPI, the slots of the host carry packets themselves while the program's
 * thread waits: what they send leaves, and what they wait for comes, without another thread. */

static void lend_carrier(pti_server *server) {
    pti_server_processes *of = server->processes;
    of->is_lent = of->carrier.by_any_thread && !pti_has_devices(server);
}

/** Take it back before the program may call MPI again. */
static void take_carrier_back(pti_server *server) {
    pti_server_processes *of = server->processes;
    of->is_lent = false;
    of->looker = PTI_NO_LOOKER;
    while (of->is_carrying)
        pthread_cond_wait(&pti_program_of(server)->wake, &server->mutex);
}

/** What the program's thread does while it waits: carry, but sleep as long as slots do. */
static void carry_as_program(pti_server *server, pacer *of) {
    pti_server_processes *processes = server->processes;
    const bool is_over = server->n_ended == server->n_here;
    if (processes->looker == PTI_NO_LOOKER && !processes->is_carrying &&
        (!processes->has_slot_moved || is_over)) {
        carry_or_sleep(server, of, server->n_slots);
        return;
    }
    processes->has_slot_moved = false;
    of->since_s = 0;
    sleep_some(server, of, &pti_program_of(server)->wake);
}

/** Look for packets as a slot that waits, or leave that to another one. Who has begun to wait last
 * looks: an answer comes soon then, and who has waited for long sleeps for long. */
static void wait_as_slot(pti_server *server, pacer *of, int slot) {
    pti_server_processes *processes = server->processes;
    if (processes == NULL || !processes->is_lent ||
        (processes->looker != slot && processes->looker != PTI_NO_LOOKER)) {
        pthread_cond_wait(&server->participant[slot].wake, &server->mutex);
        return;
    }
    processes->looker = slot;
    if (processes->is_carrying)
        yield_to_slots(server);
    else
        processes->has_slot_moved |= carry_or_sleep(server, of, slot);
}

/** Take the look for packets from whoever has it. */
static void begin_look(pti_server *server, int slot) {
    if (server->processes != NULL && server->processes->is_lent)
        server->processes->looker = slot;
}

/** Leave the look for packets to another thread, at once if other slots wait. */
static void end_look(pti_server *server, int slot) {
    pti_server_processes *of = server->processes;
    if (of == NULL || of->looker != slot)
        return;
    of->looker = PTI_NO_LOOKER;
    if (server->n_waiting == 0)
        return;
    of->has_slot_moved = false;
    pti_server_call_carrier(server);
}

/** Return whether no packet comes any more, and none is to leave, as who carried last has found. */
static bool have_processes_ended(const pti_server_processes *of) {
    const bool is_told = of->has_told_end && of->n_ends >= of->n - 1;
    return !of->is_carrying && (of->has_failed || (of->is_idle && is_told && of->first == NULL));
}

void pti_wait_for_processes(pti_server *server) {
    pacer pace = start_pacer();
    lend_carrier(server);
    while (!have_processes_ended(server->processes)) {
        serve_and_judge(server);
        carry_as_program(server, &pace);
    }
    take_carrier_back(server);
}

/** Wait for a word of the program, whose thread carries meanwhile. */
static void wait_and_carry(pti_server *server, const uint64_t *word, uint64_t wanted) {
    pacer pace = start_pacer();
    lend_carrier(server);
    while (!is_there(server, word, wanted)) {
        carry_as_program(server, &pace);
        serve_and_judge(server);
    }
    take_carrier_back(server);
}

void pti_wait_for_word(pti_server *server, int participant, const uint64_t *word, uint64_t wanted) {
    const bool is_program = participant == server->n_slots;
    pacer pace = start_pacer();
    pti_hang_begin_wait(server, participant, word, wanted);
    pti_wait_serve(server);
    if (is_program && server->processes != NULL)
        wait_and_carry(server, word, wanted);
    if (!is_program && !is_there(server, word, wanted))
        begin_look(server, participant);
    while (!is_there(server, word, wanted)) {
        if (is_program && pti_has_devices(server))
            look_at_word(server, &pace, &server->participant[participant].wake, word, wanted);
        else
            wait_as_slot(server, &pace, participant);
        pti_wait_serve(server);
    }
    pti_hang_end_wait(server, participant);
    end_look(server, participant);
}

int polytile_message_await(pt_slot *slot, const uint64_t *word, uint64_t wanted) {
    pti_server *server = slot->server;
    if (PT_LOAD_ACQUIRE(word) < wanted) {
        pthread_mutex_lock(&server->mutex);
        pti_wait_for_word(server, slot->rank, word, wanted);
        pthread_mutex_unlock(&server->mutex);
    }
    return PT_LOAD_ACQUIRE(slot->ring->ending) != 0;
}

/** Slots add to counts themselves only if they are all on the host. */
static bool is_count(const pti_server *server, const uint64_t *word) {
    const uint64_t *first = server->part->ring.count;
    return word >= first && word <= first + (int64_t)server->n_slots * PT_MAX_SIGNALS;
}

/** Wake who waits for a count that has grown. */
static void wake_waiters(pti_server *server, const uint64_t *word) {
    const int of = (int)((word - server->part->ring.count) / PT_MAX_SIGNALS);
    pti_server_note_progress(server);
    if (of < server->n_slots) {
        pti_server_wake(server, of);
        return;
    }
    for (int p = 0; p < server->n_slots; p++)
        if (server->participant[p].word == word && !pti_hang_is_blocked(server, p))
            pti_server_wake(server, p);
}

void polytile_message_notify(pt_slot *slot, const uint64_t *word) {
    pti_server *server = slot->server;
    pthread_mutex_lock(&server->mutex);
    if (word != NULL && pti_is_one_part(server) && is_count(server, word))
        wake_waiters(server, word);
    else if (word != NULL)
        server->n_polls++;
    pti_wait_serve(server);
    pthread_mutex_unlock(&server->mutex);
}

void pti_server_end_slot(pti_server_part *part, int rank) {
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    pti_hang_note_end(server, rank);
    pti_wait_serve(server);
    pthread_mutex_unlock(&server->mutex);
}

/** Return whether nobody can need this part's thread any more, but for slots of its own. */
static bool is_launch_over(const pti_server *server) {
    return pti_have_all_ended(server) || server->is_ending;
}

static bool is_part_over(const pti_server_part *part) {
    return is_launch_over(part->server) && part->n_ended == part->n_slots &&
           !pti_is_memory_used(part->server);
}

void pti_server_wait(pti_server_part *part) {
    pti_server *server = part->server;
    pthread_mutex_lock(&server->mutex);
    while (!is_part_over(part)) {
        pti_wait_serve(server);
        const struct timespec until = pti_time_after(pti_hang_check_time(server, part));
        if (!is_part_over(part))
            pthread_cond_timedwait(&server->changed, &server->mutex, &until);
    }
    pthread_mutex_unlock(&server->mutex);
}

/** Serve slots on a device once. Returns whether anything went on. */
static bool attend_once(pti_server_part *part) {
    pti_server *server = part->server;
    const uint64_t n_taken = part->n_taken;
    bool has_copied = false;
    pti_serve(server);
    while (pti_match_copy(server, part)) {
        has_copied = true;
        pti_serve(server);
    }
    judge_slots(server, part);
    return has_copied || part->n_taken != n_taken;
}

/** Wait without the mutex until there is something to do, or for so long. */
static void look_at_ring(const pti_server_part *part, pacer *of, const pti_slot_words *words) {
    pthread_mutex_unlock(&part->server->mutex);
    for (int k = 1; !is_anything_to_do(part, words) && look_again(of, k); k++)
        ;
    pti_server_lock(part->server);
}

/** Ask the device without the mutex. Slots that have returned are served as long as slots of other
 * parts may receive what they have sent. */
static bool have_slots_ended(const pti_server_part *part) {
    pti_server *server = part->server;
    const pti_slot_device *device = part->device;
    pthread_mutex_unlock(&server->mutex);
    const pti_slots_state state = device->get_state(device->device);
    pthread_mutex_lock(&server->mutex);
    return state == PTI_SLOTS_FAILED ||
           (state == PTI_SLOTS_ENDED && (pti_is_one_part(server) || is_launch_over(server)));
}

/** What goes on without a pause may be looks in vain: they are counted so often. */
enum { ATTENDS_A_CHECK = 64 };

void pti_server_attend(pti_server_part *part) {
    pti_server *server = part->server;
    const pti_slot_words *words = part->words;
    pacer pace = start_pacer();
    bool has_ended = false;
    pthread_mutex_lock(&server->mutex);
    for (uint64_t k = 0; !has_ended; k++) {
        const bool has_moved = attend_once(part) || server->n_copying > 0;
        if (has_moved)
            pace = start_pacer();
        if (!has_moved || k % ATTENDS_A_CHECK == 0)
            pti_hang_check_time(server, part);
        const bool is_over = is_launch_over(server);
        if (!is_over && (has_moved || is_busy(&pace, busy_s))) {
            look_at_ring(part, &pace, words);
            continue;
        }
        if (!is_over || !is_busy(&pace, busy_s))
            sleep_some(server, &pace, &server->changed);
        has_ended = have_slots_ended(part);
    }
    pti_serve(server);
    pthread_mutex_unlock(&server->mutex);
}
