/* What over_c.py measures against: the same launches, in C. */
#include <polytile/compile.h>
#include <polytile/polytile.h>
#include <stdio.h>

static polytile_context *ctx;
static polytile_device *device;
static polytile_kernel *add, *heat;

static int fail(void) {
    fprintf(stderr, "%s\n", polytile_last_error(ctx));
    return 1;
}

int prepare(const char *device_text, const char *add_text, const char *add_body,
            const char *heat_text, const char *heat_body) {
    if (polytile_context_create(&ctx) || polytile_device_open(ctx, device_text, &device) ||
        polytile_kernel_compile(ctx, add_text, add_body, NULL, &add) ||
        polytile_kernel_compile(ctx, heat_text, heat_body, NULL, &heat))
        return fail();
    return 0;
}

int run_add(float *x, float *y, float *z, int64_t n) {
    polytile_array *arrays[3];
    int failed = polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x, &arrays[0]) ||
                 polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y, &arrays[1]) ||
                 polytile_array_wrap(ctx, "z", POLYTILE_F32, 1, &n, z, &arrays[2]) ||
                 polytile_run(device, add, POLYTILE_EXTENTS(n), 3, arrays, NULL);
    for (int k = 0; k < 3; k++)
        polytile_array_destroy(arrays[k]);
    return failed ? fail() : 0;
}

int queue_heat(const char *device_text, double *u, double *v, int64_t n, int n_launches) {
    polytile_queue *queue;
    polytile_array *a, *b;
    if (polytile_queue_create(ctx, device_text, &queue) ||
        polytile_array_wrap(ctx, "u", POLYTILE_F64, 1, &n, u, &a) ||
        polytile_array_wrap(ctx, "v", POLYTILE_F64, 1, &n, v, &b) ||
        polytile_queue_attach(queue, POLYTILE_ARRAYS(a, b)))
        return fail();
    for (int k = 0; k < n_launches; k++)
        if (polytile_queue_launch(
                queue, heat, POLYTILE_INTERIOR(1, n), 2,
                k % 2 == 0 ? (polytile_array *[]){a, b} : (polytile_array *[]){b, a}, NULL))
            return fail();
    if (polytile_queue_wait(queue) || polytile_queue_detach(queue, POLYTILE_ARRAYS(a, b)))
        return fail();
    polytile_queue_destroy(queue);
    polytile_array_destroy(a);
    polytile_array_destroy(b);
    return 0;
}
