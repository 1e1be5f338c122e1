#include "launch/host/copy/box_copy.h"

#include "base/checked.h"
#include "launch/host/copy/loop_nest.h"

#include <string.h>

enum {
    BYTES_WORTH_A_THREAD = 128 * 1024, /* starting one costs what copying a few KiB does */
    LARGE_RUN_BYTES = 4096,            /* from here runs are cut between threads */
    CUT_BYTES = 64,                    /* a cache line */
};

/** Copy count runs along a loop. */
typedef void copy_row(char *to, const char *from, pti_loop row, int64_t count, int64_t run_bytes);

/** For runs of a size known to the compiler, each one load and one store. */
#define COPY_ROW_OF(size)                                                                          \
    static void copy_row_of_##size(char *to, const char *from, pti_loop row, int64_t count,        \
                                   int64_t run_bytes) {                                            \
        (void)run_bytes;                                                                           \
        for (int64_t k = 0; k < count; k++)                                                        \
            memcpy(to + k * row.to_step, from + k * row.from_step, size);                          \
    }
COPY_ROW_OF(1)
COPY_ROW_OF(2)
COPY_ROW_OF(4)
COPY_ROW_OF(8)
COPY_ROW_OF(12)
COPY_ROW_OF(16)
COPY_ROW_OF(24)
COPY_ROW_OF(32)
COPY_ROW_OF(64)

static inline void copy_ends(char *to, const char *from, int64_t second, size_t size) {
    memcpy(to, from, size);
    memcpy(to + second, from + second, size);
}

/** For runs of `size` to 2 * size bytes: their first and their last `size` bytes, which overlap. */
#define COPY_ENDS_OF(size)                                                                         \
    static void copy_ends_of_##size(char *to, const char *from, pti_loop row, int64_t count,       \
                                    int64_t run_bytes) {                                           \
        for (int64_t k = 0; k < count; k++)                                                        \
            copy_ends(to + k * row.to_step, from + k * row.from_step, run_bytes - (size), size);   \
    }
COPY_ENDS_OF(4)
COPY_ENDS_OF(8)
COPY_ENDS_OF(16)
COPY_ENDS_OF(32)

static void copy_any_row(char *to, const char *from, pti_loop row, int64_t count,
                         int64_t run_bytes) {
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * row.to_step, from + k * row.from_step, (size_t)run_bytes);
}

/** What copies rows of runs of some sizes. */
typedef struct row_kind {
    int64_t least_bytes; /* of a run */
    int64_t most_bytes;
    copy_row *copy;
} row_kind;

#define ROW(size)                                                                                  \
    { size, size, copy_row_of_##size }
#define ENDS(size)                                                                                 \
    { size, 2 * (size), copy_ends_of_##size }

/** The first row that suits is taken; the last one suits all. */
static const row_kind row_kinds[] = {
    ROW(1),  ROW(2),  ROW(4),  ROW(8),  ROW(12),  ROW(16),  ROW(24),
    ROW(32), ROW(64), ENDS(4), ENDS(8), ENDS(16), ENDS(32), {0, INT64_MAX, copy_any_row}};

static copy_row *find_copy_row(int64_t run_bytes) {
    const row_kind *found = row_kinds;
    while (run_bytes < found->least_bytes || run_bytes > found->most_bytes)
        found++;
    return found->copy;
}

/** Copy the runs first .. end - 1 in C order. */
static void copy_units(const pti_loop_nest *nest, int64_t first, int64_t end) {
    copy_row *copy = find_copy_row(nest->run_bytes);
    while (first < end) {
        char *to;
        const char *from;
        int64_t count = pti_min(pti_loop_nest_locate(nest, first, &to, &from), end - first);
        copy(to, from, nest->loops[nest->n_loops - 1], count, nest->run_bytes);
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

void pti_loop_nest_copy(const pti_loop_nest *nest) {
    if (nest->n_loops == 1)
        find_copy_row(nest->run_bytes)(nest->to, nest->from, nest->loops[0], nest->n_runs,
                                       nest->run_bytes);
    else
        copy_units(nest, 0, nest->n_runs);
}

static void copy_slice_with_threads(const pti_move *move, int n_threads) {
    pti_loop_nest nest = pti_loop_nest_of(move);
    int64_t n_bytes = nest.n_runs * nest.run_bytes;
    int64_t n_parts = pti_max(1, pti_min(n_threads, n_bytes / BYTES_WORTH_A_THREAD));
    if (n_parts == 1) {
        pti_loop_nest_copy(&nest);
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
