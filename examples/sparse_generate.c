/* Sparse matrices out of a seed. All are square. */
#include "sparse_matrix.h"

#include "common/generate.h"

#include <math.h>
#include <string.h>

enum { LARGEST_VALUE = 8, MOST_ROW_ENTRIES = 1 << 18, DRAW_BITS = 20 };

/** A number from 0 to below 1 that looks random, the same for the same two. */
static double draw(const sparse_source *source, int64_t position) {
    const int64_t half = INT64_C(1) << DRAW_BITS;
    const double drawn = (double)(small_integer(position, source->seed, half) + half);
    return drawn / (double)(2 * half + 1);
}

double sparse_draw_value(const sparse_source *source, int64_t entry) {
    return (double)small_integer(entry, source->seed + 1, LARGEST_VALUE);
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t band_begin(const sparse_source *source, int64_t row) {
    const int64_t reach = source->degree / 2;
    return row > reach ? row - reach : 0;
}

/** As many entries on both sides of the diagonal. */
static int64_t count_band(const sparse_source *source, int64_t row) {
    const int64_t reach = smaller(source->degree / 2, source->n_rows);
    return smaller(row + reach, source->n_rows - 1) - band_begin(source, row) + 1;
}

static int64_t get_band_column(const sparse_source *source, int64_t row, int64_t k, int64_t n) {
    (void)n;
    return band_begin(source, row) + k;
}

/** As many entries in each row. */
static int64_t count_uniform(const sparse_source *source, int64_t row) {
    (void)row;
    return smaller(source->degree, source->n_rows);
}

/** Where in a row the k-th of n entries lies, from 0 to below 1: they ascend. */
static double draw_place(const sparse_source *source, int64_t row, int64_t k, int64_t n) {
    return ((double)k + draw(source, (row << DRAW_BITS) + k)) / (double)n;
}

static int64_t get_uniform_column(const sparse_source *source, int64_t row, int64_t k, int64_t n) {
    const double column = draw_place(source, row, k, n) * (double)source->n_rows;
    return smaller((int64_t)column, source->n_rows - 1);
}

/** Of the rows with more than n entries there are as many as n to the power of -1.5. */
static int64_t count_power(const sparse_source *source, int64_t row) {
    const double u = 1.0 - draw(source, row);
    const double n = (double)source->degree / 3.0 / cbrt(u * u);
    return (int64_t)fmin(n, (double)smaller(source->n_rows, MOST_ROW_ENTRIES));
}

/** More entries lie in the first columns; a row may have two in one. */
static int64_t get_power_column(const sparse_source *source, int64_t row, int64_t k, int64_t n) {
    const double place = draw_place(source, row, k, n);
    return smaller((int64_t)(place * place * (double)source->n_rows), source->n_rows - 1);
}

static const sparse_generator generators[] = {
    {"band", false, true, count_band, get_band_column},
    {"uniform", false, false, count_uniform, get_uniform_column},
    {"power", true, false, count_power, get_power_column},
};

const sparse_generator *sparse_find_generator(const char *name) {
    for (size_t k = 0; k < sizeof generators / sizeof *generators; ++k)
        if (strcmp(name, generators[k].name) == 0)
            return &generators[k];
    return NULL;
}
