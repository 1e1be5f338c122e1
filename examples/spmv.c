/* The product of a sparse matrix and a vector, which need not fit the device. */
#include "sparse_matrix.h"
#include "spmv_elements.h"
#include "spmv_kernels.h"

#include "common/clock.h"
#include "common/fields.h"
#include "common/report.h"

#include <inttypes.h>
#include <string.h>

static const example_spec spec = {
    .name = "spmv",
    .summary =
        "Computes y = A x, A being a sparse matrix in compressed rows: a band, one with entries\n"
        "anywhere, one in which few rows have many entries, or that of a Matrix Market file.\n"
        "The elements are small whole numbers unless they are read from files.",
    .extras = EXAMPLE_MATRIX | EXAMPLE_SPARSE_KERNELS,
    .uses_queue = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files = "files: --input x (f32 or f64, one dimension), --output y, of the same type",
};

enum { N_ARRAYS = 5 };

/** A run. */
typedef struct spmv {
    const spmv_elements *elements;
    polytile_type type;
    bool by_entries; /* a thread an entry */
    sparse_matrix A;
    polytile_array *x;
    polytile_array *y;
    polytile_kernel *kernel;
    polytile_domain threads;
    polytile_array *arrays[N_ARRAYS]; /* as the kernel names them */
} spmv;

static bool multiplies_by_entries(const session *s) {
    if (s->options.kernel == EXAMPLE_AUTO_KERNEL)
        return sparse_is_skewed(s);
    return s->options.kernel == EXAMPLE_ENTRIES_KERNEL;
}

/** Take x from the file, whose type the matrix has then; else it is made for the matrix. */
static polytile_status open_x(session *s, spmv *of) {
    TRY(field_open_input(s, 0, "x", 1, &of->x));
    of->type = of->x != NULL ? polytile_array_get_type(of->x) : POLYTILE_F32;
    of->elements = of->type == POLYTILE_F64 ? &spmv_elements_f64 : &spmv_elements_f32;
    return POLYTILE_OK;
}

static polytile_status create_vectors(session *s, spmv *of) {
    const field_shape x = {of->type, 1, {of->A.n_columns}}, y = {of->type, 1, {of->A.n_rows}};
    if (of->x != NULL) {
        TRY(field_require_shape(s, of->x, &x));
    } else {
        TRY(field_create(s, "x", &x, &of->x));
        if (!s->options.plan_only)
            of->elements->fill(polytile_array_get_data(of->x), of->A.n_columns);
    }
    return field_create_output(s, 0, "y", &y, &of->y);
}

static polytile_status open_problem(session *s, spmv *of) {
    of->by_entries = multiplies_by_entries(s);
    TRY(open_x(s, of));
    const sparse_request request = {.type = of->type, .has_row_numbers = of->by_entries};
    TRY(sparse_open(s, &request, &of->A));
    if (of->by_entries && of->A.n_entries == 0)
        return session_fail(s, POLYTILE_INVALID,
                            "--kernel entries needs a matrix with entries; take rows");
    return create_vectors(s, of);
}

static polytile_status create_kernel(session *s, spmv *of) {
    const sparse_matrix *A = &of->A;
    polytile_array *const by_rows[N_ARRAYS] = {A->V, A->P, of->x, A->K, of->y},
                          *const by_entries[N_ARRAYS] = {A->V, of->x, A->K, of->y, A->R};
    memcpy(of->arrays, of->by_entries ? by_entries : by_rows, sizeof of->arrays);
    of->threads = *POLYTILE_EXTENTS(of->by_entries ? A->n_entries : A->n_rows);
    return polytile_kernel_create(
        s->ctx, of->by_entries ? SPMV_ENTRIES_DECLARATION : SPMV_ROWS_DECLARATION,
        of->by_entries ? of->elements->entries() : of->elements->rows(), &of->kernel);
}

static polytile_status plan(session *s, const spmv *of, result *r) {
    polytile_plan *alone;
    TRY(polytile_plan_create(of->kernel, &of->threads, N_ARRAYS, of->arrays, &s->launch_options,
                             &alone));
    polytile_plan_get_summary(alone, &r->plan);
    return POLYTILE_OK;
}

/** Multiply once. y comes to the host after it; the rest stays attached, and on the device as far
 * as it fits. */
static polytile_status multiply(session *s, spmv *of) {
    const polytile_launch_options options = session_launch_options(s);
    TRY(polytile_queue_attach(s->queue, 1, &of->y));
    TRY(polytile_queue_launch(s->queue, of->kernel, &of->threads, N_ARRAYS, of->arrays, &options));
    return polytile_queue_detach(s->queue, 1, &of->y);
}

/** Sums of the entries' own threads come in any order, which shows where numbers are the user's. */
static void check(const session *s, const spmv *of, result *r) {
    const sparse_matrix *A = &of->A;
    const spmv_problem problem = {A->n_rows,
                                  polytile_array_get_data(A->P),
                                  polytile_array_get_data(A->K),
                                  polytile_array_get_data(A->V),
                                  polytile_array_get_data(of->x),
                                  polytile_array_get_data(of->y)};
    double bound;
    r->checked = true;
    r->max_error = of->elements->compare(&problem, &bound);
    if (of->by_entries && (s->options.matrix != NULL || s->options.n_inputs > 0))
        r->tolerance = bound;
}

static polytile_status run(session *s, spmv *of, result *r) {
    polytile_array *const kept[] = {of->A.V, of->A.K, of->x, of->by_entries ? of->A.R : of->A.P};
    const int n_kept = sizeof kept / sizeof *kept;
    const size_t y_bytes = (size_t)(of->A.n_rows * polytile_type_get_bytes(of->type));
    TRY(polytile_queue_attach(s->queue, n_kept, kept));
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        memset(polytile_array_get_data(of->y), 0, y_bytes);
        const double start_s = clock_now_s();
        TRY(multiply(s, of));
        const polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
        report_keep_fastest(r, &report);
    }
    TRY(polytile_queue_detach(s->queue, n_kept, kept));
    if (s->options.check)
        check(s, of, r);
    return POLYTILE_OK;
}

static polytile_status spmv_multiply(session *s, result *r) {
    spmv of = {0};
    TRY(session_check_block(s, 1));
    TRY(open_problem(s, &of));
    TRY(create_kernel(s, &of));
    r->type = of.type;
    r->n_dims = 2;
    r->shape[0] = of.A.n_rows;
    r->shape[1] = of.A.n_columns;
    r->counts[0] = (result_count){"entries", of.A.n_entries};
    r->counts[1] = (result_count){"longest_row", of.A.longest_row};
    TRY(plan(s, &of, r));
    return s->options.plan_only ? POLYTILE_OK : run(s, &of, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, spmv_multiply);
}
