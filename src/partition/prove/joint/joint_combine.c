#include "partition/prove/joint/joint_replay.h"

/** All members of a process, which has just come to its operation. */
static bool check_members(const pti_joint_replay *replay, int number) {
    const pti_joint_list *list = &replay->schedule->list[number];
    const pti_joint_place at = {list, &list->op[replay->next[number] - 1]};
    for (int q = list->first; q < list->first + list->n_local; q++) {
        if (pti_joint_cell_of(replay, at.op->array, q)->reduces)
            return pti_joint_reject(replay, at, NULL, "does not wait for all threads that reduce");
        if (!pti_joint_may_write(replay, at, q))
            return false;
    }
    return true;
}

static bool check_lists(const pti_joint_replay *replay) {
    bool holds = true;
    for (int k = 0; holds && k < replay->schedule->n_lists; k++)
        holds = check_members(replay, k);
    return holds;
}

/** Return whether all operands of the array start from the identity. */
static bool is_fresh(const pti_call *call, int array) {
    bool is = true;
    for (int o = 0; o < call->instance->n_operands; o++)
        is &= call->array[o] != array || !call->instance->operand[o].writes ||
              call->instance->operand[o].fresh;
    return is;
}

static void add_all_written(pti_joint_replay *replay, const pti_call *call, int array,
                            pti_boxes *written) {
    pti_boxes threads = {0};
    pti_boxes_assign(&threads, &call->instance->threads);
    for (int o = 0; o < call->instance->n_operands; o++)
        if (call->array[o] == array && call->instance->operand[o].writes)
            pti_joint_add_touched(replay, call, o, &threads, PTI_JOINT_MOVES, written);
    replay->failed |= threads.failed;
    pti_boxes_free(&threads);
}

/** All results are combined, onto the newest of what was there before, or in place of it. */
static bool check_combined_boxes(pti_joint_replay *replay, pti_joint_place at,
                                 const pti_boxes *written) {
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    const polytile_domain *box = pti_boxes_find_uncovered(&at.op->boxes, written);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "threads reduce into it, and it is not combined");
    box = is_fresh(call, at.op->array)
              ? pti_boxes_find_uncovered(written, &at.op->boxes)
              : pti_boxes_find_uncovered(pti_joint_on_host(replay, at.op->array, 0), &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "what it held before is lost");
    box = pti_boxes_find_meeting(&replay->combined[at.op->array], &at.op->boxes);
    if (box != NULL)
        return pti_joint_reject(replay, at, box, "is combined twice");
    return true;
}

bool pti_joint_combine(pti_joint_replay *replay, pti_joint_place at) {
    const pti_call *call = &replay->schedule->launch[at.op->launch];
    pti_boxes written = {0};
    add_all_written(replay, call, at.op->array, &written);
    bool holds = check_lists(replay) && check_combined_boxes(replay, at, &written);
    replay->failed |= written.failed;
    pti_boxes_free(&written);
    if (holds)
        pti_boxes_unite(&replay->combined[at.op->array], &at.op->boxes, pti_boxes_gather);
    return holds;
}
