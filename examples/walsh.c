/* The Walsh-Hadamard transform of a vector that need not fit the device. */
#include "walsh_elements.h"
#include "walsh_kernels.h"

#include "common/clock.h"
#include "common/fields.h"
#include "common/report.h"

#include <string.h>

static const example_spec spec = {
    .name = "walsh",
    .summary =
        "Transforms a vector of n small whole numbers in place by log2(n) stages of butterflies\n"
        "(Walsh-Hadamard, in natural order). The vector is attached as a matrix: stages within\n"
        "columns pass over it once, stages within rows once more. n is a power of two.",
    .default_n = 1 << 26,
    .least_n = 2,
    .uses_queue = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the vector before (f32 or f64, one dimension), --output the vector after",
};

enum { MAX_STAGES = 62, NEAR_ELEMENTS = 32 };

/** The ways in which partners lie; each has a kernel. */
typedef enum way { COLUMNS, ROWS, NEAR, N_WAYS } way;

/** A run. The vector is a matrix of rows x columns. */
typedef struct walsh {
    const walsh_elements *elements;
    field_shape shape;
    int64_t n;
    int64_t n_rows;
    int64_t n_columns;
    polytile_array *input; /* NULL: none */
    polytile_array *x;
    polytile_kernel *kernel[N_WAYS];
    int n_stages;
    polytile_chain_launch stage[MAX_STAGES];
    polytile_array *view[MAX_STAGES]; /* of the matrix, one a stage */
} walsh;

static polytile_status require_power_of_two(session *s, int64_t n) {
    if (n >= spec.least_n && (n & (n - 1)) == 0)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INVALID,
                        "%lld elements; a transform needs a power of two, at least 2",
                        (long long)n);
}

/** Choose the matrix: as many stages in columns as in rows, or one more. */
static void choose_matrix(walsh *w) {
    w->n_columns = 1;
    while (w->n_columns * w->n_columns * 4 <= w->n)
        w->n_columns *= 2;
    w->n_rows = w->n / w->n_columns;
}

static polytile_status open_vectors(session *s, walsh *w) {
    w->shape = (field_shape){POLYTILE_F32, 1, {s->options.n > 0 ? s->options.n : spec.default_n}};
    TRY(field_open_input(s, 0, "x", 1, &w->input));
    if (w->input != NULL) {
        w->shape = field_get_shape(w->input);
        TRY(field_require_n(s, w->shape.extent[0]));
    }
    w->n = w->shape.extent[0];
    w->elements = w->shape.type == POLYTILE_F64 ? &walsh_elements_f64 : &walsh_elements_f32;
    TRY(require_power_of_two(s, w->n));
    choose_matrix(w);
    return field_create_output(s, 0, "x", &w->shape, &w->x);
}

static polytile_status create_kernels(session *s, walsh *w) {
    const walsh_elements *of = w->elements;
    TRY(polytile_kernel_create(s->ctx, WALSH_COLUMNS_DECLARATION, of->columns(),
                               &w->kernel[COLUMNS]));
    TRY(polytile_kernel_create(s->ctx, WALSH_ROWS_DECLARATION, of->rows(), &w->kernel[ROWS]));
    return polytile_kernel_create(s->ctx, WALSH_NEAR_DECLARATION, of->near(), &w->kernel[NEAR]);
}

/** Add a stage on the matrix, seen with the given extents; of the threads, too. */
static polytile_status add_stage(walsh *w, polytile_array *matrix, way how,
                                 const polytile_domain *view, const polytile_domain *threads) {
    int k = w->n_stages++;
    TRY(polytile_array_reshape(matrix, "x", view, &w->view[k]));
    w->stage[k] = (polytile_chain_launch){
        .kernel = w->kernel[how], .domain = *threads, .n_arrays = 1, .arrays = &w->view[k]};
    return POLYTILE_OK;
}

static polytile_status add_stage_in_columns(walsh *w, polytile_array *matrix, int64_t distance) {
    int64_t n_groups = w->n_rows / (2 * distance);
    return add_stage(w, matrix, COLUMNS, POLYTILE_EXTENTS(n_groups, 2, distance, w->n_columns),
                     POLYTILE_EXTENTS(n_groups, distance, w->n_columns));
}

