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

static void copy_launches(const pti_schedule *of, pti_schedule *copy, bool *failed) {
    int n_operands = 0;
    for (int l = 0; l < of->n_launches; l++)
        n_operands += of->launch[l].call.instance->n_operands;
    copy->launch = copy_list(of->launch, of->n_launches, sizeof *of->launch, failed);
    copy->launch_array = copy_list(of->launch_array, n_operands, sizeof *of->launch_array, failed);
    for (int l = 0; l < of->n_launches && !*failed; l++)
        copy->launch[l].call.array =
            copy->launch_array + (of->launch[l].call.array - of->launch_array);
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

static pti_invalidation *copy_invalidations(const pti_schedule *of, int *n_copied, bool *failed) {
    pti_invalidation *copies =
        of->n_invalidations == 0 ? NULL : calloc((size_t)of->n_invalidations, sizeof *copies);
    *failed |= of->n_invalidations > 0 && copies == NULL;
    for (int k = 0; k < of->n_invalidations && copies != NULL; k++) {
        copies[k] = (pti_invalidation){.operand = of->invalidation[k].operand,
                                       .first_op = of->invalidation[k].first_op};
        pti_boxes_copy(&copies[k].boxes, &of->invalidation[k].boxes);
        *failed |= copies[k].boxes.failed;
        *n_copied = k + 1;
    }
    return copies;
}

static void copy_lists(const pti_schedule *of, pti_schedule *copy, bool *failed) {
    int n_arrays = of->instance->n_operands;
    copy->dropped = copy_list(of->dropped, n_arrays, sizeof *of->dropped, failed);
    copy->superblock = copy_list(of->superblock, of->n_superblocks, sizeof *of->superblock, failed);
    copy->placement = copy_list(of->placement, of->n_placements, sizeof *of->placement, failed);
    copy->launch_placement = copy_list(of->launch_placement, of->n_launch_placements,
                                       sizeof *of->launch_placement, failed);
    copy->op = copy_list(of->op, of->n_ops, sizeof *of->op, failed);
    copy->wait = copy_list(of->wait, of->n_waits, sizeof *of->wait, failed);
    copy->tiles = copy_list(of->tiles, of->n_tiles, sizeof *of->tiles, failed);
}

pti_schedule *pti_schedule_copy(const pti_schedule *of) {
    bool failed = false;
    pti_schedule *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *of;
    copy->n_before = copy->n_after = copy->n_invalidations = 0;
    copy_launches(of, copy, &failed);
    copy->before = copy_holdings(of->before, of->n_before, &copy->n_before, &failed);
    copy->after = copy_holdings(of->after, of->n_after, &copy->n_after, &failed);
    copy->unwritten = copy_sets(of->unwritten, of->instance->n_operands, &failed);
    copy->invalidation = copy_invalidations(of, &copy->n_invalidations, &failed);
    copy_lists(of, copy, &failed);
    if (!failed)
        return copy;
    pti_schedule_free(copy);
    return NULL;
}
