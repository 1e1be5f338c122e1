#include "access/array/index_array.h"

#include "base/checked.h"
#include "base/list.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/** The rows of a group, and the groups of a group above. */
enum { GROUP_ROWS = 64, GROUP_GROUPS = 16 };

/** Sums of two of these are safe. */
static const int64_t largest_value = INT64_C(1) << 61;

static const pti_value_range no_values = {INT64_MAX, INT64_MIN};

static void include_value(pti_value_range *range, int64_t value) {
    range->least = pti_min(range->least, value);
    range->most = pti_max(range->most, value);
}

static void include_range(pti_value_range *range, pti_value_range other) {
    range->least = pti_min(range->least, other.least);
    range->most = pti_max(range->most, other.most);
}

static int64_t value_at(const pti_index_array *array, const char *at) {
    int64_t value;
    int32_t narrow;
    if (array->is_wide) {
        memcpy(&value, at, sizeof value);
        return pti_max(-largest_value, pti_min(largest_value, value));
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

int64_t pti_index_array_get(const pti_index_array *array, const int64_t *element) {
    return value_at(array, array->data + pti_memory_layout_offset(&array->layout, element));
}

/** Go on to the next element of a row; false behind the last. */
static bool next_in_row(const polytile_domain *domain, int64_t *element) {
    for (int d = domain->n_dims - 1; d > 0; d--) {
        if (element[d]++ < domain->range[d].hi)
            return true;
        element[d] = domain->range[d].lo;
    }
    return false;
}

/** row: counted from the first one. */
static void include_row(const pti_index_array *array, int64_t row, pti_value_range *range) {
    int64_t element[POLYTILE_MAX_DIMS];
    if (array->domain.n_dims == 1) {
        include_value(range, value_at(array, array->data + row * array->layout.stride_bytes[0]));
        return;
    }
    for (int d = 0; d < array->domain.n_dims; d++)
        element[d] = array->domain.range[d].lo;
    element[0] += row;
    do
        include_value(range, pti_index_array_get(array, element));
    while (next_in_row(&array->domain, element));
}

uint64_t pti_index_array_hash(const pti_index_array *array, const char *data,
                              const pti_memory_layout *layout) {
    int64_t element[POLYTILE_MAX_DIMS];
    pti_index_array other = *array;
    uint64_t hash = 0;
    other.data = data;
    other.layout = *layout;
    for (int d = 0; d < array->domain.n_dims; d++)
        element[d] = array->domain.range[d].lo;
    for (; element[0] <= array->domain.range[0].hi; element[0]++)
        do
            hash = pti_mix(hash, pti_index_array_get(&other, element));
        while (next_in_row(&array->domain, element));
    return hash;
}

static bool find_whether_ascends(const pti_index_array *array) {
    const int64_t n_rows = pti_range_count(array->domain.range[0]);
    bool ascends = array->domain.n_dims == 1;
    int64_t before = INT64_MIN;
    for (int64_t row = 0; row < n_rows && ascends; row++) {
        const int64_t value = value_at(array, array->data + row * array->layout.stride_bytes[0]);
        ascends = value >= before;
        before = value;
    }
    return ascends;
}

/** Fill in a level from rows, or from the level below. */
static void fill_level(pti_index_array *array, int level, int64_t n_below) {
    const int64_t size = level == 0 ? GROUP_ROWS : GROUP_GROUPS;
    for (int64_t g = 0; g < array->n_groups[level]; g++) {
        pti_value_range range = no_values;
        for (int64_t k = g * size; k < pti_min((g + 1) * size, n_below); k++)
            if (level == 0)
                include_row(array, k, &range);
            else
                include_range(&range, array->group[level - 1][k]);
        array->group[level][g] = range;
    }
}

bool pti_index_array_read(pti_index_array *array) {
    int64_t n_below = pti_range_count(array->domain.range[0]);
    array->hash = pti_index_array_hash(array, array->data, &array->layout);
    array->ascends = find_whether_ascends(array);
    for (int level = 0; level < PTI_INDEX_LEVELS && !array->ascends && n_below > 1; level++) {
        const int64_t n_groups = pti_ceil_div(n_below, level == 0 ? GROUP_ROWS : GROUP_GROUPS);
        if (!PTI_RESIZE(array->group[level], n_groups))
            return false;
        array->n_levels++;
        array->n_groups[level] = n_groups;
        fill_level(array, level, n_below);
        n_below = n_groups;
    }
    return true;
}

void pti_index_array_free(pti_index_array *array) {
    for (int level = 0; level < PTI_INDEX_LEVELS; level++)
        free(array->group[level]);
}

/** Include rows, or groups of a level, from first up to end, without end. level -1: rows. */
static void include_parts(const pti_index_array *array, int level, int64_t first, int64_t end,
                          pti_value_range *range) {
    for (int64_t k = first; k < end; k++)
        if (level < 0)
            include_row(array, k, range);
        else
            include_range(range, array->group[level][k]);
}

pti_value_range pti_index_array_find_values(const pti_index_array *array, polytile_range rows) {
    pti_value_range range = no_values;
    int64_t first = rows.lo - array->domain.range[0].lo, end = rows.hi - array->domain.range[0].lo;
    if (array->ascends) {
        include_row(array, first, &range);
        include_row(array, end, &range);
        return range;
    }
    end++;
    for (int level = -1; first < end; level++) {
        const int64_t size = level < 0 ? GROUP_ROWS : GROUP_GROUPS;
        const bool is_top = level + 1 >= array->n_levels;
        const int64_t inner = pti_ceil_div(first, size) * size, outer = end / size * size;
        if (is_top || inner >= outer) {
            include_parts(array, level, first, end, &range);
            break;
        }
        include_parts(array, level, first, inner, &range);
        include_parts(array, level, outer, end, &range);
        first = inner / size;
        end = outer / size;
    }
    return range;
}
