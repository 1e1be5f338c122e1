#include "base/clock.h"
#include "distribute/team/state.h"
#include "launch/device/trace.h"

/* Supersteps that are handed out while the one before them runs. Where their lists wait, each
 * member gets a gate, which is opened once all members have come to it. So nobody waits for the
 * program's thread to hand out launches. */

static bool is_combined(const pti_prepared_superstep *prepared, const pti_joint_op *op) {
    return prepared->parts.work[0].home[op->launch].splits;
}

/** Whether an operation is one for members' queues, and leaves nothing to the program's thread. */
static bool is_for_queues(const pti_team *team, const pti_prepared_superstep *prepared,
                          const pti_joint_op *op) {
    switch (op->kind) {
    case PTI_JOINT_RUN:
        return !is_combined(prepared, op);
    case PTI_JOINT_COPY:
        return team->is_shared[op->array];
    case PTI_JOINT_FETCH:
    case PTI_JOINT_FORGET:
    case PTI_JOINT_WAIT:
        return true;
    default:
        return false;
    }
}

bool pti_team_may_run_ahead(const pti_team *team, const pti_prepared_superstep *prepared) {
    bool may = pti_transport_is_alone(team->transport) && team->transport->shares_memory &&
               !prepared->runs_once && !pti_team_has_panels(team, prepared);
    for (int k = 0; k < prepared->list.n_ops && may; k++)
        may = is_for_queues(team, prepared, &prepared->list.op[k]);
    return may;
}

/** Whether members have nothing queued behind the newest gate. */
static bool stand_at_gate(const pti_team *team) {
    bool stand = team->n_gates > 0;
    for (int m = 0; m < team->transport->n_local && stand; m++)
        stand = pti_queue_stands_at_gate(team->member[m]);
    return stand;
}

/** Those before the gate are done, and what is behind it must not run: it is passed. */
static void fail_members(pti_team *team) {
    for (int m = 0; m < team->transport->n_local; m++)
        if (pti_queue_has_failed(team->member[m]))
            pti_team_note_failure(team, polytile_queue_wait(team->member[m]));
    if (team->failure.status == POLYTILE_OK)
        return;
    for (int m = 0; m < team->transport->n_local; m++)
        pti_queue_keep_error(team->member[m], pti_error_restore(team->ctx, &team->failure));
}

static void open_oldest(pti_team *team) {
    const double start_s = pti_now_s();
    for (int m = 0; m < team->transport->n_local; m++)
        pti_queue_wait_at_gate(team->member[m]);
    fail_members(team);
    for (int m = 0; m < team->transport->n_local; m++)
        pti_queue_open_gate(team->member[m]);
    team->n_gates--;
    pti_trace_program(team->member[0]->device, "wait", "all", start_s);
}

void pti_team_set_gates(pti_team *team) {
    if (stand_at_gate(team))
        return;
    if (team->n_gates == PTI_MOST_GATES)
        open_oldest(team);
    for (int m = 0; m < team->transport->n_local; m++)
        pti_queue_set_gate(team->member[m]);
    team->n_gates++;
}

void pti_team_open_used_gates(pti_team *team) {
    while (team->n_gates > 1 || (team->n_gates == 1 && !stand_at_gate(team)))
        open_oldest(team);
}

void pti_team_open_gates(pti_team *team) {
    while (team->n_gates > 0)
        open_oldest(team);
}
