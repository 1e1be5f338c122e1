#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

/* Real bodies, each run in place and through little memory. */

static const char *const devices[] = {"host", "host(memory=2KiB)", "host(memory=3KiB,threads=2)"};

enum { N = 24 };

static polytile_status run(polytile_context *ctx, const char *device_text, const char *declaration,
                           const polytile_implementation *body, const polytile_domain *domain,
                           polytile_array *const *arrays) {
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_device_open(ctx, device_text, &device));
    const polytile_status status = polytile_kernel_create(ctx, declaration, body, &kernel);
    const int n_arrays = polytile_kernel_get_n_arrays(kernel);
    return status != POLYTILE_OK ? status
                                 : polytile_run(device, kernel, domain, n_arrays, arrays, NULL);
}

static polytile_array *wrap(polytile_context *ctx, const char *name, polytile_type type,
                            const polytile_domain *domain, void *memory) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap_domain(ctx, name, type, domain, memory, &array));
    return array;
}

PT_FUNCTION float mean(float a, float b, float c, float d) {
    return 0.25f * ((a + b) + (c + d));
}

POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        mean(PT_AT(A, i - 1, j), PT_AT(A, i + 1, j), PT_AT(A, i, j - 1), PT_AT(A, i, j + 1));
}

TEST_TABLE(ApiKernel, BodiesUseTheArraysIndices, devices) {
    float a[N][N], b[N][N] = {{0}};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (float)(i * i + 3 * j * j);
    polytile_array *arrays[] = {wrap(ctx, "A", POLYTILE_F32, POLYTILE_EXTENTS(N, N), a),
                                wrap(ctx, "B", POLYTILE_F32, POLYTILE_EXTENTS(N, N), b)};
    CHECK_OK(run(ctx, *row, "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                 &jacobi_kernel, POLYTILE_INTERIOR(1, N, N), arrays));
    CHECK_NEAR(b[1][1], a[1][1] + 2, 0);
    CHECK_NEAR(b[7][20], a[7][20] + 2, 0);
    CHECK_NEAR(b[0][5], 0, 0);
}

POLYTILE_KERNEL(spans, (i), (const int64_t, x, 2), (int64_t, y, 2)) {
    PT_AT(y, i, 0) = PT_FIRST(x, 1);
    PT_AT(y, i, 1) = PT_LAST(x, 1);
    PT_AT(y, i, 2) = 0;
    for (int64_t k = PT_FIRST(x, 1); k <= PT_LAST(x, 1); k++)
        PT_AT(y, i, 2) += PT_AT(x, i, k);
}

TEST_TABLE(ApiKernel, OfAWholeDimensionFirstAndLastAreTheArrays, devices) {
    int64_t x[N][9], y[N][3];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 9; k++)
            x[i][k] = i * k;
    const polytile_domain domain =
        polytile_domain_from_bounds(2, (int64_t[]){0, -4}, (int64_t[]){N - 1, 4});
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_I64, &domain, x),
                                wrap(ctx, "y", POLYTILE_I64, POLYTILE_EXTENTS(N, 3), y)};
    CHECK_OK(run(ctx, *row, "spans[i]: in x[i, :]; out y[i, :]", &spans_kernel, POLYTILE_EXTENTS(N),
                 arrays));
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(y[i][0], -4);
        CHECK_EQUAL(y[i][1], 4);
        CHECK_EQUAL(y[i][2], 36 * i);
    }
}

