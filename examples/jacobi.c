/* Time steps of a five-point stencil on a field that need not fit the device: launches of a queue,
 * so that what a step wrote stays on the device for the next one, as far as it fits. */
#include "common/clock.h"
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
    .uses_queue = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the field before (f32 or f64, two dimensions), --output the field after",
};

/** The fields of a run. The steps write result and scratch in turn, and the last one writes result.
 */
typedef struct fields {
    field_shape shape;
    const jacobi_elements *elements;
    polytile_array *initial; /* the user's, or else result */
    polytile_array *result;
    polytile_array *scratch; /* only on the device; when planning only described */
    bool has_input;
} fields;

static polytile_status create_scratch(session *s, fields *f) {
    const field_shape *shape = &f->shape;
    if (s->options.plan_only)
        return field_create(s, "scratch", shape, &f->scratch);
    return polytile_queue_create_array(s->queue, "scratch", shape->type, shape->n_dims,
                                       shape->extent, &f->scratch);
}

static polytile_status open_fields(session *s, fields *f) {
    int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    f->shape = (field_shape){POLYTILE_F32, 2, {n, n}};
    TRY(field_open_input(s, 0, "A", 2, &f->initial));
    f->has_input = f->initial != NULL;
    if (f->has_input) {
        f->shape = field_get_shape(f->initial);
        TRY(field_require_n(s, f->shape.extent[0]));
    }
    if (f->shape.extent[0] < spec.least_n || f->shape.extent[1] < spec.least_n)
        return session_fail(s, POLYTILE_INVALID,
                            "the field is smaller than 3 x 3: no element has "
                            "four neighbours");
    f->elements = f->shape.type == POLYTILE_F64 ? &jacobi_elements_f64 : &jacobi_elements_f32;
    TRY(field_create_output(s, 0, "B", &f->shape, &f->result));
    if (!f->has_input)
        f->initial = f->result;
    return create_scratch(s, f);
}

/** The kernels of a run, and where the stencil applies. */
typedef struct kernels {
    polytile_kernel *update;
    polytile_kernel *copy;
    polytile_domain interior;
} kernels;

static polytile_status create_kernels(session *s, const fields *f, kernels *k) {
    const int64_t *extent = f->shape.extent;
    k->interior = polytile_domain_from_bounds(2, (const int64_t[]){1, 1},
                                              (const int64_t[]){extent[0] - 2, extent[1] - 2});
    TRY(polytile_kernel_create(s->ctx, JACOBI_DECLARATION, f->elements->update(), &k->update));
    return polytile_kernel_create(s->ctx, COPY_DECLARATION, f->elements->copy(), &k->copy);
}

static polytile_status launch(session *s, const polytile_kernel *kernel,
                              const polytile_domain *domain, polytile_array *from,
                              polytile_array *to) {
    polytile_plan_options options = session_launch_options(s);
    return polytile_queue_launch(s->queue, kernel, domain, POLYTILE_ARRAYS(from, to), &options);
}

/** Copy the outermost rows and columns, which no step changes. */
static polytile_status copy_border(session *s, const kernels *k, const fields *f,
                                   polytile_array *to) {
    int64_t bottom = f->shape.extent[0] - 1, right = f->shape.extent[1] - 1;
    const int64_t sides[][4] = {
        {0, 0, 0, right}, {bottom, 0, bottom, right}, {0, 0, bottom, 0}, {0, right, bottom, right}};
    for (int side = 0; side < 4; ++side) {
        polytile_domain line = polytile_domain_from_bounds(2, &sides[side][0], &sides[side][2]);
        TRY(launch(s, k->copy, &line, f->initial, to));
    }
    return POLYTILE_OK;
}

/** An odd number of steps from result back to it begins with a copy: no step works in place. */
static polytile_status queue_steps(session *s, const kernels *k, const fields *f) {
    polytile_array *from = f->initial;
    TRY(copy_border(s, k, f, f->scratch));
    if (f->has_input)
        TRY(copy_border(s, k, f, f->result));
    if (!f->has_input && s->options.steps % 2 == 1) {
        TRY(launch(s, k->copy, &k->interior, from, f->scratch));
        from = f->scratch;
    }
    for (int64_t left = s->options.steps; left > 0; --left) {
        polytile_array *to = left % 2 == 1 ? f->result : f->scratch;
        TRY(launch(s, k->update, &k->interior, from, to));
        from = to;
    }
    return POLYTILE_OK;
}

/** Queue all steps, which are planned together, and wait for the result. */
static polytile_status run_steps(session *s, const kernels *k, const fields *f) {
    polytile_array *held[] = {f->result, f->initial};
    int n_held = f->has_input ? 2 : 1;
    TRY(polytile_queue_attach(s->queue, n_held, held));
    polytile_queue_pause(s->queue);
    TRY(queue_steps(s, k, f));
    polytile_queue_resume(s->queue);
    return polytile_queue_detach(s->queue, n_held, held);
}

/** Run the same steps with a plain loop and compare. */
static polytile_status check(session *s, const fields *f, result *r) {
    int64_t rows = f->shape.extent[0], columns = f->shape.extent[1];
    int64_t n_bytes = rows * columns * polytile_type_get_bytes(f->shape.type);
    void *first, *second;
    TRY(session_allocate(s, "expected", n_bytes, false, &first));
    TRY(session_allocate(s, "expected before", n_bytes, false, &second));
    if (f->has_input)
        memcpy(first, polytile_array_get_data(f->initial), (size_t)n_bytes);
    else
        f->elements->fill(first, rows, columns);
    f->elements->copy_border(second, first, rows, columns);
    void *expected = f->elements->run_plain(first, second, rows, columns, s->options.steps);
    r->checked = true;
    r->max_error =
        f->elements->compare(polytile_array_get_data(f->result), expected, rows * columns);
    return POLYTILE_OK;
}

static polytile_status run(session *s, const kernels *k, const fields *f, result *r) {
    polytile_queue_report ignored;
    polytile_queue_get_report(s->queue, true, &ignored);
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition) {
        if (!f->has_input)
            f->elements->fill(polytile_array_get_data(f->result), f->shape.extent[0],
                              f->shape.extent[1]);
        double start_s = clock_now_s();
        TRY(run_steps(s, k, f));
        polytile_report report =
            report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
        report_keep_fastest(r, &report);
    }
    return s->options.check ? check(s, f, r) : POLYTILE_OK;
}

static polytile_status jacobi(session *s, result *r) {
    fields f;
    kernels k;
    polytile_plan *plan;
    TRY(session_check_block(s, 2));
    TRY(open_fields(s, &f));
    TRY(create_kernels(s, &f, &k));
    TRY(polytile_plan_create(k.update, &k.interior, (polytile_array *[]){f.scratch, f.result},
                             &s->plan_options, &plan));
    r->type = f.shape.type;
    r->n_dims = 2;
    memcpy(r->shape, f.shape.extent, sizeof(r->shape));
    r->n_launches = s->options.steps;
    polytile_plan_get_summary(plan, &r->plan);
    return s->options.plan_only ? POLYTILE_OK : run(s, &k, &f, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, jacobi);
}
