#include "access/footprint/reuse.h"

#include "base/checked.h"

/** Return the middle thread of a launch and, along an index, the neighbours after it. */
static polytile_domain middle_of(const pti_instance *instance, int index, int64_t n_neighbours) {
    polytile_domain middle = instance->threads;
    for (int d = 0; d < middle.n_dims; d++) {
        polytile_range *range = &middle.range[d];
        range->lo += (range->hi - range->lo) / 2;
        range->hi = range->lo;
    }
    middle.range[index].lo =
        pti_min(middle.range[index].lo, instance->threads.range[index].hi - n_neighbours + 1);
    middle.range[index].hi = middle.range[index].lo + n_neighbours - 1;
    return middle;
}

/** Count the elements that a box of threads touches of an operand in one way; -1: not known. */
static int64_t count_touched(const pti_instance *instance, int operand, pti_touch touch,
                             const polytile_domain *threads, pti_boxes *boxes) {
    const bool is_exact =
        pti_footprint_boxes(instance, operand, touch, threads, PTI_MAX_REUSE_BOXES, boxes);
    return is_exact && !boxes->failed ? pti_boxes_count(boxes) : -1;
}

/** Elements that one thread, and that its neighbours touch. */
typedef struct touched {
    int64_t by_one, by_all;
} touched;

static bool add_touched(const pti_instance *instance, int operand, pti_touch touch,
                        const polytile_domain *one, const polytile_domain *all, pti_boxes *boxes,
                        touched *sum) {
    const int64_t by_one = count_touched(instance, operand, touch, one, boxes);
    const int64_t by_all = count_touched(instance, operand, touch, all, boxes);
    sum->by_one += by_one;
    sum->by_all += by_all;
    return by_one >= 0 && by_all >= 0 && by_one <= PTI_MAX_REUSE_BOXES;
}

double pti_neighbours_touch(const pti_instance *instance, int index, int64_t n_neighbours) {
    const polytile_domain one = middle_of(instance, index, 1),
                          all = middle_of(instance, index, n_neighbours);
    touched sum = {0, 0};
    pti_boxes boxes = {0};
    bool is_known = pti_range_count(instance->threads.range[index]) >= n_neighbours;
    for (int o = 0; o < instance->n_operands && is_known; o++)
        is_known = add_touched(instance, o, PTI_READS, &one, &all, &boxes, &sum) &&
                   add_touched(instance, o, PTI_WRITES, &one, &all, &boxes, &sum);
    pti_boxes_free(&boxes);
    if (!is_known || sum.by_one == 0)
        return 1;
    const double part = (double)sum.by_all / ((double)sum.by_one * (double)n_neighbours);
    return part < 1 ? part : 1;
}
