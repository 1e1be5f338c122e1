#include "message/still.h"

#include "message/hang.h"

#include <stdlib.h>
#include <string.h>

/* The first process has heard from all that nobody there can go on, with as many packets got in all
 * as sent. It asks them again. If all say the same, with the same counts, then no packet was under
 * way between the two, and nobody can have gone on since (Mattern, "Algorithms for distributed
 * termination detection", 1987, section 5). */

static void end_with_deadlock(pti_server *server) {
    const pti_server_processes *of = server->processes;
    pti_text text = {0};
    for (int p = 0; p < of->n; p++) {
        const char *waits = of->state[p].waits == NULL ? "" : of->state[p].waits;
        if (waits[0] != '\0')
            pti_text_add(&text, "%s rank %d of MPI: %s", text.length == 0 ? ":" : ";", p, waits);
    }
    pti_server_end(server, POLYTILE_DEADLOCK, "%s: DEADLOCK, no slot can go on%s",
                   server->kernel_name, text.failed || text.data == NULL ? "" : text.data);
    pti_text_free(&text);
}

static bool are_all_still(const pti_server_processes *of) {
    int64_t n_sent = 0, n_got = 0;
    bool are = true;
    for (int p = 0; p < of->n; p++) {
        are &= of->state[p].is_still;
        n_sent += of->state[p].n_sent;
        n_got += of->state[p].n_got;
    }
    return are && n_sent == n_got;
}

/** Ask all again, if it seems that nobody can go on. */
static void probe_if_still(pti_server *server) {
    pti_server_processes *of = server->processes;
    if (of->n_answers >= 0 || !are_all_still(of))
        return;
    of->n_answers = 0;
    of->is_sure = true;
    pti_processes_post_all(server, &(pti_packet_head){.kind = PTI_PROBE_PACKET});
    pti_still_answer(server);
}

/** The first process learns the state of one; waits: owned, or NULL. */
static void note_state(pti_server *server, int process, const pti_packet_head *head, char *waits) {
    pti_process_state *state = &server->processes->state[process];
    free(state->waits);
    *state = (pti_process_state){.is_still = head->is_such != 0,
                                 .n_sent = head->n_sent,
                                 .n_got = head->n_got,
                                 .waits = waits};
}

void pti_still_note_answer(pti_server *server, int process, const pti_packet_head *head,
                           const char *waits) {
    pti_server_processes *of = server->processes;
    const pti_process_state *known = &of->state[process];
    of->is_sure &= head->is_such != 0 && known->is_still && head->n_sent == known->n_sent &&
                   head->n_got == known->n_got;
    note_state(server, process, head, strdup(waits));
    if (++of->n_answers < of->n)
        return;
    of->n_answers = -1;
    if (of->is_sure)
        end_with_deadlock(server);
    else
        probe_if_still(server);
}

void pti_still_note_report(pti_server *server, int process, const pti_packet_head *head) {
    server->processes->is_sure = false;
    note_state(server, process, head, NULL);
    probe_if_still(server);
}

/** Return a packet that says whether nobody can go on here, and how many packets this process sent
 * and got. */
static pti_packet_head find_own_state(const pti_server *server, pti_packet_kind kind,
                                      bool is_still) {
    return (pti_packet_head){.kind = (int32_t)kind,
                             .is_such = is_still,
                             .n_sent = server->processes->n_sent,
                             .n_got = server->processes->n_got};
}

static void note_told(pti_server_processes *of, bool is_still) {
    of->is_told = is_still;
    of->n_sent_told = of->n_sent;
    of->n_got_told = of->n_got;
}

void pti_still_answer(pti_server *server) {
    pti_server_processes *of = server->processes;
    pti_text text = {0};
    const bool is_still = pti_hang_is_still(server);
    const pti_packet_head head = find_own_state(server, PTI_ANSWER_PACKET, is_still);
    if (is_still)
        pti_hang_describe(server, &text);
    const char *waits = text.failed || text.length < 2 ? "" : text.data + 2;
    note_told(of, is_still);
    if (of->own == 0)
        pti_still_note_answer(server, 0, &head, waits);
    else
        pti_processes_post(server, 0, &head, waits, (int64_t)strlen(waits) + 1);
    pti_text_free(&text);
}

void pti_still_note(pti_server *server, bool is_still) {
    pti_server_processes *of = server->processes;
    of->is_told &= is_still;
    if (!is_still)
        return;
    pti_processes_tell_arrivals(server);
    if (of->is_told && of->n_sent_told == of->n_sent && of->n_got_told == of->n_got)
        return;
    const pti_packet_head head = find_own_state(server, PTI_STILL_PACKET, true);
    note_told(of, true);
    if (of->own != 0) {
        pti_processes_post(server, 0, &head, NULL, 0);
        return;
    }
    pti_still_note_report(server, 0, &head);
}
