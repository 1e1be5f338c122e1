/* C = A + B on matrices that need not fit the device; a queue launches it. */
#include "add_elements.h"
#include "common/fields.h"
#include "matrix_add_kernels.h"

#include <string.h>

static const example_spec spec = {
    .name = "matrix_add",
    .summary = "Adds two n x n matrices of small whole numbers, C = A + B, within a memory limit.",
    .default_n = 8192,
    .least_n = 1,
    .uses_queue = true,
    .n_inputs = 2,
    .n_outputs = 1,
    .files = "files: --input A, --input B (f32 or f64, two dimensions), --output C",
};

enum { A, B, C, N_ARRAYS };

/** Take A and B from files where given, which then say the shape; the others get memory. */
static polytile_status open_arrays(session *s, polytile_array **arrays, field_shape *shape) {
    static const char *const names[] = {"A", "B"};
    for (int a = A; a < C; ++a)
        TRY(field_open_input(s, a, names[a], 2, &arrays[a]));
    if (arrays[A] != NULL) {
        *shape = field_get_shape(arrays[A]);
        TRY(field_require_n(s, shape->extent[0]));
    }
    if (arrays[B] != NULL)
        TRY(field_require_shape(s, arrays[B], shape));
    for (int a = A; a < C; ++a)
        if (arrays[a] == NULL)
            TRY(field_create(s, names[a], shape, &arrays[a]));
    return field_create_output(s, 0, "C", shape, &arrays[C]);
}

static polytile_status run(session *s, const add_elements *elements, const session_launch *launch,
                           result *r) {
    void *data[N_ARRAYS];
    int64_t n_elements = r->shape[0] * r->shape[1];
    for (int a = 0; a < N_ARRAYS; ++a)
        data[a] = polytile_array_get_data(launch->arrays[a]);
    for (int a = s->options.n_inputs; a < C; ++a)
        elements->fill(data[a], n_elements, a);
    for (int64_t repetition = 0; repetition < s->options.repeat; ++repetition)
        TRY(session_run(s, launch, r));
    r->checked = s->options.check;
    if (r->checked)
        r->max_error = elements->compare(data[A], data[B], data[C], n_elements);
    return POLYTILE_OK;
}

static polytile_status matrix_add(session *s, result *r) {
    polytile_array *arrays[N_ARRAYS];
    polytile_kernel *kernel;
    polytile_plan *plan;
    int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    field_shape shape = {POLYTILE_F32, 2, {n, n}};
    TRY(session_check_block(s, 2));
    TRY(open_arrays(s, arrays, &shape));
    bool is_f64 = shape.type == POLYTILE_F64;
    const add_elements *elements = is_f64 ? &add_elements_f64 : &add_elements_f32;
    polytile_domain threads = polytile_domain_from_extents(2, shape.extent);
    TRY(polytile_kernel_create(
        s->ctx, MATRIX_ADD_DECLARATION,
        is_f64 ? matrix_add_f64_implementation() : matrix_add_f32_implementation(), &kernel));
    TRY(polytile_plan_create(kernel, &threads, polytile_kernel_get_n_arrays(kernel), arrays,
                             &s->launch_options, &plan));
    r->type = shape.type;
    r->n_dims = 2;
    memcpy(r->shape, shape.extent, sizeof(r->shape));
    polytile_plan_get_summary(plan, &r->plan);
    session_launch launch = {.kernel = kernel,
                             .threads = &threads,
                             .plan = plan,
                             .n_arrays = N_ARRAYS,
                             .arrays = arrays};
    return s->options.plan_only ? POLYTILE_OK : run(s, elements, &launch, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, matrix_add);
}
