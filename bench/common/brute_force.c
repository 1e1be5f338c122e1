#include "common/brute_force.h"

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

static int64_t grid_blocks(const brute_problem *problem, int d) {
    return ceil_div(problem->threads[d], problem->block[d]);
}

double brute_bytes(const brute_problem *problem, const int64_t *shape) {
    double bytes = 0.0;
    for (int a = 0; a < problem->n_operands; a++) {
        const brute_operand *operand = &problem->operand[a];
        double elements = 1.0;
        for (int d = 0; d < operand->n_dims; d++) {
            int index = operand->dim[d].index;
            int64_t extent =
                index < 0 ? operand->dim[d].whole
                          : least(shape[index] * problem->block[index], problem->threads[index]) +
                                operand->dim[d].halo;
            elements *= (double)extent;
        }
        bytes += 4.0 * elements;
    }
    return bytes;
}

/** The largest extent of the last index that fits, 0 if none does; the others are in shape. */
static int64_t largest_last(const brute_problem *problem, int64_t *shape, int64_t limit_bytes) {
    int last = problem->n_indices - 1;
    int64_t fits = 0, exceeds = grid_blocks(problem, last) + 1;
    while (exceeds - fits > 1) {
        shape[last] = fits + (exceeds - fits) / 2;
        if (brute_bytes(problem, shape) <= (double)limit_bytes)
            fits = shape[last];
        else
            exceeds = shape[last];
    }
    return fits;
}

static int64_t count_kernels(const brute_problem *problem, const int64_t *shape) {
    int64_t kernels = 1;
    for (int d = 0; d < problem->n_indices; d++)
        kernels *= ceil_div(grid_blocks(problem, d), shape[d]);
    return kernels;
}

/** Go on to the next extents of all indices but the last; false after the last of them. */
static int next_shape(const brute_problem *problem, int64_t *shape) {
    for (int d = problem->n_indices - 2; d >= 0; d--) {
        if (++shape[d] <= grid_blocks(problem, d))
            return 1;
        shape[d] = 1;
    }
    return 0;
}

int64_t brute_fewest_kernels(const brute_problem *problem, int64_t limit_bytes) {
    int64_t shape[POLYTILE_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t fewest = 0;
    do {
        int64_t last = largest_last(problem, shape, limit_bytes);
        shape[problem->n_indices - 1] = last;
        if (last == 0)
            continue;
        int64_t kernels = count_kernels(problem, shape);
        if (fewest == 0 || kernels < fewest)
            fewest = kernels;
    } while (next_shape(problem, shape));
    return fewest;
}
