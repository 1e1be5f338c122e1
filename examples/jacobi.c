/* Time steps of a five-point stencil on a field that need not fit the device. */
#include "common/fields.h"
#include "common/report.h"
#include "jacobi_elements.h"
#include "jacobi_kernels.h"

#include <string.h>

static const example_spec spec = {
    .name = "jacobi",
    .summary = "Runs time steps of a five-point stencil, each element becoming the mean of itself\n"
               "and its four neighbours, on an n x n plate or on a field of your own.",
    .default_n = 8192,
    .least_n = 3,
    .extras = EXAMPLE_STEPS,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the field before (f32 or f64, two dimensions), --output the field after",
};

/** The fields of a run. The steps write result and scratch in turn, so that the last one writes
 * result; the first one reads initial, which is one of the two unless it is the user's. */
typedef struct fields {
    field_shape shape;
    const jacobi_elements *elements;
    polytile_array *input; /* NULL: a plate is generated */
    polytile_array *result;
    polytile_array *scratch;
    polytile_array *initial;
} fields;

static polytile_status open_fields(session *s, fields *f) {
    int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    f->shape = (field_shape){POLYTILE_F32, 2, {n, n}};
    TRY(field_open_input(s, 0, "A", 2, &f->input));
    if (f->input != NULL) {
        f->shape = field_get_shape(f->input);
        TRY(field_require_n(s, f->shape.extent[0]));
    }
    if (f->shape.extent[0] < spec.least_n || f->shape.extent[1] < spec.least_n)
        return session_fail(s, POLYTILE_INVALID,
                            "the field is smaller than 3 x 3: no element has "
                            "four neighbours");
    f->elements = f->shape.type == POLYTILE_F64 ? &jacobi_elements_f64 : &jacobi_elements_f32;
    TRY(field_create_output(s, 0, "B", &f->shape, &f->result));
    TRY(field_create_scratch(s, "scratch", &f->shape, &f->scratch));
    f->initial = f->input;
    if (f->input == NULL)
        f->initial = s->options.steps % 2 == 0 ? f->result : f->scratch;
    return POLYTILE_OK;
}

/** Set the fields up as they are before the first step. */
static void prepare(const fields *f) {
    int64_t rows = f->shape.extent[0], columns = f->shape.extent[1];
    void *initial = polytile_array_get_data(f->initial);
    polytile_array *const written[] = {f->result, f->scratch};
    if (f->input == NULL)
        f->elements->fill(initial, rows, columns);
    for (int w = 0; w < 2; ++w)
        if (written[w] != f->initial)
            f->elements->copy_border(polytile_array_get_data(written[w]), initial, rows, columns);
}

static polytile_status run_steps(session *s, const polytile_kernel *kernel,
                                 const polytile_plan *plan, const fields *f, polytile_report *sum) {
    polytile_array *from = f->initial;
    for (int64_t left = s->options.steps; left > 0; --left) {
        polytile_array *to = left % 2 == 1 ? f->result : f->scratch;
        polytile_report report;
        TRY(polytile_plan_run(plan, s->device, kernel, (polytile_array *[]){from, to}));
        polytile_device_get_report(s->device, &report);
        report_add(sum, &report);
        from = to;
    }
    return POLYTILE_OK;
}

/** Run the same steps with a plain loop and compare. */
static polytile_status check(session *s, const fields *f, result *r) {
    int64_t rows = f->shape.extent[0], columns = f->shape.extent[1];
    int64_t n_bytes = rows * columns * polytile_type_get_bytes(f->shape.type);
    void *first, *second;
    TRY(session_allocate(s, "expected", n_bytes, false, &first));
    TRY(session_allocate(s, "expected before", n_bytes, false, &second));
    if (f->input == NULL)
        f->elements->fill(first, rows, columns);
    else
        memcpy(first, polytile_array_get_data(f->input), (size_t)n_bytes);
    f->elements->copy_border(second, first, rows, columns);
    void *expected = f->elements->run_plain(first, second, rows, columns, s->options.steps);
    r->checked = true;
    r->max_error =
        f->elements->compare(polytile_array_get_data(f->result), expected, rows * columns);
    return POLYTILE_OK;
}

static polytile_status run(session *s, const polytile_kernel *kernel, const polytile_plan *plan,
                           const fields *f, result *r) {
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        polytile_report sum = {0};
        prepare(f);
        TRY(run_steps(s, kernel, plan, f, &sum));
        report_keep_fastest(r, &sum);
    }
    return s->options.check ? check(s, f, r) : POLYTILE_OK;
}

static polytile_status jacobi(session *s, result *r) {
    fields f;
    polytile_kernel *kernel;
    polytile_plan *plan;
    TRY(session_check_block(s, 2));
    TRY(open_fields(s, &f));
    const int64_t *extent = f.shape.extent;
    polytile_domain interior = polytile_domain_from_bounds(
        2, (const int64_t[]){1, 1}, (const int64_t[]){extent[0] - 2, extent[1] - 2});
    TRY(polytile_kernel_create(s->ctx, JACOBI_DECLARATION, f.elements->implementation(), &kernel));
    TRY(polytile_plan_create(kernel, &interior, (polytile_array *[]){f.scratch, f.result},
                             &s->plan_options, &plan));
    r->type = f.shape.type;
    r->n_dims = 2;
    memcpy(r->shape, extent, sizeof(r->shape));
    r->n_launches = s->options.steps;
    polytile_plan_get_summary(plan, &r->plan);
    return s->options.plan_only ? POLYTILE_OK : run(s, kernel, plan, &f, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, jacobi);
}
