/* Conjugate gradients with a sparse matrix that need not fit the device, as its vectors do. */
#include "cg_kernels.h"
#include "cg_plain.h"
#include "sparse_matrix.h"
#include "spmv_kernels.h"

#include "common/clock.h"
#include "common/compare.h"
#include "common/fields.h"
#include "common/generate.h"
#include "common/report.h"

#include <string.h>

static const example_spec spec = {
    .name = "cg",
    .summary =
        "Solves A x = b by conjugate gradients, A being a sparse matrix that is symmetric and\n"
        "positive definite: a band, or that of a Matrix Market file. All iterations are queued at\n"
        "once. Step sizes lie in arrays of one element, and the vectors stay on the device.",
    .extras = EXAMPLE_MATRIX | EXAMPLE_ITERATIONS,
    .uses_queue = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files = "files: --input b (f64, one dimension), --output x, of the same type",
};

/** x, r, p and q are used by each iteration. */
enum { N_VECTORS = 4, SEED = 7, LARGEST = 8 };

/** A run. rr[0] and rr[1] take turns as the newest one. */
typedef struct cg {
    sparse_matrix A;
    polytile_array *b, *x, *r, *p, *q; /* r, p, q, rr and pq are internal to the queue */
    polytile_array *rr[2], *pq;
    polytile_kernel *begin, *multiply, *dot, *step, *turn;
} cg;

static polytile_status open_b(session *s, cg *of) {
    const field_shape shape = {POLYTILE_F64, 1, {of->A.n_rows}};
    TRY(field_open_input(s, 0, "b", 1, &of->b));
    if (of->b != NULL)
        return field_require_shape(s, of->b, &shape);
    TRY(field_create(s, "b", &shape, &of->b));
    double *b = polytile_array_get_data(of->b);
    for (int64_t i = 0; !s->options.plan_only && i < of->A.n_rows; ++i)
        b[i] = (double)small_integer(i, SEED, LARGEST);
    return POLYTILE_OK;
}

static polytile_status open_problem(session *s, cg *of) {
    const sparse_request request = {.type = POLYTILE_F64, .is_definite = true};
    TRY(sparse_open(s, &request, &of->A));
    TRY(open_b(s, of));
    const field_shape shape = {POLYTILE_F64, 1, {of->A.n_rows}};
    return field_create_output(s, 0, "x", &shape, &of->x);
}

