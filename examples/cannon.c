/* C = A B by Cannon's algorithm: each slot has a block of each matrix, and blocks go round. */
#include "cannon_kernels.h"
#include "common/fields.h"
#include "common/generate.h"
#include "common/team.h"

#include <math.h>
#include <string.h>

static const example_spec spec = {
    .name = "cannon",
    .summary = "Multiplies two n x n matrices of small whole numbers by Cannon's algorithm: q x q\n"
               "threads of a kernel have a block of each, which they send round.",
    .default_n = 512,
    .least_n = 1,
    .extras = EXAMPLE_TEAMS,
    .files = "files: none",
};

enum { A, B, C, N_ARRAYS };

/** How many slots there are along a side, and how long a block is, along a side. */
typedef struct blocks {
    int64_t q, m;
} blocks;

static blocks blocks_of(const polytile_array *array) {
    const polytile_domain *domain = polytile_array_get_domain(array);
    return (blocks){(int64_t)(sqrt((double)domain->range[0].hi + 1) + 0.5),
                    domain->range[1].hi + 1};
}

static float element(int64_t i, int64_t k, int which) {
    return (float)small_integer(i * 65537 + k, (uint64_t)which + 1, 2);
}

/** Fill the blocks of A or B as the algorithm begins: rows of A are rotated by their number to the
 * left, columns of B upwards. */
static void fill_blocks(polytile_array *array, int which) {
    const blocks of = blocks_of(array);
    float *at = polytile_array_get_data(array);
    for (int64_t slot = 0; slot < of.q * of.q; ++slot) {
        const int64_t i = slot / of.q, j = slot % of.q, both = (i + j) % of.q;
        const int64_t row = which == A ? i : both, column = which == A ? both : j;
        for (int64_t k = 0; k < of.m * of.m; ++k)
            *at++ = element(row * of.m + k / of.m, column * of.m + k % of.m, which);
    }
}

static void fill(polytile_array *const *arrays) {
    const blocks of = blocks_of(arrays[C]);
    const int64_t n = of.q * of.m;
    fill_blocks(arrays[A], A);
    fill_blocks(arrays[B], B);
    memset(polytile_array_get_data(arrays[C]), 0, (size_t)(n * n) * sizeof(float));
}

/** Compute a row of the product by plain loops. */
static void multiply_row(int64_t i, int64_t n, float *row) {
    for (int64_t j = 0; j < n; ++j)
        row[j] = 0;
    for (int64_t k = 0; k < n; ++k)
        for (int64_t j = 0; j < n; ++j)
            row[j] += element(i, k, A) * element(k, j, B);
}

static double largest_error(polytile_array *c, float *row) {
    const blocks of = blocks_of(c);
    const float *data = polytile_array_get_data(c);
    double largest = 0;
    for (int64_t i = 0; i < of.q * of.m; ++i) {
        multiply_row(i, of.q * of.m, row);
        for (int64_t j = 0; j < of.q * of.m; ++j) {
            const int64_t slot = i / of.m * of.q + j / of.m;
            const float got = data[(slot * of.m + i % of.m) * of.m + j % of.m];
            largest = fmax(largest, fabs((double)got - row[j]));
        }
    }
    return largest;
}

static polytile_status check(session *s, polytile_array *c, result *r) {
    void *row;
    TRY(session_allocate(s, "row", r->shape[0] * (int64_t)sizeof(float), false, &row));
    r->max_error = largest_error(c, row);
    return POLYTILE_OK;
}

static polytile_status cannon(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    const int64_t n = s->options.n > 0 ? s->options.n : spec.default_n, q = s->options.teams;
    const field_shape shape = {POLYTILE_F32, 3, {q * q, n / q, n / q}};
    const polytile_parameter side = POLYTILE_PARAMETER("q", q);
    static const char *const names[N_ARRAYS] = {"A", "B", "C"};
    if (n % q != 0)
        return session_fail(s, POLYTILE_INVALID,
                            "--teams %lld does not divide --n %lld; give a number that does",
                            (long long)q, (long long)n);
    for (int a = A; a < N_ARRAYS; ++a)
        TRY(field_create(s, names[a], &shape, &arrays[a]));
    s->launch_options.n_parameters = 1;
    s->launch_options.parameters = &side;
    r->type = shape.type;
    r->n_dims = 2;
    r->shape[0] = r->shape[1] = n;
    TRY(team_run(s,
                 &(team_launch){CANNON_DECLARATION, cannon_implementation(), q * q, N_ARRAYS,
                                arrays, fill, NULL},
                 r));
    return r->checked ? check(s, arrays[C], r) : POLYTILE_OK;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, cannon);
}
