#include "launch/box_copy.h"

#include "access/boxes.h"
#include "base/checked.h"

#include <string.h>

/* A box becomes a nest of loops over units: runs of bytes that are contiguous on both sides. */

enum {
    BYTES_WORTH_A_THREAD = 128 * 1024, /* starting one costs what copying a few KiB does */
    LARGE_UNIT_BYTES = 4096,           /* from here units are cut between threads */
    CUT_BYTES = 64,                    /* a cache line */
};

typedef struct loop {
    int64_t count;
    int64_t to_step; /* bytes */
    int64_t from_step;
} loop;

/** loops[0] is outermost; there is always at least one. */
typedef struct loop_nest {
    int n_loops;
    loop loops[POLYTILE_MAX_DIMS + 1];
    int64_t unit_bytes;
    int64_t n_units;
    char *to; /* the first unit */
    const char *from;
} loop_nest;

static int64_t first_offset(const pti_layout *layout, const polytile_domain *box) {
    int64_t offset_bytes = 0;
    for (int d = 0; d < box->n_dims; d++)
        offset_bytes += (box->range[d].lo - layout->hull.range[d].lo) * layout->stride_bytes[d];
    return offset_bytes;
}

/** Put one more loop inside the nest, joining it with the one around it where both sides allow. */
static void nest_add(loop_nest *nest, loop inner) {
    if (inner.count == 1)
        return;
    if (nest->n_loops > 0) {
        loop *outer = &nest->loops[nest->n_loops - 1];
        if (outer->to_step == inner.count * inner.to_step &&
            outer->from_step == inner.count * inner.from_step) {
            inner.count *= outer->count;
            *outer = inner;
            return;
        }
    }
    nest->loops[nest->n_loops++] = inner;
}

static void nest_take_unit(loop_nest *nest, int64_t element_bytes) {
    nest->unit_bytes = element_bytes;
    if (nest->n_loops == 0)
        nest->loops[nest->n_loops++] = (loop){1, 0, 0};
    loop *inner = &nest->loops[nest->n_loops - 1];
    if (inner->to_step == element_bytes && inner->from_step == element_bytes) {
        nest->unit_bytes = inner->count * element_bytes;
        *inner = (loop){1, 0, 0};
        if (nest->n_loops > 1)
            nest->n_loops--;
    }
}

static loop_nest nest_of(const pti_move *move) {
    loop_nest nest = {.n_units = 1,
                      .to = (char *)move->to.base + first_offset(move->to.layout, move->box),
                      .from = (const char *)move->from.base +
                              first_offset(move->from.layout, move->box)};
    for (int d = 0; d < move->box->n_dims; d++) {
        polytile_range range = move->box->range[d];
        nest_add(&nest,
                 (loop){pti_range_count(range), range.step * move->to.layout->stride_bytes[d],
                        range.step * move->from.layout->stride_bytes[d]});
    }
    nest_take_unit(&nest, move->element_bytes);
    for (int k = 0; k < nest.n_loops; k++)
        nest.n_units *= nest.loops[k].count;
    return nest;
}

#define COPY_ROW_OF(n)                                                                             \
    static void copy_row_##n(char *to, const char *from, loop row, int64_t count) {                \
        for (int64_t k = 0; k < count; k++)                                                        \
            memcpy(to + k * row.to_step, from + k * row.from_step, n);                             \
    }
COPY_ROW_OF(1)
COPY_ROW_OF(2)
COPY_ROW_OF(4)
COPY_ROW_OF(8)
COPY_ROW_OF(16)
COPY_ROW_OF(32)

static void copy_row(char *to, const char *from, loop row, int64_t count, int64_t unit_bytes) {
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * row.to_step, from + k * row.from_step, (size_t)unit_bytes);
}

/** Copy count units along the innermost loop; the common small sizes as single moves. */
static void copy_units_in_row(const loop_nest *nest, char *to, const char *from, int64_t count) {
    loop row = nest->loops[nest->n_loops - 1];
    switch (nest->unit_bytes) {
    case 1:
        copy_row_1(to, from, row, count);
        break;
    case 2:
        copy_row_2(to, from, row, count);
        break;
    case 4:
        copy_row_4(to, from, row, count);
        break;
    case 8:
        copy_row_8(to, from, row, count);
        break;
    case 16:
        copy_row_16(to, from, row, count);
        break;
    case 32:
        copy_row_32(to, from, row, count);
        break;
    default:
        copy_row(to, from, row, count, nest->unit_bytes);
    }
}

/** Where a unit, counted in C order, begins on both sides, and how many follow it in its row. */
static int64_t locate(const loop_nest *nest, int64_t unit, char **to, const char **from) {
    int innermost = nest->n_loops - 1;
    int64_t rest_of_row = nest->loops[innermost].count - unit % nest->loops[innermost].count;
    *to = nest->to;
    *from = nest->from;
    for (int k = innermost; k >= 0; k--) {
        int64_t position = unit % nest->loops[k].count;
        unit /= nest->loops[k].count;
        *to += position * nest->loops[k].to_step;
        *from += position * nest->loops[k].from_step;
    }
    return rest_of_row;
}

/** Copy the units first .. end - 1 in C order. */
static void copy_units(const loop_nest *nest, int64_t first, int64_t end) {
    while (first < end) {
        char *to;
        const char *from;
        int64_t count = pti_min(locate(nest, first, &to, &from), end - first);
        copy_units_in_row(nest, to, from, count);
        first += count;
    }
}

/** Copy the bytes first .. end - 1 of all units taken one after another. */
static void copy_bytes(const loop_nest *nest, int64_t first, int64_t end) {
    while (first < end) {
        char *to;
        const char *from;
        int64_t skipped = first % nest->unit_bytes;
        int64_t count = pti_min(nest->unit_bytes - skipped, end - first);
        locate(nest, first / nest->unit_bytes, &to, &from);
        memcpy(to + skipped, from + skipped, (size_t)count);
        first += count;
    }
}

/** The k-th of n about equal parts of 0 .. total begins here, at a multiple of granule. */
static int64_t part_begin(int64_t total, int64_t granule, int64_t k, int64_t n) {
    int64_t n_granules = pti_ceil_div(total, granule);
    int64_t begin = n_granules / n * k + pti_min(n_granules % n, k);
    return pti_min(begin * granule, total);
}

static void copy_part(const loop_nest *nest, int64_t k, int64_t n) {
    if (nest->unit_bytes >= LARGE_UNIT_BYTES) {
        int64_t total = nest->n_units * nest->unit_bytes;
        copy_bytes(nest, part_begin(total, CUT_BYTES, k, n),
                   part_begin(total, CUT_BYTES, k + 1, n));
    } else {
        int64_t total = nest->n_units;
        copy_units(nest, part_begin(total, 1, k, n), part_begin(total, 1, k + 1, n));
    }
}

void pti_box_copy(const pti_move *move, int n_threads) {
    if (pti_box_is_empty(move->box))
        return;
    loop_nest nest = nest_of(move);
    int64_t n_bytes = nest.n_units * nest.unit_bytes;
    int64_t n_parts = pti_max(1, pti_min(n_threads, n_bytes / BYTES_WORTH_A_THREAD));
    if (n_parts == 1) {
        copy_part(&nest, 0, 1);
        return;
    }
#pragma omp parallel for num_threads((int)n_parts) schedule(static, 1)
    for (int64_t k = 0; k < n_parts; k++)
        copy_part(&nest, k, n_parts);
}
