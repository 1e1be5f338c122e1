#include "launch/host/copy/box_copy.h"

#include "access/set/box.h"
#include "base/checked.h"

/** Elements that a thread writes at once, so that finding the first one costs little. */
enum { FILLED_AT_ONCE = 4096 };

/** One call of pti_box_fill(). */
typedef struct filling {
    const pti_memory_span *to;
    const polytile_domain *box;
    pti_element_function *element;
    void *user;
} filling;

/** Fill the elements number .. end - 1, row by row. */
static void fill_some(const filling *f, int64_t number, int64_t end) {
    int64_t index[POLYTILE_MAX_DIMS];
    int last = f->box->n_dims - 1;
    polytile_range row = f->box->range[last];
    while (number < end) {
        pti_box_find_point(f->box, number, index);
        char *at = (char *)f->to->base + pti_memory_layout_offset(f->to->layout, index);
        for (; number < end && index[last] <= row.hi; number++, index[last] += row.step) {
            f->element(index, at, f->user);
            at += pti_mul_wrapped(row.step, f->to->layout->stride_bytes[last]);
        }
    }
}

void pti_box_fill(const pti_memory_span *to, const polytile_domain *box, int n_threads,
                  pti_element_function *element, void *user) {
    filling f = {to, box, element, user};
    int64_t count = pti_box_count(box);
    int64_t n_parts = pti_ceil_div(count, FILLED_AT_ONCE);
#pragma omp parallel for num_threads(n_threads) schedule(static) if (n_parts > 1)
    for (int64_t k = 0; k < n_parts; k++)
        fill_some(&f, k * FILLED_AT_ONCE, pti_min(count, (k + 1) * FILLED_AT_ONCE));
}
