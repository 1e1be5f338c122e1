#include "access/set/memory_layout.h"

#include "base/checked.h"

/** Return the inverse of an odd number modulo 2^64. Each step of Newton's method doubles the bits
 * that are right, of which the number itself has three. */
static uint64_t inverse_of(uint64_t odd) {
    uint64_t inverse = odd;
    for (int n_bits = 3; n_bits < 64; n_bits *= 2)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/** Return a pitch divided by a step, modulo 2^64; the pitch is a multiple of the power of two in
 * the step. */
static int64_t stride_of(int64_t pitch_bytes, int64_t step) {
    int64_t power = step & -step;
    return pti_mul_wrapped(pitch_bytes / power, (int64_t)inverse_of((uint64_t)(step / power)));
}

/** Return the pitch of rows of inner_bytes at indices with a step; false if it exceeds 64 bits. */
static bool find_pitch(int64_t step, int64_t inner_bytes, int64_t *pitch_bytes) {
    int64_t power = step & -step, sum;
    if (pti_add_overflows(inner_bytes, power - 1, &sum))
        return false;
    *pitch_bytes = sum / power * power;
    return true;
}

pti_memory_layout pti_memory_layout_of(const polytile_domain *hull, int64_t element_bytes) {
    pti_memory_layout layout = {.hull = *hull};
    if (pti_box_is_empty(hull))
        return layout;
    int64_t inner_bytes = element_bytes;
    layout.size_bytes = element_bytes;
    for (int d = hull->n_dims - 1; d >= 0; d--) {
        polytile_range *range = &layout.hull.range[d];
        int64_t pitch_bytes, before_bytes, count = pti_range_count(*range);
        range->step = count == 1 ? 1 : range->step;
        if (!find_pitch(range->step, inner_bytes, &pitch_bytes) ||
            pti_mul_overflows(count, pitch_bytes, &inner_bytes) ||
            pti_mul_overflows(count - 1, pitch_bytes, &before_bytes) ||
            pti_add_overflows(before_bytes, layout.size_bytes, &layout.size_bytes)) {
            layout.size_bytes = INT64_MAX;
            return layout;
        }
        layout.stride_bytes[d] = stride_of(pitch_bytes, range->step);
    }
    return layout;
}

/* The whole's span bounds every product. */
pti_memory_layout pti_memory_layout_of_part(const pti_memory_layout *whole,
                                            const polytile_domain *part, int64_t element_bytes) {
    pti_memory_layout layout = {.hull = *part, .size_bytes = element_bytes};
    for (int d = 0; d < part->n_dims; d++) {
        layout.stride_bytes[d] = whole->stride_bytes[d];
        layout.size_bytes += (part->range[d].hi - part->range[d].lo) * whole->stride_bytes[d];
    }
    return layout;
}

int64_t pti_memory_layout_run_bytes(const pti_memory_layout *layout, const polytile_domain *box,
                                    int64_t element_bytes) {
    int64_t run_bytes = element_bytes;
    for (int d = box->n_dims - 1; d >= 0; d--) {
        const int64_t count = pti_range_count(box->range[d]);
        if (count > 1 && pti_mul_wrapped(layout->stride_bytes[d], box->range[d].step) != run_bytes)
            return run_bytes;
        run_bytes *= count;
    }
    return run_bytes;
}

pti_runs pti_runs_of(const polytile_domain *array, const polytile_domain *box,
                     int64_t element_bytes) {
    pti_runs runs = {element_bytes, element_bytes};
    int64_t stride_bytes = element_bytes;
    bool is_joined = true;
    for (int d = box->n_dims - 1; d >= 0; d--) {
        int64_t count = pti_range_count(box->range[d]);
        runs.pitch_bytes = runs.run_bytes;
        if (count > 1 && (box->range[d].step != 1 || !is_joined)) {
            runs.pitch_bytes = pti_mul_saturated(stride_bytes, box->range[d].step);
            return runs;
        }
        runs.run_bytes = pti_mul_saturated(runs.run_bytes, count);
        stride_bytes = pti_mul_saturated(stride_bytes, pti_range_count(array->range[d]));
        is_joined = is_joined && pti_range_equals(box->range[d], array->range[d]);
    }
    runs.pitch_bytes = runs.run_bytes;
    return runs;
}

int64_t pti_memory_layout_offset(const pti_memory_layout *layout, const int64_t *element) {
    int64_t offset = 0;
    for (int d = 0; d < layout->hull.n_dims; d++)
        offset += pti_mul_wrapped(element[d] - layout->hull.range[d].lo, layout->stride_bytes[d]);
    return offset;
}

int64_t pti_memory_layout_offset_of(const pti_memory_layout *layout, const polytile_domain *box) {
    int64_t offset = 0;
    for (int d = 0; d < box->n_dims; d++)
        offset +=
            pti_mul_wrapped(box->range[d].lo - layout->hull.range[d].lo, layout->stride_bytes[d]);
    return offset;
}
