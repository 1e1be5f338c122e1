#include "access/set/memory_layout.h"

#include "base/checked.h"

/** The stride of one dimension: whole bytes for one index, with gaps or padding, whichever is
 * smaller. */
typedef struct pitch {
    int64_t step; /* the step that is stored */
    int64_t stride_bytes;
} pitch;

static int64_t round_up(int64_t value, int64_t multiple) {
    int64_t sum;
    if (pti_add_overflows(value, multiple - 1, &sum))
        return INT64_MAX;
    return sum / multiple * multiple;
}

static int64_t rows_bytes(const polytile_range *range, int64_t step, int64_t row_bytes) {
    int64_t n_rows = (range->hi - range->lo) / step + 1, bytes = INT64_MAX;
    pti_mul_overflows(n_rows, row_bytes, &bytes);
    return bytes;
}

/** Return the stride of rows of inner_bytes at the indices of a range: exact, with gaps, or with
 * padded rows. Takes no more memory than all indices from the first to the last. */
static pitch pitch_of(const polytile_range *range, int64_t inner_bytes, int64_t element_bytes,
                      bool may_pad) {
    int64_t step = range->step, common = pti_gcd(inner_bytes, step);
    if (common == step)
        return (pitch){step, inner_bytes / step};
    int64_t multiple = step / pti_gcd(step, element_bytes) * element_bytes;
    int64_t padded = round_up(inner_bytes, multiple);
    bool padding_is_smaller =
        rows_bytes(range, step, padded) <= rows_bytes(range, common, inner_bytes);
    if (may_pad && padded != INT64_MAX && padding_is_smaller)
        return (pitch){step, padded / step};
    return (pitch){common, inner_bytes / common};
}

pti_memory_layout pti_memory_layout_of(const polytile_domain *hull, int64_t element_bytes) {
    pti_memory_layout layout = {.hull = *hull};
    if (pti_box_is_empty(hull))
        return layout;
    int64_t inner_bytes = element_bytes;
    int64_t size_bytes = element_bytes;
    for (int d = hull->n_dims - 1; d >= 0; d--) {
        polytile_range *range = &layout.hull.range[d];
        pitch chosen = {1, inner_bytes};
        if (range->lo != range->hi && range->step > 1)
            chosen = pitch_of(range, inner_bytes, element_bytes, d < hull->n_dims - 1);
        range->step = chosen.step;
        layout.stride_bytes[d] = chosen.stride_bytes;
        int64_t count = (range->hi - range->lo) / range->step + 1;
        int64_t pitch_bytes = chosen.stride_bytes * chosen.step;
        int64_t before_bytes;
        if (pti_mul_overflows(count, pitch_bytes, &inner_bytes) ||
            pti_mul_overflows(count - 1, pitch_bytes, &before_bytes) ||
            pti_add_overflows(before_bytes, size_bytes, &size_bytes)) {
            layout.size_bytes = INT64_MAX;
            return layout;
        }
    }
    layout.size_bytes = size_bytes;
    return layout;
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
            runs.pitch_bytes = INT64_MAX;
            pti_mul_overflows(stride_bytes, box->range[d].step, &runs.pitch_bytes);
            return runs;
        }
        runs.run_bytes =
            pti_mul_overflows(runs.run_bytes, count, &runs.run_bytes) ? INT64_MAX : runs.run_bytes;
        if (pti_mul_overflows(stride_bytes, pti_range_count(array->range[d]), &stride_bytes))
            stride_bytes = INT64_MAX;
        is_joined = is_joined && pti_range_equals(box->range[d], array->range[d]);
    }
    runs.pitch_bytes = runs.run_bytes;
    return runs;
}

int64_t pti_memory_layout_offset(const pti_memory_layout *layout, const int64_t *element) {
    int64_t offset = 0;
    for (int d = 0; d < layout->hull.n_dims; d++)
        offset += (element[d] - layout->hull.range[d].lo) * layout->stride_bytes[d];
    return offset;
}

int64_t pti_memory_layout_offset_of(const pti_memory_layout *layout, const polytile_domain *box) {
    int64_t offset = 0;
    for (int d = 0; d < box->n_dims; d++)
        offset += (box->range[d].lo - layout->hull.range[d].lo) * layout->stride_bytes[d];
    return offset;
}