static polytile_status create_kernels(session *s, cg *of) {
    const struct {
        const char *declaration;
        const polytile_implementation *body;
        polytile_kernel **kernel;
    } all[] = {
        {CG_BEGIN_DECLARATION, cg_begin_implementation(), &of->begin},
        {SPMV_ROWS_DECLARATION, spmv_rows_f64_implementation(), &of->multiply},
        {CG_DOT_DECLARATION, cg_dot_implementation(), &of->dot},
        {CG_STEP_DECLARATION, cg_step_implementation(), &of->step},
        {CG_TURN_DECLARATION, cg_turn_implementation(), &of->turn},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        TRY(polytile_kernel_create(s->ctx, all[k].declaration, all[k].body, all[k].kernel));
    return POLYTILE_OK;
}

/** Vectors and numbers that only launches use. */
static polytile_status create_internal_arrays(session *s, cg *of) {
    static const int64_t one = 1;
    const struct {
        const char *name;
        const int64_t *extent;
        polytile_array **array;
    } all[] = {{"r", &of->A.n_rows, &of->r}, {"p", &of->A.n_rows, &of->p},
               {"q", &of->A.n_rows, &of->q}, {"rr", &one, &of->rr[0]},
               {"rr", &one, &of->rr[1]},     {"pq", &one, &of->pq}};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        TRY(polytile_queue_create_array(s->queue, all[k].name, POLYTILE_F64, 1, all[k].extent,
                                        all[k].array));
    return POLYTILE_OK;
}

static int64_t bytes_of(const polytile_array *array) {
    const polytile_range range = polytile_array_get_domain(array)->range[0];
    return (range.hi - range.lo + 1) * polytile_type_get_bytes(polytile_array_get_type(array));
}

static int64_t matrix_bytes(const cg *of) {
    return bytes_of(of->A.P) + bytes_of(of->A.K) + bytes_of(of->A.V);
}

static int64_t vector_bytes(const cg *of) {
    return N_VECTORS * bytes_of(of->b);
}

/** Return the least that can move: b and the matrix once, what of the matrix does not fit beside
 * the vectors once more an iteration, and x. */
static int64_t least_bytes(const session *s, const cg *of) {
    const int64_t over = matrix_bytes(of) + vector_bytes(of) - s->limit_bytes;
    if (s->limit_bytes == 0)
        return 0;
    return 2 * bytes_of(of->b) + matrix_bytes(of) + (over > 0 ? over : 0) * (s->options.steps - 1);
}

/** Plan one product. */
static polytile_status plan(session *s, const cg *of, result *r) {
    polytile_plan *product;
    polytile_array *q;
    TRY(polytile_array_describe(s->ctx, "q", POLYTILE_F64, POLYTILE_EXTENTS(of->A.n_rows), &q));
    TRY(polytile_plan_create(of->multiply, POLYTILE_EXTENTS(of->A.n_rows),
                             POLYTILE_ARRAYS(of->A.V, of->A.P, of->b, of->A.K, q),
                             &s->launch_options, &product));
    polytile_plan_get_summary(product, &r->plan);
    return POLYTILE_OK;
}

#define LAUNCH(kernel, ...)                                                                        \
    TRY(polytile_queue_launch(s->queue, of->kernel, rows, POLYTILE_ARRAYS(__VA_ARGS__), &options))

static polytile_status queue_iterations(session *s, const cg *of) {
    const polytile_launch_options options = session_launch_options(s);
    const polytile_domain *rows = POLYTILE_EXTENTS(of->A.n_rows);
    LAUNCH(begin, of->b, of->x, of->r, of->p);
    LAUNCH(dot, of->r, of->r, of->rr[0]);
    for (int64_t k = 0; k < s->options.steps; ++k) {
        polytile_array *before = of->rr[k % 2], *rr = of->rr[(k + 1) % 2];
        LAUNCH(multiply, of->A.V, of->A.P, of->p, of->A.K, of->q);
        LAUNCH(dot, of->p, of->q, of->pq);
        LAUNCH(step, before, of->pq, of->p, of->q, of->x, of->r);
        LAUNCH(dot, of->r, of->r, rr);
        LAUNCH(turn, rr, before, of->r, of->p);
    }
    return POLYTILE_OK;
}

/** Solve once. Nothing runs before all is queued, so that plans do not depend on who is faster. */
static polytile_status solve(session *s, const cg *of) {
    polytile_array *const kept[] = {of->r, of->p, of->q, of->rr[0], of->rr[1], of->pq};
    polytile_array *const moved[] = {of->b, of->x};
    TRY(polytile_queue_attach(s->queue, 2, moved));
    polytile_queue_pause(s->queue);
    TRY(queue_iterations(s, of));
    polytile_queue_resume(s->queue);
    TRY(polytile_queue_discard(s->queue, sizeof kept / sizeof *kept, kept));
    return polytile_queue_detach(s->queue, 2, moved);
}

/** Compare with plain loops. Sums in another order round in another way, which each step passes
 * on. */
static polytile_status check(session *s, const cg *of, result *r) {
    static const double tolerance = 1e-8;
    const cg_problem problem = {of->A.n_rows, polytile_array_get_data(of->A.P),
                                polytile_array_get_data(of->A.K), polytile_array_get_data(of->A.V),
                                polytile_array_get_data(of->b)};
    const double *x = polytile_array_get_data(of->x);
    double largest = 0;
    void *memory;
    TRY(session_allocate(s, "expected", bytes_of(of->x), false, &memory));
    double *expected = memory;
    if (!cg_solve_plainly(&problem, s->options.steps, expected))
        return session_fail(s, POLYTILE_NO_MEMORY, "no memory is left to check the result");
    for (int64_t i = 0; i < problem.n; ++i) {
        r->max_error = fmax(r->max_error, difference(x[i], expected[i]));
        largest = fmax(largest, fabs(expected[i]));
    }
    r->checked = true;
    r->tolerance = tolerance * largest;
    return POLYTILE_OK;
}

static polytile_status run(session *s, cg *of, result *r) {
    polytile_array *const matrix[] = {of->A.V, of->A.P, of->A.K};
    TRY(create_internal_arrays(s, of));
    TRY(polytile_queue_attach(s->queue, 3, matrix));
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        const double start_s = clock_now_s();
        TRY(solve(s, of));
        const polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, least_bytes(s, of));
        report_keep_fastest(r, &report);
    }
    TRY(polytile_queue_detach(s->queue, 3, matrix));
    return s->options.check ? check(s, of, r) : POLYTILE_OK;
}

static polytile_status cg_solve(session *s, result *r) {
    cg of = {0};
    TRY(session_check_block(s, 1));
    TRY(open_problem(s, &of));
    TRY(create_kernels(s, &of));
    TRY(plan(s, &of, r));
    r->type = POLYTILE_F64;
    r->n_dims = 1;
    r->shape[0] = of.A.n_rows;
    r->n_steps = s->options.steps;
    r->counts[0] = (result_count){"entries", of.A.n_entries};
    r->counts[1] = (result_count){"matrix_bytes", matrix_bytes(&of)};
    r->counts[2] = (result_count){"vector_bytes", vector_bytes(&of)};
    r->counts[3] = (result_count){"least_bytes", least_bytes(s, &of)};
    return s->options.plan_only ? POLYTILE_OK : run(s, &of, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, cg_solve);
}
