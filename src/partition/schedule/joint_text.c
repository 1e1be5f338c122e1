#include "partition/schedule/joint.h"

#include "access/set/box_text.h"

/** What stands between the members of a transfer. */
static const char *word_before_peer(pti_joint_kind kind) {
    return kind == PTI_JOINT_SEND ? "to" : "from";
}

static void write_boxes(pti_text *text, const pti_boxes *boxes) {
    for (int b = 0; b < boxes->n_boxes; b++) {
        pti_text_add(text, b == 0 ? " " : ", ");
        pti_box_write(text, &boxes->box[b]);
    }
}

static void write_wait(pti_text *text, const pti_joint_schedule *schedule,
                       const pti_joint_wait *wait) {
    pti_text_add(text, " what member %d does", wait->member);
    if (wait->array >= 0)
        pti_text_add(text, " with %s", schedule->array[wait->array].name);
}

static void write_subject(pti_text *text, const pti_joint_schedule *schedule,
                          const pti_joint_op *op) {
    if (op->kind == PTI_JOINT_RUN)
        pti_text_add(text, " %d, %s", op->launch,
                     schedule->launch[op->launch].instance->kernel_name);
    else if (op->array >= 0)
        pti_text_add(text, " %s", schedule->array[op->array].name);
}

void pti_joint_write_op(pti_text *text, const pti_joint_schedule *schedule,
                        const pti_joint_list *list, int number) {
    const pti_joint_op *op = &list->op[number];
    pti_text_add(text, "%s", pti_joint_word(op->kind));
    write_subject(text, schedule, op);
    write_boxes(text, &op->boxes);
    if (op->peer >= 0)
        pti_text_add(text, " %s member %d", word_before_peer(op->kind), op->peer);
    if (op->member >= 0)
        pti_text_add(text, " by member %d", op->member);
    for (int w = 0; w < op->n_waits; w++) {
        pti_text_add(text, "%s", w == 0 ? ", after" : " and");
        write_wait(text, schedule, &list->wait[op->first_wait + w]);
    }
}

void pti_joint_write(pti_text *text, const pti_joint_schedule *schedule) {
    for (int k = 0; k < schedule->n_lists; k++) {
        const pti_joint_list *list = &schedule->list[k];
        pti_text_add(text, "members %d to %d\n", list->first, list->first + list->n_local - 1);
        for (int o = 0; o < list->n_ops; o++) {
            pti_text_add(text, "  %d: ", o);
            pti_joint_write_op(text, schedule, list, o);
            pti_text_add(text, "\n");
        }
    }
}
