#include <polytile/compile.h>
#include <polytile/polytile.h>
#include <stdio.h>

/* A kernel from text, in a program that knows only what is installed. */

enum { N = 1000 };
static float x[N], y[N];

int main(void) {
    const int64_t n = N;
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *twice;
    polytile_array *arrays[2];
    int n_right = 0;

    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    if (polytile_context_create(&ctx) || polytile_device_open(ctx, "host(memory=2KiB)", &device) ||
        polytile_kernel_compile(ctx, "twice[i]: in x[i]; out y[i]", "y(i) = 2 * x(i);", NULL,
                                &twice) ||
        polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x, &arrays[0]) ||
        polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y, &arrays[1]) ||
        polytile_run(device, twice, POLYTILE_EXTENTS(N), 2, arrays, NULL))
        return fprintf(stderr, "%s\n", polytile_last_error(ctx)), 1;
    polytile_context_destroy(ctx);
    for (int i = 0; i < N; i++)
        n_right += y[i] == 2 * x[i];
    return n_right != N;
}
