#include "partition/prove/joint/joint_replay.h"

#include "partition/prove/shape/shape.h"

bool pti_joint_write_flaw(pti_text *why, const pti_joint_schedule *schedule, pti_joint_place at,
                          const polytile_domain *box, const char *reason) {
    int number = (int)(at.op - at.list->op);
    pti_text_add(why, "operation %d", number);
    if (schedule->n_lists > 1)
        pti_text_add(why, " of the process with member %d", at.list->first);
    pti_text_add(why, " (");
    pti_joint_write_op(why, schedule, at.list, number);
    pti_text_add(why, ")");
    if (box != NULL) {
        pti_text_add(why, ", ");
        pti_box_write(why, box);
    }
    return PTI_REJECT(why, ": %s", reason);
}

static bool is_between(int number, int first, int end) {
    return number >= first && number < end;
}

static bool is_member_right(const pti_joint_list *list, const pti_joint_op *op) {
    return op->kind == PTI_JOINT_COMBINE || op->kind == PTI_JOINT_WAIT
               ? op->member == -1
               : pti_joint_is_local(list, op->member);
}

static bool is_peer_right(const pti_joint_schedule *schedule, const pti_joint_list *list,
                          const pti_joint_op *op) {
    switch (op->kind) {
    case PTI_JOINT_SEND:
    case PTI_JOINT_RECEIVE:
        return is_between(op->peer, 0, schedule->n_members) && !pti_joint_is_local(list, op->peer);
    case PTI_JOINT_COPY:
    case PTI_JOINT_PULL:
        return pti_joint_is_local(list, op->peer) && op->peer != op->member;
    default:
        return op->peer == -1;
    }
}

static bool is_launch_right(const pti_joint_schedule *schedule, const pti_joint_op *op) {
    bool is_of_launch = op->kind == PTI_JOINT_RUN || op->kind == PTI_JOINT_COMBINE;
    return is_between(op->launch, 0, schedule->n_launches + !is_of_launch);
}

static bool is_array_right(const pti_joint_schedule *schedule, const pti_joint_op *op) {
    bool has_none = op->kind == PTI_JOINT_RUN || op->kind == PTI_JOINT_WAIT;
    return has_none ? op->array == -1 : is_between(op->array, 0, schedule->n_arrays);
}

static bool are_waits_right(const pti_joint_schedule *schedule, const pti_joint_list *list,
                            const pti_joint_op *op) {
    bool are =
        op->first_wait >= 0 && op->n_waits >= 0 && op->first_wait <= list->n_waits - op->n_waits;
    for (int w = 0; are && w < op->n_waits; w++) {
        const pti_joint_wait *wait = &list->wait[op->first_wait + w];
        are = pti_joint_is_local(list, wait->member) &&
              is_between(wait->array, -1, schedule->n_arrays);
    }
    return are;
}

/** Return whether boxes are of a domain, and disjoint. */
static bool are_boxes_right(const pti_boxes *boxes, const polytile_domain *domain) {
    bool are = true;
    for (int b = 0; are && b < boxes->n_boxes; b++) {
        const pti_boxes before = {.box = boxes->box, .n_boxes = b};
        are = pti_check_box_inside(&boxes->box[b], domain) &&
              !pti_boxes_meet(&before, &boxes->box[b]);
    }
    return are;
}

static bool check_op(const pti_joint_schedule *schedule, const pti_joint_list *list, int number,
                     pti_text *why) {
    const pti_joint_op *op = &list->op[number];
    if (!is_between((int)op->kind, PTI_JOINT_RUN, PTI_JOINT_WAIT + 1) ||
        !is_member_right(list, op) || !is_peer_right(schedule, list, op) ||
        !is_launch_right(schedule, op) || !is_array_right(schedule, op) ||
        !are_waits_right(schedule, list, op))
        return PTI_REJECT(why,
                          "operation %d of the process with member %d has a number that is "
                          "out of range",
                          number, list->first);
    const polytile_domain *domain = op->kind == PTI_JOINT_RUN
                                        ? &schedule->launch[op->launch].instance->threads
                                        : &schedule->array[op->array < 0 ? 0 : op->array].domain;
    if ((op->boxes.n_boxes == 0) != (op->kind == PTI_JOINT_WAIT) ||
        !are_boxes_right(&op->boxes, domain))
        return pti_joint_write_flaw(why, schedule, (pti_joint_place){list, op}, NULL,
                                    "its boxes are not disjoint boxes inside");
    return true;
}