static polytile_status add_stage_in_rows(walsh *w, polytile_array *matrix, int64_t distance) {
    int64_t n_groups = w->n_columns / (2 * distance);
    const polytile_domain *view = POLYTILE_EXTENTS(w->n_rows, n_groups, 2, distance);
    if (distance < NEAR_ELEMENTS)
        return add_stage(w, matrix, NEAR, view, POLYTILE_EXTENTS(w->n_rows, distance, n_groups));
    return add_stage(w, matrix, ROWS, view, POLYTILE_EXTENTS(w->n_rows, n_groups, distance));
}

/** List all stages: those in columns, then those in rows. */
static polytile_status list_stages(walsh *w, polytile_array *matrix) {
    w->n_stages = 0;
    for (int64_t distance = 1; distance < w->n_rows; distance *= 2)
        TRY(add_stage_in_columns(w, matrix, distance));
    for (int64_t distance = 1; distance < w->n_columns; distance *= 2)
        TRY(add_stage_in_rows(w, matrix, distance));
    return POLYTILE_OK;
}

/** Plan over a matrix without memory. */
static polytile_status plan(session *s, walsh *w, result *r) {
    polytile_array *matrix;
    polytile_plan *together;
    TRY(polytile_array_describe(s->ctx, "x", w->shape.type,
                                POLYTILE_EXTENTS(w->n_rows, w->n_columns), &matrix));
    TRY(list_stages(w, matrix));
    TRY(polytile_plan_create_chain(w->n_stages, w->stage, 0, NULL, &s->launch_options.plan,
                                   &together));
    polytile_plan_get_summary(together, &r->plan);
    return POLYTILE_OK;
}

static polytile_status queue_stages(session *s, const walsh *w) {
    polytile_launch_options options = session_launch_options(s);
    for (int k = 0; k < w->n_stages; ++k)
        TRY(polytile_queue_launch(s->queue, w->stage[k].kernel, &w->stage[k].domain, 1,
                                  w->stage[k].arrays, &options));
    return POLYTILE_OK;
}

/** Queue all stages, which are planned together, and wait for the result. */
static polytile_status transform(session *s, const walsh *w, polytile_array *matrix) {
    TRY(polytile_queue_attach(s->queue, 1, &matrix));
    polytile_queue_pause(s->queue);
    TRY(queue_stages(s, w));
    polytile_queue_resume(s->queue);
    return polytile_queue_detach(s->queue, 1, &matrix);
}

static void begin_vector(const walsh *w, void *x) {
    int64_t n_bytes = w->n * polytile_type_get_bytes(w->shape.type);
    if (w->input != NULL)
        memcpy(x, polytile_array_get_data(w->input), (size_t)n_bytes);
    else
        w->elements->fill(x, w->n);
}

static polytile_status check(session *s, const walsh *w, result *r) {
    void *expected;
    TRY(session_allocate(s, "expected", w->n * polytile_type_get_bytes(w->shape.type), false,
                         &expected));
    begin_vector(w, expected);
    w->elements->transform(expected, w->n);
    r->checked = true;
    r->max_error = w->elements->compare(polytile_array_get_data(w->x), expected, w->n);
    return POLYTILE_OK;
}

static polytile_status run(session *s, walsh *w, result *r) {
    polytile_array *matrix;
    TRY(polytile_array_reshape(w->x, "x", POLYTILE_EXTENTS(w->n_rows, w->n_columns), &matrix));
    TRY(list_stages(w, matrix));
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        begin_vector(w, polytile_array_get_data(w->x));
        TRY(session_agree(s, POLYTILE_OK));
        double start_s = clock_now_s();
        TRY(transform(s, w, matrix));
        polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
        report_keep_fastest(r, &report);
    }
    return s->options.check ? check(s, w, r) : POLYTILE_OK;
}

static polytile_status walsh_transform(session *s, result *r) {
    walsh w = {0};
    TRY(session_check_block(s, 3));
    TRY(open_vectors(s, &w));
    TRY(create_kernels(s, &w));
    TRY(plan(s, &w, r));
    r->type = w.shape.type;
    r->n_dims = 1;
    r->shape[0] = w.n;
    return s->options.plan_only ? POLYTILE_OK : run(s, &w, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, walsh_transform);
}
