#include "kernels.h"

#include <inttypes.h>
#include <polytile/polytile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An outside project's program with its kernels in a file of their own: smooths a vector and adds
 * it up, on the device named by the argument. */

enum { N = 100000 };

#ifdef KERNELS_ARE_CUDA
enum { HAVE_CUDA = 1 };
#else
enum { HAVE_CUDA = 0 };
#endif

static int64_t a[N], b[N], sum[1];

static void fail_unless(polytile_context *ctx, polytile_status status) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "outside: %s\n", polytile_last_error(ctx));
    exit(1);
}

static polytile_array *wrap(polytile_context *ctx, const char *name, int64_t n, int64_t *data) {
    polytile_array *array;
    fail_unless(ctx, polytile_array_wrap(ctx, name, POLYTILE_I64, 1, &n, data, &array));
    return array;
}

static void run(polytile_context *ctx, polytile_device *device, const char *declaration,
                const polytile_implementation *implementation, polytile_array *const *arrays) {
    const int64_t lo[] = {1}, hi[] = {N - 2};
    const polytile_domain inner = polytile_domain_from_bounds(1, lo, hi);
    polytile_kernel *kernel;
    fail_unless(ctx, polytile_kernel_create(ctx, declaration, implementation, &kernel));
    fail_unless(ctx, polytile_run(device, kernel, &inner, polytile_kernel_get_n_arrays(kernel),
                                  arrays, NULL));
}

/** The body is of int64_t, whatever language it was compiled as. */
static int refuses_other_types(polytile_context *ctx, polytile_device *device) {
    const char *const said = "elements of f64, and the kernel body's view 0 (B) elements of i64";
    const int64_t n = N;
    polytile_array *B, *s = wrap(ctx, "s", 1, sum);
    polytile_kernel *kernel;
    fail_unless(ctx, polytile_array_wrap(ctx, "B", POLYTILE_F64, 1, &n, b, &B));
    fail_unless(ctx,
                polytile_kernel_create(ctx, "total[i]: in B[i]; out sum s[0]", total, &kernel));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(B, s), NULL) ==
               POLYTILE_INVALID &&
           strstr(polytile_last_error(ctx), said) != NULL;
}

/** Shift an array by parameters, which bodies in every language get, and back. */
static int gives_parameters(polytile_context *ctx, polytile_device *device, polytile_array *B) {
    const int64_t before = b[7];
    int64_t after[2];
    polytile_kernel *kernel;
    fail_unless(
        ctx, polytile_kernel_create(ctx, "shift[i](i32 times, i64 a): inout B[i]", shift, &kernel));
    for (int k = 0; k < 2; k++) {
        const polytile_parameter parameters[] = {POLYTILE_PARAMETER("a", k == 0 ? 5 : -5 - 2 * N),
                                                 POLYTILE_PARAMETER("times", 1)};
        const polytile_launch_options options = {.n_parameters = 2, .parameters = parameters};
        fail_unless(
            ctx, polytile_run(device, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(B), &options));
        after[k] = b[7];
    }
    return after[0] == before + 5 + N && after[1] == before;
}

static int64_t expected_sum(void) {
    int64_t expected = 0;
    for (int i = 1; i < N - 1; i++)
        expected += a[i - 1] + 2 * a[i] + a[i + 1];
    return expected;
}

int main(int n_arguments, char **arguments) {
    const char *text = n_arguments > 1 ? arguments[1] : "host(memory=64KiB)";
    polytile_context *ctx;
    polytile_device *device;

    for (int i = 0; i < N; i++)
        a[i] = i % 1000;
    if (polytile_context_create(&ctx))
        return 1;
    fail_unless(ctx, polytile_device_open(ctx, text, &device));
    polytile_array *B = wrap(ctx, "B", N, b);
    run(ctx, device, "smooth[i]: in A[i-1:i+1]; out B[i]", smooth,
        (polytile_array *[]){wrap(ctx, "A", N, a), B});
    run(ctx, device, "total[i]: in B[i]; out sum s[0]", total,
        (polytile_array *[]){B, wrap(ctx, "s", 1, sum)});
    printf("%s, %s: %" PRId64 " of %" PRId64 "\n", text, smooth->cuda ? "host and CUDA" : "host",
           sum[0], expected_sum());
    const int has_types = refuses_other_types(ctx, device);
    const int has_parameters = gives_parameters(ctx, device, B);
    polytile_context_destroy(ctx);
    return !has_types || !has_parameters || sum[0] != expected_sum() ||
           (smooth->cuda != NULL) != HAVE_CUDA;
}