/** The list that has operations of a member. */
static const pti_joint_list *list_of(const pti_joint_schedule *schedule, int member) {
    const pti_joint_list *list = schedule->list;
    while (!pti_joint_is_local(list, member))
        list++;
    return list;
}

/** Return whether an operation before one sends some of the same message, which has not left
 * then. */
static bool is_sent_before(const pti_joint_schedule *schedule, const pti_joint_list *list,
                           int number) {
    const pti_joint_op *op = &list->op[number];
    bool is = false;
    for (int o = 0; o < number && !is; o++)
        is = list->op[o].kind == PTI_JOINT_SEND && list->op[o].launch == op->launch &&
             list_of(schedule, list->op[o].peer) == list_of(schedule, op->peer);
    return is;
}

/** Nothing else stands between the operations that send one message. */
static bool check_sends(const pti_joint_schedule *schedule, const pti_joint_list *list,
                        pti_text *why) {
    for (int o = 1; o < list->n_ops; o++) {
        const bool begins =
            list->op[o].kind == PTI_JOINT_SEND && list->op[o - 1].kind != PTI_JOINT_SEND;
        if (begins && is_sent_before(schedule, list, o))
            return pti_joint_write_flaw(
                why, schedule, (pti_joint_place){list, &list->op[o]}, NULL,
                "sends some of a message of which an operation that stands apart sends the rest");
    }
    return true;
}

static bool check_list(const pti_joint_schedule *schedule, int number, pti_text *why) {
    const pti_joint_list *list = &schedule->list[number];
    int first = number == 0 ? 0 : list[-1].first + list[-1].n_local;
    if (list->first != first || list->n_local < 1 || list->n_local > schedule->n_members - first)
        return PTI_REJECT(why, "process %d does not have the members from %d on", number, first);
    for (int o = 0; o < list->n_ops; o++)
        if (!check_op(schedule, list, o, why))
            return false;
    return true;
}

/** Members with the same host memory are of one process: the first of them has its own. */
static bool check_memory(const pti_joint_schedule *schedule, pti_text *why) {
    for (int c = 0; c < schedule->n_arrays * schedule->n_members; c++) {
        const int array = c / schedule->n_members, member = c % schedule->n_members;
        const int *memory = &schedule->memory[array * schedule->n_members];
        const int with = memory[member];
        if (with < 0 || with > member || memory[with] != with ||
            list_of(schedule, with) != list_of(schedule, member))
            return PTI_REJECT(why, "%s: member %d has the memory of a member of another process",
                              schedule->array[array].name, member);
    }
    return true;
}

static bool check_holding(const pti_joint_schedule *schedule, const pti_joint_holding *holding,
                          int cell, pti_text *why) {
    const pti_joint_array *array = &schedule->array[cell / schedule->n_members];
    if (!are_boxes_right(&holding->valid, &array->domain) ||
        !are_boxes_right(&holding->loose, &array->domain) ||
        !are_boxes_right(&holding->reading, &array->domain))
        return PTI_REJECT(why, "%s: what member %d holds is not disjoint boxes inside the array",
                          array->name, cell % schedule->n_members);
    return true;
}

/** Operands of launches are arrays of as many dimensions; scratch is none. */
static bool check_launches(const pti_joint_schedule *schedule, pti_text *why) {
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_call *call = &schedule->launch[l];
        for (int o = 0; o < call->instance->n_operands; o++)
            if (!call->instance->operand[o].is_scratch &&
                (!is_between(call->array[o], 0, schedule->n_arrays) ||
                 schedule->array[call->array[o]].domain.n_dims !=
                     call->instance->operand[o].domain.n_dims))
                return PTI_REJECT(why, "launch %d: %s is array %d, which there is not", l,
                                  call->instance->operand[o].name, call->array[o]);
    }
    return true;
}

bool pti_joint_check_shape(const pti_joint_schedule *schedule, pti_text *why) {
    int n_members = 0;
    if (!check_launches(schedule, why))
        return false;
    for (int k = 0; k < schedule->n_lists; k++) {
        if (!check_list(schedule, k, why))
            return false;
        n_members += schedule->list[k].n_local;
    }
    if (n_members != schedule->n_members)
        return PTI_REJECT(why, "the processes have %d of %d members", n_members,
                          schedule->n_members);
    if (!check_memory(schedule, why))
        return false;
    for (int k = 0; k < schedule->n_lists; k++)
        if (!check_sends(schedule, &schedule->list[k], why))
            return false;
    for (int c = 0; c < schedule->n_arrays * schedule->n_members; c++)
        if (!check_holding(schedule, &schedule->before[c], c, why) ||
            !check_holding(schedule, &schedule->after[c], c, why))
            return false;
    return true;
}
