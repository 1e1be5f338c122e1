#include "launch/host/copy/box_copy.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "launch/host/copy/loop_nest.h"

#include <string.h>

enum {
    BYTES_WORTH_A_THREAD = 128 * 1024, /* starting one costs what copying a few KiB does */
    LARGE_RUN_BYTES = 4096,            /* from here runs are cut between threads */
    CUT_BYTES = 64,                    /* a cache line */
};

#define COPY_ROW_OF(n)                                                                             \
    static void copy_row_##n(char *to, const char *from, pti_loop row, int64_t count) {            \
        for (int64_t k = 0; k < count; k++)                                                        \
            memcpy(to + k * row.to_step, from + k * row.from_step, n);                             \
    }
COPY_ROW_OF(1)
COPY_ROW_OF(2)
COPY_ROW_OF(4)
COPY_ROW_OF(8)
COPY_ROW_OF(16)
COPY_ROW_OF(32)

static void copy_row(char *to, const char *from, pti_loop row, int64_t count, int64_t run_bytes) {
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * row.to_step, from + k * row.from_step, (size_t)run_bytes);
}

/** Copy count runs along the innermost loop; common small sizes as single moves. */
static void copy_units_in_row(const pti_loop_nest *nest, char *to, const char *from,
                              int64_t count) {
    pti_loop row = nest->loops[nest->n_loops - 1];
    switch (nest->run_bytes) {
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
        copy_row(to, from, row, count, nest->run_bytes);
    }
}

/** Copy the runs first .. end - 1 in C order. */
static void copy_units(const pti_loop_nest *nest, int64_t first, int64_t end) {
    while (first < end) {
        char *to;
        const char *from;
        int64_t count = pti_min(pti_loop_nest_locate(nest, first, &to, &from), end - first);
        copy_units_in_row(nest, to, from, count);
        first += count;
    }
}

/** Copy the bytes first .. end - 1 of all runs in sequence. */
static void copy_bytes(const pti_loop_nest *nest, int64_t first, int64_t end) {
    while (first < end) {
        char *to;
        const char *from;
        int64_t skipped = first % nest->run_bytes;
        int64_t count = pti_min(nest->run_bytes - skipped, end - first);
        pti_loop_nest_locate(nest, first / nest->run_bytes, &to, &from);
        memcpy(to + skipped, from + skipped, (size_t)count);
        first += count;
    }
}

/** Return where the k-th of n about equal parts of 0 .. total begins, a multiple of granule. */
static int64_t part_begin(int64_t total, int64_t granule, int64_t k, int64_t n) {
    int64_t n_granules = pti_ceil_div(total, granule);
    int64_t begin = n_granules / n * k + pti_min(n_granules % n, k);
    return pti_min(begin * granule, total);
}

static void copy_part(const pti_loop_nest *nest, int64_t k, int64_t n) {
    if (nest->run_bytes >= LARGE_RUN_BYTES) {
        int64_t total = nest->n_runs * nest->run_bytes;
        copy_bytes(nest, part_begin(total, CUT_BYTES, k, n),
                   part_begin(total, CUT_BYTES, k + 1, n));
    } else {
        int64_t total = nest->n_runs;
        copy_units(nest, part_begin(total, 1, k, n), part_begin(total, 1, k + 1, n));
    }
}

pti_overlapping_copy pti_move_overlapping(const pti_move *move) {
    pti_overlapping_copy slices;
    bool is_alone = move->to.base != move->from.base ||
                    !pti_overlapping_begin(move->from.layout, move->to.layout, move->box, &slices);
    return is_alone ? pti_overlapping_whole(move->box) : slices;
}

static void copy_slice_with_threads(const pti_move *move, int n_threads) {
    pti_loop_nest nest = pti_loop_nest_of(move);
    int64_t n_bytes = nest.n_runs * nest.run_bytes;
    int64_t n_parts = pti_max(1, pti_min(n_threads, n_bytes / BYTES_WORTH_A_THREAD));
    if (n_parts == 1) {
        copy_part(&nest, 0, 1);
        return;
    }
#pragma omp parallel for num_threads((int)n_parts) schedule(static, 1)
    for (int64_t k = 0; k < n_parts; k++)
        copy_part(&nest, k, n_parts);
}

void pti_box_copy(const pti_move *move, int n_threads) {
    pti_overlapping_copy slices = pti_move_overlapping(move);
    polytile_domain box;
    pti_move slice = *move;
    slice.box = &box;
    while (pti_overlapping_next(&slices, &box))
        copy_slice_with_threads(&slice, n_threads);
}
