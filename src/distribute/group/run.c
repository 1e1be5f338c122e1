#include "distribute/group/run.h"

#include "base/text.h"
#include "distribute/members/gates.h"
#include "distribute/members/wait.h"
#include "launch/device/completeness.h"
#include "message/program.h"

/* Running all that is recorded, to its end. */

/** Run all that is recorded. */
static void run_supersteps(pti_group *group, const pti_group_last *all) {
    polytile_status stopped = group->begun.stopped;
    int at = group->begun.at;
    if (group->begun.prepared != NULL)
        pti_group_end_team(group, all, group->begun.prepared, &at);
    while (at < group->n_recorded && stopped == POLYTILE_OK)
        stopped = pti_group_run_next(group, all, &at);
    pti_group_open_gates(group);
    if (stopped != POLYTILE_OK)
        pti_group_note_failure(group, PTI_PEER_FAILED);
}

/** Return this process's first failure, whose text is the last error. */
static polytile_status run_recorded(pti_group *group, const pti_group_last *all,
                                    polytile_status status) {
    if (!group->begun.is_begun)
        group->failure = (pti_error){0};
    pti_group_note_failure(group, status);
    run_supersteps(group, all);
    return pti_group_wait_members(group, pti_error_restore(group->ctx, &group->failure));
}

/* The end. */

static void note_operand(pti_group *group, const pti_prepared *prepared, int operand,
                         polytile_status status) {
    pti_group_array *array = &group->array[prepared->position[operand]];
    array->is_written = true;
    if (status != POLYTILE_OK)
        pti_group_note_changed(group, array->array);
    if (status != POLYTILE_OK || pti_completeness_is_overwritten(prepared->instance, operand))
        pti_array_set_complete(array->array, status == POLYTILE_OK);
}

static void note_written_arrays(pti_group *group, polytile_status status) {
    for (int k = 0; k < group->n_recorded; k++) {
        const pti_prepared *prepared = group->recorded[k].prepared;
        for (int a = 0; a < prepared->n_arrays; a++) {
            if (prepared->instance->operand[a].writes)
                note_operand(group, prepared, a, status);
        }
    }
}

/** Name the queue's arrays that failures left incomplete, in place of those that one member
 * named. */
static void name_incomplete(const pti_group *group, polytile_status status) {
    pti_text names = {0};
    if (status == POLYTILE_OK)
        return;
    for (int p = 0; p < group->n_arrays; p++) {
        const polytile_array *array = group->array[p].array;
        if (array != NULL && pti_array_get_state(array) == PTI_ARRAY_HARMED)
            pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_set_incomplete(group->ctx, status, &names);
}

void pti_group_run(pti_group *group) {
    pti_group_run_to_end(group, &(pti_group_last){0});
}

polytile_status pti_group_compare_recorded(pti_group *group, bool *differs) {
    *differs = group->begun.differs;
    if (group->begun.is_begun)
        return pti_error_restore(group->ctx, &group->failure);
    polytile_status status = pti_group_compare(group, NULL, POLYTILE_OK, differs);
    return status == POLYTILE_OK ? pti_group_balance_load(group) : status;
}

/** That ranks differ is known to all of them; who could not compare still goes through what the
 * others do. */
static void run_to_end(pti_group *group, const pti_group_last *last) {
    bool differs;
    polytile_status status = pti_group_compare_recorded(group, &differs);
    if (!differs) {
        status = run_recorded(group, last, status);
        status = group->transport->functions->agree(group->transport, status);
        note_written_arrays(group, status);
        name_incomplete(group, status);
    }
    if (status == POLYTILE_OK)
        group->n_launches += group->n_recorded;
    pti_queue_keep_error(group->queue, status);
    if (status == POLYTILE_OK)
        pti_group_drop_recorded(group);
    else
        pti_group_forget_all(group);
}

void pti_group_run_to_end(pti_group *group, const pti_group_last *last) {
    pti_server *server = group->queue->server;
    if (group->is_given_up) {
        pti_group_drop_recorded(group);
        return;
    }
    pti_program_begin_wait(server);
    run_to_end(group, last);
    pti_program_end_wait(server);
}

polytile_status pti_group_wait(pti_group *group) {
    pti_group_run(group);
    return pti_queue_take_error(group->queue);
}
