#include "partition/schedule/schedule.h"

#include "access/set/boxes.h"

#include <stdlib.h>
#include <string.h>

/** A copy of a list, at least one byte long; *failed where memory runs out. */
static void *copy_list(const void *list, int64_t n, size_t size, bool *failed) {
    if (list == NULL)
        return NULL;
    void *copy = malloc((size_t)n * size + 1);
    *failed |= copy == NULL;
    if (copy != NULL)
        memcpy(copy, list, (size_t)n * size);
    return copy;
}

static void copy_launches(const pti_schedule *schedule, pti_schedule *copy, bool *failed) {
    int n_operands = 0;
    for (int l = 0; l < schedule->n_launches; l++)
        n_operands += schedule->launch[l].call.instance->n_operands;
    copy->launch =
        copy_list(schedule->launch, schedule->n_launches, sizeof *schedule->launch, failed);
    copy->launch_array =
        copy_list(schedule->launch_array, n_operands, sizeof *schedule->launch_array, failed);
    for (int l = 0; l < schedule->n_launches && !*failed; l++)
        copy->launch[l].call.array =
            copy->launch_array + (schedule->launch[l].call.array - schedule->launch_array);
}

/** Copies of sets; n: how many. NULL where there are none, or memory runs out. */
static pti_boxes *copy_sets(const pti_boxes *sets, int n, bool *failed) {
    pti_boxes *copies = sets == NULL ? NULL : calloc((size_t)n + 1, sizeof *copies);
    *failed |= sets != NULL && copies == NULL;
    for (int k = 0; copies != NULL && k < n; k++) {
        pti_boxes_copy(&copies[k], &sets[k]);
        *failed |= copies[k].failed;
    }
    return copies;
}

static pti_holding *copy_holdings(const pti_holding *holdings, int n, int *n_copied, bool *failed) {
    pti_holding *copies = calloc((size_t)n + 1, sizeof *copies);
    *failed |= copies == NULL;
    for (int k = 0; k < n && copies != NULL; k++) {
        copies[k].placement = holdings[k].placement;
        pti_boxes_copy(&copies[k].valid, &holdings[k].valid);
        pti_boxes_copy(&copies[k].dirty, &holdings[k].dirty);
        *failed |= copies[k].valid.failed || copies[k].dirty.failed;
        *n_copied = k + 1;
    }
    return copies;
}

static pti_invalidation *copy_invalidations(const pti_schedule *schedule, int *n_copied,
                                            bool *failed) {
    pti_invalidation *copies = schedule->n_invalidations == 0
                                   ? NULL
                                   : calloc((size_t)schedule->n_invalidations, sizeof *copies);
    *failed |= schedule->n_invalidations > 0 && copies == NULL;
    for (int k = 0; k < schedule->n_invalidations && copies != NULL; k++) {
        copies[k] = (pti_invalidation){.operand = schedule->invalidation[k].operand,
                                       .first_op = schedule->invalidation[k].first_op};
        pti_boxes_copy(&copies[k].boxes, &schedule->invalidation[k].boxes);
        *failed |= copies[k].boxes.failed;
        *n_copied = k + 1;
    }
    return copies;
}

static void copy_lists(const pti_schedule *schedule, pti_schedule *copy, bool *failed) {
    int n_arrays = schedule->instance->n_operands;
    copy->dropped = copy_list(schedule->dropped, n_arrays, sizeof *schedule->dropped, failed);
    copy->superblock = copy_list(schedule->superblock, schedule->n_superblocks,
                                 sizeof *schedule->superblock, failed);
    copy->placement =
        copy_list(schedule->placement, schedule->n_placements, sizeof *schedule->placement, failed);
    copy->launch_placement = copy_list(schedule->launch_placement, schedule->n_launch_placements,
                                       sizeof *schedule->launch_placement, failed);
    copy->op = copy_list(schedule->op, schedule->n_ops, sizeof *schedule->op, failed);
    copy->wait = copy_list(schedule->wait, schedule->n_waits, sizeof *schedule->wait, failed);
    copy->tiles = copy_list(schedule->tiles, schedule->n_tiles, sizeof *schedule->tiles, failed);
    *failed |= !pti_columns_copy(&schedule->columns, schedule->n_launches, &copy->columns);
    *failed |= !pti_period_copy(&schedule->period, n_arrays, &copy->period);
}

pti_schedule *pti_schedule_copy(const pti_schedule *schedule) {
    bool failed = false;
    pti_schedule *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *schedule;
    copy->n_before = copy->n_after = copy->n_invalidations = 0;
    copy_launches(schedule, copy, &failed);
    copy->before = copy_holdings(schedule->before, schedule->n_before, &copy->n_before, &failed);
    copy->after = copy_holdings(schedule->after, schedule->n_after, &copy->n_after, &failed);
    copy->unwritten = copy_sets(schedule->unwritten, schedule->instance->n_operands, &failed);
    copy->invalidation = copy_invalidations(schedule, &copy->n_invalidations, &failed);
    copy_lists(schedule, copy, &failed);
    if (!failed)
        return copy;
    pti_schedule_free(copy);
    return NULL;
}
