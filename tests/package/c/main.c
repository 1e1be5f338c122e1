#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <stdio.h>
#include <stdlib.h>

/* An outside project's program: adds two vectors through a device with little memory. */

enum { N = 100000 };

static float x[N], y[N], z[N];

POLYTILE_KERNEL(add, (i), (const float, X, 1), (const float, Y, 1), (float, Z, 1)) {
    PT_AT(Z, i) = PT_AT(X, i) + PT_AT(Y, i);
}

static void fail_unless(polytile_context *ctx, polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "outside: %s\n", polytile_last_error(ctx));
    exit(1);
}

static int count_errors(void) {
    int n_errors = 0;
    for (int i = 0; i < N; i++)
        n_errors += z[i] != (float)(3 * i);
    return n_errors;
}

int main(void) {
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_array *arrays[3];
    polytile_report report;

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    if (polytile_context_create(&ctx))
        return 1;
    fail_unless(ctx, polytile_device_open(ctx, "host(memory=64KiB)", &device));
    fail_unless(
        ctx, polytile_kernel_create(ctx, "add[i]: in x[i], y[i]; out z[i]", &add_kernel, &kernel));
    const struct {
        const char *name;
        void *data;
    } vectors[] = {{"x", x}, {"y", y}, {"z", z}};
    for (int v = 0; v < 3; v++)
        fail_unless(ctx, polytile_array_wrap(ctx, vectors[v].name, POLYTILE_F32, 1, (int64_t[]){N},
                                             vectors[v].data, &arrays[v]));
    fail_unless(ctx, polytile_run(device, kernel, POLYTILE_EXTENTS(N), 3, arrays, NULL));
    polytile_device_get_report(device, &report);
    printf("polytile %s: %d elements in %d kernels, %d errors\n", polytile_version(), N,
           (int)report.n_kernels, count_errors());
    polytile_context_destroy(ctx);
    return count_errors() != 0 || report.n_kernels < 2;
}
