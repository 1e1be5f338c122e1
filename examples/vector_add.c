/* z = x + y on vectors that need not fit the device. */
#include "add_elements.h"
#include "common/fields.h"
#include "vector_add_kernels.h"

static const example_spec spec = {
    .name = "vector_add",
    .summary = "Adds two vectors of small whole numbers, z = x + y, within a memory limit.",
    .default_n = 67107840,
    .least_n = 1,
    .n_inputs = 2,
    .n_outputs = 1,
    .files = "files: --input x, --input y (f32 or f64, one dimension), --output z",
};

enum { X, Y, Z, N_ARRAYS };
/** Take x and y from files where given, which then say the shape; generate the others. */
static polytile_status open_arrays(session *s, polytile_array **arrays, field_shape *shape) {
    TRY(field_open_input(s, X, "x", 1, &arrays[X]));
    TRY(field_open_input(s, Y, "y", 1, &arrays[Y]));
    if (arrays[X] != NULL) {
        *shape = field_get_shape(arrays[X]);
        TRY(field_require_n(s, shape->extent[0]));
    }
    if (arrays[Y] != NULL)
        TRY(field_require_shape(s, arrays[Y], shape));
    if (arrays[X] == NULL)
        TRY(field_create(s, "x", shape, &arrays[X]));
    if (arrays[Y] == NULL)
        TRY(field_create(s, "y", shape, &arrays[Y]));
    return field_create_output(s, 0, "z", shape, &arrays[Z]);
}

static polytile_status run(session *s, const add_elements *elements, const session_launch *launch,
                           result *r) {
    void *data[N_ARRAYS];
    for (int a = 0; a < N_ARRAYS; ++a)
        data[a] = polytile_array_get_data(launch->arrays[a]);
    for (int a = s->options.n_inputs; a < Z; ++a)
        elements->fill(data[a], r->shape[0], a);
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition)
        TRY(session_run(s, launch, r));
    r->checked = s->options.check;
    if (r->checked)
        r->max_error = elements->compare(data[X], data[Y], data[Z], r->shape[0]);
    return POLYTILE_OK;
}

static polytile_status vector_add(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    polytile_kernel *kernel;
    polytile_plan *plan;
    field_shape shape = {POLYTILE_F32, 1, {s->options.n > 0 ? s->options.n : spec.default_n}};
    TRY(session_check_block(s, 1));
    TRY(open_arrays(s, arrays, &shape));
    bool is_f64 = shape.type == POLYTILE_F64;
    const add_elements *elements = is_f64 ? &add_elements_f64 : &add_elements_f32;
    const polytile_implementation *implementation =
        is_f64 ? add_f64_implementation() : add_f32_implementation();
    TRY(polytile_kernel_create(s->ctx, ADD_DECLARATION, implementation, &kernel));
    polytile_domain threads = polytile_domain_from_extents(1, shape.extent);
    TRY(polytile_plan_create(kernel, &threads, polytile_kernel_get_n_arrays(kernel), arrays,
                             &s->launch_options, &plan));
    r->type = shape.type;
    r->n_dims = 1;
    r->shape[0] = shape.extent[0];
    polytile_plan_get_summary(plan, &r->plan);
    session_launch launch = {.kernel = kernel,
                             .threads = &threads,
                             .plan = plan,
                             .n_arrays = N_ARRAYS,
                             .arrays = arrays};
    return s->options.plan_only ? POLYTILE_OK : run(s, elements, &launch, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, vector_add);
}
