#include "access/array/index_array.h"

#include "access/array/index_block.h"
#include "base/checked.h"
#include "base/list.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/** The groups of a group above. */
enum { GROUP_GROUPS = 16 };

/** The elements that are read at a time: of one dimension a group. */
enum { BLOCK = PTI_INDEX_BLOCK };

/** The elements, whole blocks, and the groups above the lowest ones, that one thread takes at a
 * time. */
enum { PART_ELEMENTS = 4096 * BLOCK, PART_GROUPS = 4096 };

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

static int64_t limit_value(int64_t value) {
    return pti_max(-largest_value, pti_min(largest_value, value));
}

/** What memory holds, of i64 without limits. */
static int64_t load_value(const pti_index_array *array, const char *at) {
    int64_t value;
    int32_t narrow;
    if (array->is_wide) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static int64_t value_at(const pti_index_array *array, const char *at) {
    return limit_value(load_value(array, at));
}

int64_t pti_index_array_get(const pti_index_array *array, const int64_t *element) {
    return value_at(array, array->data + pti_memory_layout_offset(&array->layout, element));
}

void pti_index_array_load(const pti_index_array *array, int64_t first, int64_t step, int n,
                          int64_t *values) {
    const char *at = array->data + pti_memory_layout_offset(&array->layout, &first);
    const int64_t step_bytes = step * array->layout.stride_bytes[0];
    for (int k = 0; array->is_wide && k < n; k++)
        values[k] = value_at(array, at + k * step_bytes);
    for (int k = 0; !array->is_wide && k < n; k++)
        values[k] = load_value(array, at + k * step_bytes);
}

static int64_t count_row_elements(const pti_index_array *array) {
    int64_t n_elements = 1;
    for (int d = 1; d < array->domain.n_dims; d++)
        n_elements *= pti_range_count(array->domain.range[d]);
    return n_elements;
}

/** The rows of a group of the lowest level: together two blocks of elements or a little more, so
 * that few are read to include rows that are not a whole group, and few twice where the last block
 * overlaps another one; a power of two up to a block, so that as many rows as that are whole
 * groups. */
static int64_t count_group_rows(const pti_index_array *array) {
    const int64_t n_row = pti_max(1, count_row_elements(array));
    int64_t n_rows = 1;
    while (n_rows < BLOCK && n_rows * n_row < 2 * BLOCK)
        n_rows *= 2;
    return n_rows;
}

/** Go on to the next element of a row, whose dimensions are those from 1 up to end; false after
 * the last. */
static bool next_in_row(const polytile_domain *domain, int end, int64_t *element) {
    for (int d = end - 1; d > 0; d--) {
        if (element[d]++ < domain->range[d].hi)
            return true;
        element[d] = domain->range[d].lo;
    }
    return false;
}

/** Include n elements that lie at one distance from each other. */
static void include_run(const pti_index_array *array, const char *at, int64_t n,
                        int64_t stride_bytes, pti_value_range *range) {
    pti_value_range run = no_values;
    for (int64_t k = 0; k < n; k++)
        include_value(&run, load_value(array, at + k * stride_bytes));
    include_value(range, limit_value(run.least));
    include_value(range, limit_value(run.most));
}

/** Return whether elements lie one after the other, in C order. */
static bool is_dense(const pti_index_array *array) {
    int64_t stride_bytes = array->is_wide ? 8 : 4;
    bool is = (uintptr_t)array->data % (uintptr_t)stride_bytes == 0;
    for (int d = array->domain.n_dims - 1; d >= 0; d--) {
        is = is && array->layout.stride_bytes[d] == stride_bytes;
        stride_bytes *= pti_range_count(array->domain.range[d]);
    }
    return is;
}

bool pti_index_array_as_vector(const pti_index_array *array, const polytile_domain *box,
                               pti_index_array *vector) {
    const int64_t n_elements = pti_box_count(box);
    bool is = is_dense(array) && n_elements > 0 && !pti_range_has_gaps(box->range[0]);
    for (int d = 1; d < box->n_dims; d++)
        is = is && pti_range_equals(box->range[d], array->domain.range[d]);
    if (!is)
        return false;
    const polytile_domain domain = polytile_domain_from_extents(1, &n_elements);
    *vector =
        (pti_index_array){.data = array->data + pti_memory_layout_offset_of(&array->layout, box),
                          .is_wide = array->is_wide,
                          .domain = domain,
                          .layout = pti_memory_layout_of(&domain, array->is_wide ? 8 : 4)};
    return true;
}

/** row: counted from the first one. */
static void include_row(const pti_index_array *array, int64_t row, pti_value_range *range) {
    const int last = array->domain.n_dims - 1;
    int64_t element[POLYTILE_MAX_DIMS];
    if (last == 0) {
        include_value(range, value_at(array, array->data + row * array->layout.stride_bytes[0]));
        return;
    }
    pti_box_first_point(&array->domain, element);
    element[0] += row;
    do
        include_run(array, array->data + pti_memory_layout_offset(&array->layout, element),
                    pti_range_count(array->domain.range[last]), array->layout.stride_bytes[last],
                    range);
    while (next_in_row(&array->domain, last, element));
}

/** Go on to the next element in C order; false after the last. */
static bool next_element(const polytile_domain *domain, int64_t *element) {
    return next_in_row(domain, domain->n_dims, element) || element[0]++ < domain->range[0].hi;
}

/** Copy the next n elements of a block, and go on after them. at: of the first one. */
static void load_wide(const pti_index_array *array, int n, int64_t *at, int64_t *to) {
    for (int k = 0; k < n; k++) {
        to[k] = load_value(array, array->data + pti_memory_layout_offset(&array->layout, at));
        next_element(&array->domain, at);
    }
}

/** Return the n elements of a block from a number on, in C order, as they lie in memory if they are
 * one after the other, else a copy. at: the first one, where they are not. */
static const int64_t *get_wide(const pti_index_array *array, bool dense, int64_t number, int n,
                               int64_t *at, int64_t *copy) {
    if (dense)
        return (const int64_t *)(const void *)array->data + number;
    load_wide(array, n, at, copy);
    return copy;
}

static const int32_t *get_narrow(const pti_index_array *array, bool dense, int64_t number, int n,
                                 int64_t *at, int32_t *copy) {
    int64_t wide[BLOCK];
    if (dense)
        return (const int32_t *)(const void *)array->data + number;
    load_wide(array, n, at, wide);
    for (int k = 0; k < n; k++)
        copy[k] = (int32_t)wide[k];
    return copy;
}

static pti_index_block summarise_block(const pti_index_array *array, bool dense, int64_t number,
                                       int n, int64_t *at, bool asks_order) {
    int64_t wide[BLOCK];
    int32_t narrow[BLOCK];
    if (!array->is_wide)
        return pti_index_block_narrow(get_narrow(array, dense, number, n, at, narrow), n,
                                      asks_order);
    pti_index_block found =
        pti_index_block_wide(get_wide(array, dense, number, n, at, wide), n, asks_order);
    found.values.least = limit_value(found.values.least);
    found.values.most = limit_value(found.values.most);
    return found;
}

/** Include rows from first up to end, without end, counted from the first one of the array. The
 * last block overlaps the one before it, since whole ones are read fastest. */
static void include_rows(const pti_index_array *array, int64_t first, int64_t end,
                         pti_value_range *range) {
    if (!is_dense(array)) {
        for (int64_t row = first; row < end; row++)
            include_row(array, row, range);
        return;
    }
    const int64_t n_row = count_row_elements(array), begin = first * n_row, stop = end * n_row;
    for (int64_t at = begin; at < stop; at += BLOCK) {
        const int64_t from = pti_max(begin, pti_min(at, stop - BLOCK));
        const int n = (int)pti_min(BLOCK, stop - from);
        include_range(range, summarise_block(array, true, from, n, NULL, false).values);
    }
}

/** What is found of the elements of a part, which are consecutive. */
typedef struct part {
    uint64_t hash;
    bool ascends;  /* or nobody asks */
    int64_t least; /* of the first block */
    int64_t most;  /* of the last one */
} part;

/** An array that is read in parts. */
typedef struct reading {
    const pti_index_array *array;
    pti_value_range *groups; /* NULL where they are not wanted */
    part *part;
} reading;

/** Read the elements of a part block by block: their hash, whether they ascend, and, of one
 * dimension, the groups of the lowest level. */
static void read_part(int64_t number, void *user) {
    const reading *of = user;
    const pti_index_array *array = of->array;
    const int64_t begin = number * PART_ELEMENTS,
                  end = pti_min(begin + PART_ELEMENTS, pti_box_count(&array->domain));
    const bool dense = is_dense(array);
    part found = {.ascends = array->domain.n_dims == 1, .most = INT64_MIN};
    int64_t at[POLYTILE_MAX_DIMS];
    pti_box_find_point(&array->domain, begin, at);
    for (int64_t first = begin; first < end; first += BLOCK) {
        const pti_index_block of_block = summarise_block(
            array, dense, first, (int)pti_min(BLOCK, end - first), at, found.ascends);
        found.hash = pti_mix(found.hash, (int64_t)of_block.sum);
        found.ascends = found.ascends && of_block.ascends && of_block.values.least >= found.most;
        found.least = first == begin ? of_block.values.least : found.least;
        found.most = of_block.values.most;
        if (of->groups != NULL)
            of->groups[first / BLOCK] = of_block.values;
    }
    of->part[number] = found;
}

/** Join what was found of all parts, which does not depend on who read them. */
static void join_parts(pti_index_array *array, const part *parts, int64_t n_parts) {
    array->hash = 0;
    array->ascends = array->domain.n_dims == 1;
    for (int64_t p = 0; p < n_parts; p++) {
        array->hash = pti_mix(array->hash, (int64_t)parts[p].hash);
        array->ascends =
            array->ascends && parts[p].ascends && (p == 0 || parts[p].least >= parts[p - 1].most);
    }
}

/** Read all elements. False: no memory. */
static bool read_once(const polytile_context *ctx, pti_index_array *array,
                      pti_value_range *groups) {
    const int64_t n_parts = pti_ceil_div(pti_box_count(&array->domain), PART_ELEMENTS);
    reading of = {.array = array, .groups = groups};
    if (!PTI_RESIZE(of.part, n_parts))
        return false;
    pti_run_parts(ctx, n_parts, read_part, &of);
    join_parts(array, of.part, n_parts);
    free(of.part);
    return true;
}

bool pti_index_array_hash(const polytile_context *ctx, const pti_index_array *array,
                          const char *data, const pti_memory_layout *layout, uint64_t *hash) {
    pti_index_array other = *array;
    other.data = data;
    other.layout = *layout;
    const bool is_read = read_once(ctx, &other, NULL);
    *hash = other.hash;
    return is_read;
}

/** A level that is filled in in parts. */
typedef struct filling {
    pti_index_array *array;
    int level;
    int64_t n_below;
} filling;

/** The groups of a level that one thread takes at a time. */
static int64_t count_part_groups(const pti_index_array *array, int level) {
    const int64_t n_elements = array->group_rows * count_row_elements(array);
    return level > 0 ? PART_GROUPS : pti_max(1, PART_ELEMENTS / pti_max(1, n_elements));
}

/** The rows of a group of the lowest level, or the groups below of a group above. */
static int64_t count_members(const pti_index_array *array, int level) {
    return level == 0 ? array->group_rows : GROUP_GROUPS;
}

/** Fill in groups of a level from rows, or from the level below. */
static void fill_part(int64_t number, void *user) {
    const filling *of = user;
    pti_index_array *array = of->array;
    const int64_t size = count_members(array, of->level);
    const int64_t n_part = count_part_groups(array, of->level);
    const int64_t end = pti_min((number + 1) * n_part, array->n_groups[of->level]);
    for (int64_t g = number * n_part; g < end; g++) {
        pti_value_range range = no_values;
        const int64_t last = pti_min((g + 1) * size, of->n_below);
        if (of->level == 0)
            include_rows(array, g * size, last, &range);
        for (int64_t k = g * size; of->level > 0 && k < last; k++)
            include_range(&range, array->group[of->level - 1][k]);
        array->group[of->level][g] = range;
    }
}

static void fill_level(const polytile_context *ctx, pti_index_array *array, int level,
                       int64_t n_below) {
    filling of = {array, level, n_below};
    pti_run_parts(ctx, pti_ceil_div(array->n_groups[level], count_part_groups(array, level)),
                  fill_part, &of);
}

/** Add a level over n_below rows or groups, without filling it in. False: no memory. */
static bool add_level(pti_index_array *array, int64_t n_below) {
    const int level = array->n_levels;
    const int64_t n_groups = pti_ceil_div(n_below, count_members(array, level));
    if (!PTI_RESIZE(array->group[level], n_groups))
        return false;
    array->n_groups[level] = n_groups;
    array->n_levels++;
    return true;
}

/** Forget the tree of an array whose first and last elements say all. */
static void drop_levels(pti_index_array *array) {
    for (int level = 0; level < array->n_levels; level++) {
        free(array->group[level]);
        array->group[level] = NULL;
    }
    array->n_levels = 0;
}

/** False: no memory. */
static bool read_and_summarise(const polytile_context *ctx, pti_index_array *array) {
    const bool has_groups = array->domain.n_dims == 1;
    int64_t n_below = pti_range_count(array->domain.range[0]);
    if (!add_level(array, n_below))
        return false;
    if (!read_once(ctx, array, has_groups ? array->group[0] : NULL))
        return false;
    if (array->ascends) {
        drop_levels(array);
        return true;
    }
    if (!has_groups)
        fill_level(ctx, array, 0, n_below);
    while ((n_below = array->n_groups[array->n_levels - 1]) > 1 &&
           array->n_levels < PTI_INDEX_LEVELS) {
        if (!add_level(array, n_below))
            return false;
        fill_level(ctx, array, array->n_levels - 1, n_below);
    }
    return true;
}

pti_index_array *pti_index_array_read(const polytile_context *ctx,
                                      const pti_index_array *index_array) {
    pti_index_array *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (pti_index_array){.n_holders = 1,
                              .data = index_array->data,
                              .is_wide = index_array->is_wide,
                              .domain = index_array->domain,
                              .layout = index_array->layout};
    made->group_rows = count_group_rows(made);
    if (read_and_summarise(ctx, made))
        return made;
    pti_index_array_release(made);
    return NULL;
}

pti_index_array *pti_index_array_hold(pti_index_array *array) {
    if (array != NULL)
        __atomic_add_fetch(&array->n_holders, 1, __ATOMIC_RELAXED);
    return array;
}

void pti_index_array_release(pti_index_array *array) {
    if (array == NULL || __atomic_sub_fetch(&array->n_holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    drop_levels(array);
    free(array);
}

/** Include rows, or groups of a level, from first up to end, without end. level -1: rows. */
static void include_parts(const pti_index_array *array, int level, int64_t first, int64_t end,
                          pti_value_range *range) {
    if (level < 0)
        include_rows(array, first, end, range);
    for (int64_t k = first; level >= 0 && k < end; k++)
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
        const int64_t size = count_members(array, level + 1);
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
