#include "partition/schedule/joint.h"

#include <stdlib.h>

static bool grow_list(pti_joint_builder *builder, void **list, int count, int *capacity,
                      size_t element_bytes) {
    if (builder->failed || count < *capacity)
        return !builder->failed;
    int larger = count * 2 + 16;
    void *grown = realloc(*list, (size_t)larger * element_bytes);
    builder->failed = grown == NULL;
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = larger;
    return true;
}

/** Return whether the next operation waits for all of that already. */
static bool is_awaited(const pti_joint_builder *builder, pti_joint_wait wait) {
    const pti_joint_list *list = builder->list;
    bool is = false;
    for (int w = list->n_waits - builder->n_pending; w < list->n_waits && !is; w++)
        is = list->wait[w].member == wait.member &&
             (list->wait[w].array == wait.array || list->wait[w].array < 0);
    return is;
}

void pti_joint_await(pti_joint_builder *builder, pti_joint_wait wait) {
    pti_joint_list *list = builder->list;
    void *grown = list->wait;
    if (is_awaited(builder, wait))
        return;
    bool room = grow_list(builder, &grown, list->n_waits, &builder->wait_capacity, sizeof wait);
    list->wait = grown;
    if (!room)
        return;
    list->wait[list->n_waits++] = wait;
    builder->n_pending++;
}

void pti_joint_add(pti_joint_builder *builder, const pti_joint_op *op, const pti_boxes *boxes) {
    pti_joint_list *list = builder->list;
    void *grown = list->op;
    if (op->kind == PTI_JOINT_WAIT ? builder->n_pending == 0 : boxes->n_boxes == 0)
        return;
    bool room = grow_list(builder, &grown, list->n_ops, &builder->op_capacity, sizeof *op);
    list->op = grown;
    if (!room)
        return;
    pti_joint_op *made = &list->op[list->n_ops++];
    *made = *op;
    made->boxes = (pti_boxes){0};
    made->first_wait = list->n_waits - builder->n_pending;
    made->n_waits = builder->n_pending;
    builder->n_pending = 0;
    if (boxes != NULL)
        pti_boxes_copy(&made->boxes, boxes);
    builder->failed |= made->boxes.failed;
}
