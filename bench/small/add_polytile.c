/* A small program with polytile: add_polytile short|long DEVICE. */
#include "small.h"

#include <polytile/program.h>
#include <stdio.h>
#include <string.h>

static const char declaration[] = "add[i]: in x[i], y[i]; out z[i]";

POLYTILE_KERNEL(add, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

static void run_short_form(const char *device) {
    polytile_program *p = polytile_program_open(device);
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(SMALL_N), "x, y, z",
                          POLYTILE_DATA(small_x, small_y, small_z));
    polytile_program_launch(p, declaration, &add_kernel, POLYTILE_EXTENTS(SMALL_N));
    polytile_program_close(p);
}

static polytile_status wrap_arrays(polytile_context *ctx, polytile_array **arrays) {
    static const char *const names[] = {"x", "y", "z"};
    float *const memory[] = {small_x, small_y, small_z};
    const int64_t extents[] = {SMALL_N};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < 3 && status == POLYTILE_OK; a++)
        status =
            polytile_array_wrap(ctx, names[a], POLYTILE_F32, 1, extents, memory[a], &arrays[a]);
    return status;
}

static polytile_status run_in(polytile_context *ctx, const char *text) {
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_array *arrays[3];
    polytile_status status = polytile_device_open(ctx, text, &device);
    if (status == POLYTILE_OK)
        status = polytile_kernel_create(ctx, declaration, &add_kernel, &kernel);
    if (status == POLYTILE_OK)
        status = wrap_arrays(ctx, arrays);
    if (status == POLYTILE_OK)
        status = polytile_run(device, kernel, POLYTILE_EXTENTS(SMALL_N),
                              polytile_kernel_get_n_arrays(kernel), arrays, NULL);
    return status;
}

static int run_long_form(const char *device) {
    polytile_context *ctx;
    if (polytile_context_create(&ctx) != POLYTILE_OK)
        return 2;
    const polytile_status status = run_in(ctx, device);
    if (status != POLYTILE_OK)
        fprintf(stderr, "%s\n", polytile_last_error(ctx));
    polytile_context_destroy(ctx);
    return status == POLYTILE_OK ? 0 : 2;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s short|long DEVICE\n", argv[0]);
        return 2;
    }
    small_fill();
    if (strcmp(argv[1], "long") == 0 && run_long_form(argv[2]) != 0)
        return 2;
    if (strcmp(argv[1], "short") == 0)
        run_short_form(argv[2]);
    return small_check();
}
