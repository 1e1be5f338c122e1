#include "distribute/members/gates.h"

#include "base/clock.h"
#include "distribute/members/peers.h"
#include "launch/device/trace.h"

/* Supersteps that are handed out while the one before them runs. Where their lists wait, each
 * member gets a gate, which is opened once all members have come to it. So nobody waits for the
 * program's thread to hand out launches. */

static bool is_combined(const pti_prepared_superstep *prepared, const pti_joint_op *op) {
    return prepared->parts.work[0].home[op->launch].splits;
}

/** Return whether an operation is one for members' queues, and leaves nothing to the program's
 * thread. */
static bool is_for_queues(const pti_group *group, const pti_prepared_superstep *prepared,
                          const pti_joint_op *op) {
    switch (op->kind) {
    case PTI_JOINT_RUN:
        return !is_combined(prepared, op);
    case PTI_JOINT_COPY:
        return group->is_shared[op->array];
    case PTI_JOINT_FETCH:
    case PTI_JOINT_FORGET:
    case PTI_JOINT_PULL:
    case PTI_JOINT_WAIT:
        return true;
    default:
        return false;
    }
}

bool pti_group_may_run_ahead(const pti_group *group, const pti_prepared_superstep *prepared) {
    bool may = pti_transport_is_alone(group->transport) && group->transport->shares_memory &&
               !prepared->runs_once && !pti_group_has_panels(group, prepared);
    for (int k = 0; k < prepared->list.n_ops && may; k++)
        may = is_for_queues(group, prepared, &prepared->list.op[k]);
    return may;
}

/** Return whether members have nothing queued behind the newest gate. */
static bool stand_at_gate(const pti_group *group) {
    bool stand = group->n_gates > 0;
    for (int m = 0; m < group->transport->n_local && stand; m++)
        stand = pti_queue_stands_at_gate(group->member[m]);
    return stand;
}

/** Those before the gate are done, and what is behind it must not run: it is passed. */
static void fail_members(pti_group *group) {
    for (int m = 0; m < group->transport->n_local; m++)
        if (pti_queue_has_failed(group->member[m]))
            pti_group_note_failure(group, polytile_queue_wait(group->member[m]));
    if (group->failure.status == POLYTILE_OK)
        return;
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_keep_error(group->member[m], pti_error_restore(group->ctx, &group->failure));
}

static void open_oldest(pti_group *group) {
    const double start_s = pti_now_s();
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_wait_at_gate(group->member[m]);
    fail_members(group);
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_open_gate(group->member[m]);
    group->n_gates--;
    pti_trace_program(group->member[0]->device, "wait", "all", start_s);
}

void pti_group_set_gates(pti_group *group) {
    if (stand_at_gate(group))
        return;
    if (group->n_gates == PTI_MOST_GATES)
        open_oldest(group);
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_set_gate(group->member[m]);
    group->n_gates++;
}

void pti_group_open_used_gates(pti_group *group) {
    while (group->n_gates > 1 || (group->n_gates == 1 && !stand_at_gate(group)))
        open_oldest(group);
}

void pti_group_open_gates(pti_group *group) {
    while (group->n_gates > 0)
        open_oldest(group);
}
