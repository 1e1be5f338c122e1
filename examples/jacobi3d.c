/* Time steps of a seven-point stencil in a body that need not fit the device. */
#include "common/stencil_steps.h"
#include "jacobi3d_elements.h"
#include "jacobi3d_kernels.h"

static const example_spec spec = {
    .name = "jacobi3d",
    .summary =
        "Runs time steps of a seven-point stencil, each element becoming the mean of itself\n"
        "and its six neighbours, in an n x n x n body or in a field of your own.",
    .default_n = 512,
    .least_n = 3,
    .extras = EXAMPLE_STEPS,
    .uses_queue = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the field before (f32 or f64, three dimensions), --output the field after",
};

static const stencil seven_points = {
    .n_dims = 3,
    .update = JACOBI3D_DECLARATION,
    .copy = COPY3D_DECLARATION,
    .f32 = &jacobi3d_elements_f32,
    .f64 = &jacobi3d_elements_f64,
};

static polytile_status jacobi3d(session *s, result *r) {
    return stencil_steps(s, &seven_points, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, jacobi3d);
}