POLYTILE_KERNEL(combine, (i), (const double, x, 1), (float, s, 1), (int32_t, p, 1), (double, lo, 1),
                (uint8_t, hi, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
    PT_PROD(PT_AT(p, 0), i == 3 ? -2 : 1);
    PT_MIN(PT_AT(lo, 0), PT_AT(x, i));
    PT_MAX(PT_AT(hi, 0), PT_AT(x, i));
}

static const struct {
    const char *device, *declaration;
    double s, p, lo, hi;
} combinations[] = {
#define ONTO    "combine[i]: in x[i]; sum s[0]; prod p[0]; min lo[0]; max hi[0]"
#define INSTEAD "combine[i]: in x[i]; out sum s[0]; out prod p[0]; out min lo[0]; out max hi[0]"
    {"host", ONTO, 410, -10, -7, 200},
    {"host(memory=2KiB)", ONTO, 410, -10, -7, 200},
    {"host(memory=3KiB,threads=2)", ONTO, 410, -10, -7, 200},
    {"host", INSTEAD, 310, -2, 2, 30},
    {"host(memory=2KiB)", INSTEAD, 310, -2, 2, 30},
    {"host(memory=3KiB,threads=2)", INSTEAD, 310, -2, 2, 30},
};

TEST_TABLE(ApiKernel, CombinesIntoElementsOfReducingRoles, combinations) {
    double x[20], lo[1] = {-7};
    float s[1] = {100};
    int32_t p[1] = {5};
    uint8_t hi[1] = {200};
    for (int k = 0; k < 20; k++)
        x[k] = k == 0 ? 2 : k == 1 ? 30 : 15 + (k % 2);
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F64, POLYTILE_EXTENTS(20), x),
                                wrap(ctx, "s", POLYTILE_F32, POLYTILE_EXTENTS(1), s),
                                wrap(ctx, "p", POLYTILE_I32, POLYTILE_EXTENTS(1), p),
                                wrap(ctx, "lo", POLYTILE_F64, POLYTILE_EXTENTS(1), lo),
                                wrap(ctx, "hi", POLYTILE_U8, POLYTILE_EXTENTS(1), hi)};
    CHECK_OK(
        run(ctx, row->device, row->declaration, &combine_kernel, POLYTILE_EXTENTS(20), arrays));
    CHECK_NEAR(s[0], row->s + 1, 0);
    CHECK_NEAR(p[0], row->p, 0);
    CHECK_NEAR(lo[0], row->lo, 0);
    CHECK_NEAR(hi[0], row->hi, 0);
}

POLYTILE_KERNEL(set_odd, (i), (int32_t, x, 1)) {
    if (i % 2 == 0)
        return;
    PT_AT(x, i) = (int32_t)i;
}

TEST_TABLE(ApiKernel, AnEarlyReturnEndsTheThreadAlone, devices) {
    int32_t x[N];
    for (int k = 0; k < N; k++)
        x[k] = -1;
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_I32, POLYTILE_EXTENTS(N), x)};
    CHECK_OK(
        run(ctx, *row, "set_odd[i]: inout x[i]", &set_odd_kernel, POLYTILE_EXTENTS(N), arrays));
    for (int k = 0; k < N; k++)
        CHECK_EQUAL(x[k], k % 2 == 0 ? -1 : k);
}

POLYTILE_KERNEL(eight, (a, b, c, d, e, f, g, h), (const int16_t, x, 8), (int32_t, y, 8)) {
    PT_AT(y, a, b, c, d, e, f, g, h) = 2 * PT_AT(x, h, b, c, d, e, f, g, a);
}

TEST_TABLE(ApiKernel, HasUpToEightIndicesAndDimensions, devices) {
    int16_t x[2][1][2][1][2][1][2][2];
    int32_t y[2][1][2][1][2][1][2][2];
    for (int k = 0; k < 32; k++)
        ((int16_t *)x)[k] = (int16_t)k;
    const polytile_domain *domain = POLYTILE_EXTENTS(2, 1, 2, 1, 2, 1, 2, 2);
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_I16, domain, x),
                                wrap(ctx, "y", POLYTILE_I32, domain, y)};
    CHECK_OK(run(ctx, *row, "eight[a,b,c,d,e,f,g,h]: in x[h,b,c,d,e,f,g,a]; out y[a,b,c,d,e,f,g,h]",
                 &eight_kernel, domain, arrays));
    CHECK_EQUAL(y[1][0][0][0][1][0][1][0], 2 * x[0][0][0][0][1][0][1][1]);
    CHECK_EQUAL(y[0][0][1][0][0][0][0][1], 2 * x[1][0][1][0][0][0][0][0]);
}

POLYTILE_KERNEL(add_up, (i), (const uint8_t, a, 1), (const uint8_t, b, 1), (const uint8_t, c, 1),
                (const uint8_t, d, 1), (const uint8_t, e, 1), (const uint8_t, f, 1),
                (const uint8_t, g, 1), (uint8_t, h, 1)) {
    PT_AT(h, i) = (uint8_t)(PT_AT(a, i) + PT_AT(b, i) + PT_AT(c, i) + PT_AT(d, i) + PT_AT(e, i) +
                            PT_AT(f, i) + PT_AT(g, i));
}

