/* Equal boxes of the shape that the linear equations of the paper give. The memory of one block,
 * and of two blocks along each index, define a plane. Shapes are tried where it meets the limit.
 * The one with the fewest kernels wins. Of several with as few, the one wins that has the fewest
 * once it is halved until it fits. Memory really grows with the product of the extents, so in two
 * and more dimensions the answer can exceed the limit many times over.
 *
 * Source  Torres et al., section IV-B and IV-C, literally. */
#include "base/checked.h"
#include "partition/cut/family.h"
#include "partition/cut/fit.h"

#include <math.h>
#include <string.h>

/** Return the threads of a block in the middle of the grid, or of two along one index. */
static polytile_domain sample_threads(const pti_problem *problem, int doubled) {
    int64_t first[POLYTILE_MAX_DIMS];
    int64_t shape[POLYTILE_MAX_DIMS];
    for (int d = 0; d < problem->instance->n_indices; d++) {
        shape[d] = pti_min(d == doubled ? 2 : 1, problem->grid.n_blocks[d]);
        first[d] = (problem->grid.n_blocks[d] - shape[d]) / 2;
    }
    return pti_grid_box(&problem->grid, first, shape);
}

static double sample_bytes(const pti_problem *problem, int doubled) {
    int64_t operand_bytes[PTI_MAX_OPERANDS];
    polytile_domain threads = sample_threads(problem, doubled);
    return (double)pti_piece_bytes(problem->instance, &threads, operand_bytes);
}

/** Fit a plane to the bytes of one block, and of one more block along each index. */
static void fit_plane(const pti_problem *problem, pti_solution *plane) {
    double one_block = sample_bytes(problem, -1);
    *plane = (pti_solution){.constant_bytes = one_block, .sample = sample_threads(problem, -1)};
    for (int d = 0; d < problem->instance->n_indices; d++) {
        plane->slope_bytes[d] = sample_bytes(problem, d) - one_block;
        plane->constant_bytes -= plane->slope_bytes[d];
    }
}

/** The search for the shape with the fewest kernels by the paper's plane. */
typedef struct paper_search {
    const pti_problem *problem;
    const pti_variant *variant;
    pti_solution *plane;
    int64_t fewest;         /* kernels, by the plane */
    int64_t fewest_fitting; /* of shapes with as few: kernels of what is left of them */
} paper_search;

/** Return the kernels of a shape that is halved until it fits; INT64_MAX if it never does. */
static int64_t count_fitting(const paper_search *of, const int64_t *shape) {
    int64_t left[POLYTILE_MAX_DIMS];
    memcpy(left, shape, sizeof left);
    bool fits = pti_fit_shrink(of->problem, of->variant, left);
    return fits ? pti_grid_n_superblocks(&of->problem->grid, left) : INT64_MAX;
}

/** Keep a shape that has fewer kernels, or as few by the plane and fewer when it fits. */
static void keep_if_fewer(paper_search *of, const int64_t *shape) {
    int64_t n_kernels = pti_grid_n_superblocks(&of->problem->grid, shape);
    if (n_kernels > of->fewest)
        return;
    int64_t n_fitting = count_fitting(of, shape);
    if (n_kernels == of->fewest && n_fitting >= of->fewest_fitting)
        return;
    of->fewest = n_kernels;
    of->fewest_fitting = n_fitting;
    memcpy(of->plane->shape, shape, (size_t)of->problem->instance->n_indices * sizeof *shape);
}

/** Return the most blocks along d that the plane leaves room for, given what the indices before it
 * take. */
static int64_t solve_last(const paper_search *of, const int64_t *shape, int d) {
    double rest = (double)of->problem->limit_bytes - of->plane->constant_bytes;
    for (int k = 0; k < d; k++)
        rest -= of->plane->slope_bytes[k] * (double)shape[k];
    int64_t n_blocks = of->problem->grid.n_blocks[d];
    if (of->plane->slope_bytes[d] <= 0)
        return rest >= 0 ? n_blocks : 0;
    double blocks = floor(rest / of->plane->slope_bytes[d]);
    return blocks < 1 ? 0 : (int64_t)fmin(blocks, (double)n_blocks);
}

/** Consider a shape, and the smaller one that cuts an index into as many equal parts. */
static void consider_even(paper_search *of, int64_t *shape, int d) {
    int64_t n_blocks = of->problem->grid.n_blocks[d];
    keep_if_fewer(of, shape);
    shape[d] = pti_ceil_div(n_blocks, pti_ceil_div(n_blocks, shape[d]));
    keep_if_fewer(of, shape);
}

static void try_shapes(paper_search *of, int64_t *shape, int d) {
    int n_dims = of->problem->instance->n_indices;
    if (d == n_dims - 1) {
        shape[d] = solve_last(of, shape, d);
        if (shape[d] > 0)
            consider_even(of, shape, d);
        return;
    }
    int64_t n_blocks = of->problem->grid.n_blocks[d];
    for (int64_t quotient = 1; quotient <= n_blocks;) {
        shape[d] = pti_ceil_div(n_blocks, quotient);
        try_shapes(of, shape, d + 1);
        if (shape[d] == 1)
            break;
        quotient = pti_ceil_div(n_blocks, shape[d] - 1);
    }
}

static bool solve_plane(const pti_problem *problem, const pti_variant *variant,
                        pti_solution *solution) {
    int64_t tried[POLYTILE_MAX_DIMS] = {0};
    paper_search of = {.problem = problem,
                       .variant = variant,
                       .plane = solution,
                       .fewest = INT64_MAX,
                       .fewest_fitting = INT64_MAX};
    fit_plane(problem, solution);
    try_shapes(&of, tried, 0);
    return of.fewest < INT64_MAX;
}

const pti_family pti_family_paper = {
    .name = "paper",
    .solve = solve_plane,
    .seconds = pti_plain_seconds,
    .partition = pti_partition_uniform,
};
