#include "partition/schedule/joint.h"

#include <stdlib.h>

static const char *const words[] = {
#define JOINT_WORD(name, word) word,
    PTI_JOINT_OPS(JOINT_WORD)
#undef JOINT_WORD
};

const char *pti_joint_word(pti_joint_kind kind) {
    return words[kind];
}

static bool allocate_joint_lists(pti_joint_schedule *schedule) {
    size_t n_cells = (size_t)schedule->n_arrays * (size_t)schedule->n_members + 1;
    schedule->array = calloc((size_t)schedule->n_arrays + 1, sizeof *schedule->array);
    schedule->memory = calloc(n_cells, sizeof *schedule->memory);
    schedule->keeps = calloc((size_t)schedule->n_members + 1, sizeof *schedule->keeps);
    schedule->launch = calloc((size_t)schedule->n_launches + 1, sizeof *schedule->launch);
    schedule->before = calloc(n_cells, sizeof *schedule->before);
    schedule->after = calloc(n_cells, sizeof *schedule->after);
    schedule->list = calloc((size_t)schedule->n_lists + 1, sizeof *schedule->list);
    return schedule->array != NULL && schedule->memory != NULL && schedule->keeps != NULL &&
           schedule->launch != NULL && schedule->before != NULL && schedule->after != NULL &&
           schedule->list != NULL;
}

pti_joint_schedule *pti_joint_create(int n_members, int n_arrays, int n_launches, int n_lists) {
    pti_joint_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL)
        return NULL;
    schedule->n_members = n_members;
    schedule->n_arrays = n_arrays;
    schedule->n_launches = n_launches;
    schedule->n_lists = n_lists;
    if (!allocate_joint_lists(schedule)) {
        pti_joint_free(schedule);
        return NULL;
    }
    for (int k = 0; k < n_arrays * n_members; k++)
        schedule->memory[k] = k % n_members;
    return schedule;
}

static void free_joint_holdings(pti_joint_holding *holding, int n) {
    for (int k = 0; holding != NULL && k < n; k++) {
        pti_boxes_free(&holding[k].valid);
        pti_boxes_free(&holding[k].loose);
        pti_boxes_free(&holding[k].reading);
    }
    free(holding);
}

void pti_joint_list_free(pti_joint_list *list) {
    for (int k = 0; k < list->n_ops; k++)
        pti_boxes_free(&list->op[k].boxes);
    free(list->op);
    free(list->wait);
}

static bool wait_alike(const pti_joint_list *list, const pti_joint_op *op,
                       const pti_joint_list *other, const pti_joint_op *with) {
    bool alike = op->n_waits == with->n_waits;
    for (int w = 0; w < op->n_waits && alike; w++) {
        const pti_joint_wait *one = &list->wait[op->first_wait + w],
                             *two = &other->wait[with->first_wait + w];
        alike = one->member == two->member && one->array == two->array;
    }
    return alike;
}

static bool are_ops_alike(const pti_joint_op *one, const pti_joint_op *two) {
    return one->kind == two->kind && one->member == two->member && one->peer == two->peer &&
           one->launch == two->launch && one->array == two->array &&
           pti_boxes_are_alike(&one->boxes, &two->boxes);
}

bool pti_joint_list_ends_alike(const pti_joint_list *list, int first_op,
                               const pti_joint_list *other) {
    bool alike = list->n_ops - first_op == other->n_ops;
    for (int k = 0; k < other->n_ops && alike; k++) {
        const pti_joint_op *one = &list->op[first_op + k], *two = &other->op[k];
        alike = are_ops_alike(one, two) && wait_alike(list, one, other, two);
    }
    return alike;
}

void pti_joint_free(pti_joint_schedule *schedule) {
    if (schedule == NULL)
        return;
    int n_cells = schedule->n_arrays * schedule->n_members;
    for (int k = 0; schedule->list != NULL && k < schedule->n_lists; k++)
        pti_joint_list_free(&schedule->list[k]);
    free_joint_holdings(schedule->before, n_cells);
    free_joint_holdings(schedule->after, n_cells);
    free(schedule->list);
    free(schedule->launch);
    free(schedule->keeps);
    free(schedule->memory);
    free(schedule->array);
    free(schedule);
}
