/* Time steps of a five-point stencil on a plate that need not fit the device. */
#include "common/stencil_steps.h"
#include "jacobi_elements.h"
#include "jacobi_kernels.h"

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

static const stencil five_points = {
    .n_dims = 2,
    .update = JACOBI_DECLARATION,
    .copy = COPY_DECLARATION,
    .f32 = &jacobi_elements_f32,
    .f64 = &jacobi_elements_f64,
};

static polytile_status jacobi(session *s, result *r) {
    return stencil_steps(s, &five_points, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, jacobi);
}