TEST_TABLE(ApiKernel, HasUpToEightArrays, devices) {
    uint8_t memory[8][N];
    polytile_array *arrays[8];
    for (int k = 0; k < 8; k++) {
        for (int i = 0; i < N; i++)
            memory[k][i] = (uint8_t)(k + i);
        arrays[k] = wrap(ctx, "x", POLYTILE_U8, POLYTILE_EXTENTS(N), memory[k]);
    }
    CHECK_OK(run(ctx, *row, "add_up[i]: in a[i], b[i], c[i], d[i], e[i], f[i], g[i]; out h[i]",
                 &add_up_kernel, POLYTILE_EXTENTS(N), arrays));
    CHECK_EQUAL(memory[7][0], 21);
    CHECK_EQUAL(memory[7][9], 21 + 63);
}

POLYTILE_KERNEL(every_second, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, 2 * i + 1);
}

TEST_TABLE(ApiKernel, SeesStridedPiecesWithGlobalIndices, devices) {
    float x[2 * N], y[N];
    for (int k = 0; k < 2 * N; k++)
        x[k] = (float)k;
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2 * N), x),
                                wrap(ctx, "y", POLYTILE_F32, POLYTILE_EXTENTS(N), y)};
    CHECK_OK(run(ctx, *row, "every_second[i]: in x[2*i+1]; out y[i]", &every_second_kernel,
                 POLYTILE_EXTENTS(N), arrays));
    for (int k = 0; k < N; k++)
        CHECK_NEAR(y[k], 2 * k + 1, 0);
}

TEST_CASE(ApiKernel, IsRefusedForADeclarationWithOtherNumbers) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(
        polytile_kernel_create(ctx, "k[i]: in A[i, i]; out B[i, i]", &jacobi_kernel, &kernel),
        POLYTILE_DECLARATION, "k", "1", "2");
    CHECK_REFUSED(polytile_kernel_create(ctx, "k[i, j]: in A[i, j], C[i, j]; out B[i, j]",
                                         &jacobi_kernel, &kernel),
                  POLYTILE_DECLARATION, "k", "3", "2");
}

static const struct {
    polytile_type type;
    const char *says;
} wrong_elements[] = {{POLYTILE_I32, "i32"}, {POLYTILE_F64, "f64"}, {POLYTILE_BYTES(8), "8"}};

TEST_TABLE(ApiKernel, RefusesElementsOfAnotherType, wrong_elements) {
    double memory[N * N];
    polytile_array *arrays[] = {wrap(ctx, "cold", row->type, POLYTILE_EXTENTS(N, N), memory),
                                wrap(ctx, "warm", POLYTILE_F32, POLYTILE_EXTENTS(N, N), memory)};
    CHECK_REFUSED(run(ctx, "host", "k[i, j]: in A[i, j]; out B[i, j]", &jacobi_kernel,
                      POLYTILE_EXTENTS(N, N), arrays),
                  POLYTILE_INVALID, "A", row->says);
}

typedef struct point {
    float x, y;
} point;

POLYTILE_KERNEL(move, (i), (point, p, 1), (uint16_t, half, 1), (const float, bytes, 1)) {
    PT_AT(p, i).x += PT_AT(bytes, i);
    PT_AT(half, i) = (uint16_t)i;
}

TEST_TABLE(ApiKernel, TakesOtherTypesForAnyElementsOfTheirSize, devices) {
    point points[N] = {{0, 0}};
    uint16_t half[N];
    float bytes[N];
    for (int k = 0; k < N; k++)
        bytes[k] = (float)k;
    polytile_array *arrays[] = {wrap(ctx, "p", POLYTILE_BYTES(8), POLYTILE_EXTENTS(N), points),
                                wrap(ctx, "half", POLYTILE_F16, POLYTILE_EXTENTS(N), half),
                                wrap(ctx, "bytes", POLYTILE_BYTES(4), POLYTILE_EXTENTS(N), bytes)};
    CHECK_OK(run(ctx, *row, "move[i]: inout p[i]; out half[i]; in bytes[i]", &move_kernel,
                 POLYTILE_EXTENTS(N), arrays));
    CHECK_NEAR(points[N - 1].x, N - 1, 0);
    CHECK_EQUAL(half[N - 1], N - 1);
}
