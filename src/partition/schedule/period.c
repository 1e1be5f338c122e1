#include "partition/schedule/period.h"

#include <stdlib.h>
#include <string.h>

void pti_period_free(pti_period *period) {
    for (int k = 0; k < period->n_carried; k++) {
        pti_boxes_free(&period->carried[k].valid);
        pti_boxes_free(&period->carried[k].dirty);
    }
    free(period->carried);
    free(period->array);
    free(period->launch);
    *period = (pti_period){0};
}

/** Copy what is carried; false when memory runs out. */
static bool copy_carried(const pti_carried *carried, pti_carried *copy) {
    *copy = *carried;
    copy->valid = copy->dirty = (pti_boxes){0};
    pti_boxes_copy(&copy->valid, &carried->valid);
    pti_boxes_copy(&copy->dirty, &carried->dirty);
    return !copy->valid.failed && !copy->dirty.failed;
}

bool pti_period_copy(const pti_period *period, int n_operands, pti_period *copy) {
    *copy = (pti_period){0};
    if (period->times == 0)
        return true;
    *copy = *period;
    copy->n_carried = 0;
    copy->array = malloc(((size_t)n_operands + 1) * sizeof *copy->array);
    copy->carried = calloc((size_t)period->n_carried + 1, sizeof *copy->carried);
    copy->launch = malloc(((size_t)period->n_launches + 1) * sizeof *copy->launch);
    bool is_copied = copy->array != NULL && copy->carried != NULL && copy->launch != NULL;
    if (is_copied)
        memcpy(copy->launch, period->launch, (size_t)period->n_launches * sizeof *copy->launch);
    if (is_copied)
        memcpy(copy->array, period->array, (size_t)n_operands * sizeof *copy->array);
    for (int k = 0; is_copied && k < period->n_carried; k++, copy->n_carried++)
        is_copied = copy_carried(&period->carried[k], &copy->carried[k]);
    return is_copied;
}
