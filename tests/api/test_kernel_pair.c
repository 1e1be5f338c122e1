#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/c_test.h"

/* Elements of two numbers: complex ones, and values with an index, against plain loops. */

enum { MOST = 1009, N_BINS = 5 };

/** Where and over how many elements a case runs; the number of its row is its seed. */
static const struct {
    const char *devices;
    int64_t n;
} cases[] = {
    {"host", 1},
    {"host", 2},
    {"host", 1009},
    {"host(threads=3)", 1009},
    {"host(memory=2KiB)", 97},
    {"host(memory=2KiB)", 1009},
    {"host(memory=3KiB,threads=2)", 1},
    {"host(memory=3KiB,threads=2)", 1009},
    {"host(threads=1),host(threads=1)", 1009},
    {"host(memory=16KiB,threads=1),host(threads=1)", 97},
    {"host(memory=16KiB,threads=1),host(memory=32KiB,threads=1),host", 1009},
};

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static polytile_array *wrap(polytile_context *ctx, const char *name, polytile_type type, int64_t n,
                            void *memory) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, name, type, 1, &n, memory, &array));
    return array;
}

/** Launch on a queue of one device or several, and wait for the results. */
static polytile_status run(polytile_context *ctx, const char *devices, const char *declaration,
                           const polytile_implementation *body, int64_t n, int n_arrays,
                           polytile_array *const *arrays) {
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_queue_create(ctx, devices, &queue));
    CHECK_OK(polytile_kernel_create(ctx, declaration, body, &kernel));
    CHECK_OK(polytile_queue_attach(queue, n_arrays, arrays));
    polytile_status status =
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), n_arrays, arrays, NULL);
    if (status == POLYTILE_OK)
        status = polytile_queue_detach(queue, n_arrays, arrays);
    return status;
}

/** Draw from few values, so that there are ties. */
static float draw_value(uint32_t *state) {
    static const float values[] = {0.0f, -0.0f, 1, -1, 2.5f, -2.5f, INFINITY, -INFINITY, NAN, 7};
    const uint32_t n_values = draw(state) % 4 == 0 ? 10 : 6;
    return values[draw(state) % n_values];
}

/** The rule in words: a number is taken over none, then the better value, then the lower index. */
static bool wins(bool is_most, float value, int64_t index, const pt_f32_i64 *held) {
    if (isnan(value) != isnan(held->value))
        return !isnan(value);
    if (!isnan(value) && value != held->value)
        return is_most ? value > held->value : value < held->value;
    return index < held->index;
}

static pt_f32_i64 find_best(bool is_most, const float *x, int64_t n, pt_f32_i64 best) {
    for (int64_t i = 0; i < n; i++)
        if (wins(is_most, x[i], i, &best))
            best = (pt_f32_i64){x[i], i};
    return best;
}

static void check_same(const pt_f32_i64 *found, const pt_f32_i64 *expected) {
    CHECK_EQUAL(found->index, expected->index);
    CHECK(memcmp(&found->value, &expected->value, sizeof expected->value) == 0);
}

POLYTILE_KERNEL(ends, (i), (const float, x, 1), (pt_f32_i64, top, 1), (pt_f32_i64, low, 1),
                (int64_t, n, 1), (float, most, 1)) {
    PT_ARGMAX(PT_AT(top, 0), PT_AT(x, i), i);
    PT_ARGMIN(PT_AT(low, 0), PT_AT(x, i), i);
    PT_SUM(PT_AT(n, 0), 1);
    PT_MAX(PT_AT(most, 0), PT_AT(x, i));
}

TEST_TABLE(ApiKernelPair, FindsTheEndsAndWhereTheyAre, cases) {
    float x[MOST], most = 0;
    int64_t n = 0;
    uint32_t state = (uint32_t)(row - cases) + 1;
    for (int k = 0; k < row->n; k++)
        x[k] = draw_value(&state);
    pt_f32_i64 top = {100, 3}, low = {-1, 12};
    const pt_f32_i64 none = {NAN, INT64_MAX};
    const pt_f32_i64 expected_top = find_best(true, x, row->n, none);
    const pt_f32_i64 expected_low = find_best(false, x, row->n, low);
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, row->n, x),
                                wrap(ctx, "top", POLYTILE_INDEXED(POLYTILE_F32), 1, &top),
                                wrap(ctx, "low", POLYTILE_INDEXED(POLYTILE_F32), 1, &low),
                                wrap(ctx, "n", POLYTILE_I64, 1, &n),
                                wrap(ctx, "most", POLYTILE_F32, 1, &most)};
    CHECK_OK(run(ctx, row->devices,
                 "ends[i]: in x[i]; out argmax top[0]; argmin low[0]; out sum n[0]; out max "
                 "most[0]",
                 &ends_kernel, row->n, 5, arrays));
    check_same(&top, &expected_top);
    check_same(&low, &expected_low);
    CHECK_EQUAL(n, row->n);
    CHECK(most == top.value || isnan(top.value));
}

POLYTILE_KERNEL(first, (i), (const float, x, 1), (pt_f32_i64, top, 1)) {
    PT_ARGMAX(PT_AT(top, 0), PT_AT(x, i), i);
}

POLYTILE_KERNEL(best_of, (i), (const float, x, 1), (const int32_t, key, 1), (pt_f32_i64, best, 1)) {
    PT_ARGMIN(PT_AT(best, PT_AT(key, i)), PT_AT(x, i), 2 * i);
}

TEST_TABLE(ApiKernelPair, FindsTheEndOfEachGroup, cases) {
    float x[MOST];
    int32_t key[MOST];
    pt_f32_i64 best[N_BINS], expected[N_BINS];
    uint32_t state = (uint32_t)(row - cases) + 100;
    for (int b = 0; b < N_BINS; b++)
        expected[b] = (pt_f32_i64){NAN, INT64_MAX};
    for (int k = 0; k < row->n; k++) {
        x[k] = draw_value(&state);
        key[k] = (int32_t)(draw(&state) % (N_BINS - 1));
        if (wins(false, x[k], 2 * k, &expected[key[k]]))
            expected[key[k]] = (pt_f32_i64){x[k], 2 * k};
    }
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, row->n, x),
                                wrap(ctx, "key", POLYTILE_I32, row->n, key),
                                wrap(ctx, "best", POLYTILE_INDEXED(POLYTILE_F32), N_BINS, best)};
    CHECK_OK(run(ctx, row->devices, "best_of[i]: in x[i], key[i]; out argmin best[:]",
                 &best_of_kernel, row->n, 3, arrays));
    for (int b = 0; b < N_BINS; b++)
        check_same(&best[b], &expected[b]);
}

/* Numbers of every type: the largest of k * 37 mod 101, and the smallest. */

#define TYPED(T, name, TYPE)                                                                       \
    POLYTILE_KERNEL(typed_##name, (i), (const T, x, 1), (pt_##name##_i64, top, 1),                 \
                    (pt_##name##_i64, low, 1)) {                                                   \
        PT_ARGMAX(PT_AT(top, 0), PT_AT(x, i), i);                                                  \
        PT_ARGMIN(PT_AT(low, 0), PT_AT(x, i), i);                                                  \
    }                                                                                              \
    static void check_##name(polytile_context *ctx, const char *devices) {                         \
        T x[101];                                                                                  \
        pt_##name##_i64 top, low;                                                                  \
        for (int k = 0; k < 101; k++)                                                              \
            x[k] = (T)((k * 37 + 5) % 101);                                                        \
        polytile_array *arrays[] = {wrap(ctx, "x", TYPE, 101, x),                                  \
                                    wrap(ctx, "top", POLYTILE_INDEXED(TYPE), 1, &top),             \
                                    wrap(ctx, "low", POLYTILE_INDEXED(TYPE), 1, &low)};            \
        CHECK_OK(run(ctx, devices, "typed[i]: in x[i]; out argmax top[0]; out argmin low[0]",      \
                     &typed_##name##_kernel, 101, 3, arrays));                                     \
        CHECK_EQUAL(x[top.index], 100);                                                            \
        CHECK_EQUAL(x[low.index], 0);                                                              \
        CHECK_EQUAL(top.value, 100);                                                               \
        CHECK_EQUAL(low.value, 0);                                                                 \
    }

TYPED(int8_t, i8, POLYTILE_I8)
TYPED(int16_t, i16, POLYTILE_I16)
TYPED(int32_t, i32, POLYTILE_I32)
TYPED(int64_t, i64, POLYTILE_I64)
TYPED(uint8_t, u8, POLYTILE_U8)
TYPED(uint16_t, u16, POLYTILE_U16)
TYPED(uint32_t, u32, POLYTILE_U32)
TYPED(uint64_t, u64, POLYTILE_U64)
TYPED(float, f32, POLYTILE_F32)
TYPED(double, f64, POLYTILE_F64)

static void (*const typed[])(polytile_context *ctx, const char *devices) = {
    check_i8,  check_i16, check_i32, check_i64, check_u8,
    check_u16, check_u32, check_u64, check_f32, check_f64};

TEST_TABLE(ApiKernelPair, HasAnIndexWithEveryRealType, typed) {
    (*row)(ctx, "host");
    (*row)(ctx, "host(memory=2KiB)");
}

/** Onto NaN, as many threads as there are: whose copies begin with what no number is. */
TEST_TABLE(ApiKernelPair, NaNStaysWhereNoNumberCame, cases) {
    float x[MOST];
    pt_f32_i64 top[3] = {{NAN, 1000}, {NAN, 7}, {NAN, -1}};
    for (int k = 0; k < row->n; k++)
        x[k] = NAN;
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, row->n, x),
                                wrap(ctx, "top", POLYTILE_INDEXED(POLYTILE_F32), 3, top)};
    CHECK_OK(run(ctx, row->devices, "first[i]: in x[i]; argmax top[0:1]", &first_kernel, row->n, 2,
                 arrays));
    for (int k = 0; k < 3; k++)
        CHECK(isnan(top[k].value));
    CHECK_EQUAL(top[0].index, row->n == 0 ? 1000 : 0);
    CHECK_EQUAL(top[1].index, 7);
    CHECK_EQUAL(top[2].index, -1);
}

TEST_CASE(ApiKernelPair, WithoutANumberHasTheLowestIndex) {
    float x[3] = {NAN, NAN, NAN}, most = 0;
    pt_f32_i64 top = {1, 1}, low = {NAN, 7};
    int64_t n = 0;
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, 3, x),
                                wrap(ctx, "top", POLYTILE_INDEXED(POLYTILE_F32), 1, &top),
                                wrap(ctx, "low", POLYTILE_INDEXED(POLYTILE_F32), 1, &low),
                                wrap(ctx, "n", POLYTILE_I64, 1, &n),
                                wrap(ctx, "most", POLYTILE_F32, 1, &most)};
    const char *declaration =
        "ends[i]: in x[i]; out argmax top[0]; argmin low[0]; out sum n[0]; out max most[0]";
    CHECK_OK(run(ctx, "host", declaration, &ends_kernel, 3, 5, arrays));
    CHECK(isnan(top.value));
    CHECK_EQUAL(top.index, 0);
    CHECK(isnan(low.value));
    CHECK_EQUAL(low.index, 0);
}

/* Complex numbers. */

/** Of small integers, so that sums are exact in any order. */
POLYTILE_KERNEL(powers, (i), (const pt_c64, z, 1), (pt_c64, s, 1), (pt_c128, wide, 1),
                (pt_c64, p, 1), (float, length, 1)) {
    const pt_c64 value = PT_AT(z, i);
    PT_SUM(PT_AT(s, 0), value * PT_C64(0, 1));
    PT_SUM(PT_AT(wide, 0), PT_C128(PT_RE(value), 2 * PT_IM(value)));
    PT_PROD(PT_AT(p, 0), i % 2 == 0 ? PT_C64(0, 1) : PT_C64(-1, 0));
    PT_SUM(PT_AT(length, 0), PT_RE(value * PT_CONJ(value)));
}

TEST_TABLE(ApiKernelPair, AddsAndMultipliesComplexNumbers, cases) {
    pt_c64 z[MOST], s = PT_C64(5, 6), p = PT_C64(3, 0);
    pt_c128 wide = PT_C128(1, 1);
    float length = 0;
    uint32_t state = (uint32_t)(row - cases) + 7;
    int re = 0, im = 0, squares = 0;
    for (int k = 0; k < row->n; k++) {
        const int a = (int)(draw(&state) % 9) - 4, b = (int)(draw(&state) % 9) - 4;
        z[k] = PT_C64(a, b);
        re += a;
        im += b;
        squares += a * a + b * b;
    }
    polytile_array *arrays[] = {
        wrap(ctx, "z", POLYTILE_C64, row->n, z), wrap(ctx, "s", POLYTILE_C64, 1, &s),
        wrap(ctx, "wide", POLYTILE_C128, 1, &wide), wrap(ctx, "p", POLYTILE_C64, 1, &p),
        wrap(ctx, "length", POLYTILE_F32, 1, &length)};
    CHECK_OK(run(ctx, row->devices,
                 "powers[i]: in z[i]; out sum s[0]; sum wide[0]; out prod p[0]; out sum length[0]",
                 &powers_kernel, row->n, 5, arrays));
    CHECK_NEAR(PT_RE(s), -im, 0);
    CHECK_NEAR(PT_IM(s), re, 0);
    CHECK_NEAR(PT_RE(wide), re + 1, 0);
    CHECK_NEAR(PT_IM(wide), 2 * im + 1, 0);
    CHECK_NEAR(length, squares, 0);
    const int64_t quarters = ((row->n + 1) / 2 + 2 * (row->n / 2)) % 4;
    CHECK_NEAR(PT_RE(p), quarters == 0 ? 1 : quarters == 2 ? -1 : 0, 0);
    CHECK_NEAR(PT_IM(p), quarters == 1 ? 1 : quarters == 3 ? -1 : 0, 0);
}

static const struct {
    const char *declaration;
    polytile_type type;
    const char *says[2];
} wrong_roles[] = {
    {"k[i]: in x[i]; out max s[0]", POLYTILE_C64, {"c64", "no order"}},
    {"k[i]: in x[i]; min s[0]", POLYTILE_C128, {"c128", "no order"}},
    {"k[i]: in x[i]; out argmax s[0]", POLYTILE_F32, {"f32", "f32_i64"}},
    {"k[i]: in x[i]; argmin s[0]", POLYTILE_BYTES(16), {"16 B", "f32_i64"}},
    {"k[i]: in x[i]; argmin s[0]", POLYTILE_C64, {"c64", "f32_i64"}},
    {"k[i]: in x[i]; out sum s[0]", POLYTILE_INDEXED(POLYTILE_I32), {"i32_i64", "argmin"}},
    {"k[i]: in x[i]; max s[0]", POLYTILE_INDEXED(POLYTILE_F16), {"f16_i64", "argmax"}},
};

TEST_TABLE(ApiKernelPair, IsRefusedInARoleThatLacksWhatItNeeds, wrong_roles) {
    polytile_kernel *kernel = NULL;
    polytile_array *arrays[2] = {NULL, NULL};
    polytile_plan *plan = NULL;
    CHECK_OK(polytile_kernel_create(ctx, row->declaration, NULL, &kernel));
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(100), &arrays[0]));
    CHECK_OK(polytile_array_describe(ctx, "s", row->type, POLYTILE_EXTENTS(1), &arrays[1]));
    CHECK_REFUSED(polytile_plan_create(kernel, POLYTILE_EXTENTS(100), 2, arrays, NULL, &plan),
                  POLYTILE_INVALID, "k: s has elements of", row->says[0], row->says[1]);
}

TEST_CASE(ApiKernelPair, IsTheElementOfABodyForThatTypeAlone) {
    double x[4] = {0}, top[2] = {0}, most = 0, low[2] = {0};
    int64_t n = 0;
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_F32, 4, x),
                                wrap(ctx, "top", POLYTILE_INDEXED(POLYTILE_F64), 1, top),
                                wrap(ctx, "low", POLYTILE_INDEXED(POLYTILE_F32), 1, low),
                                wrap(ctx, "n", POLYTILE_I64, 1, &n),
                                wrap(ctx, "most", POLYTILE_F32, 1, &most)};
    CHECK_REFUSED(run(ctx, "host",
                      "ends[i]: in x[i]; argmax top[0]; argmin low[0]; sum n[0]; max most[0]",
                      &ends_kernel, 4, 5, arrays),
                  POLYTILE_INVALID, "top", "f64_i64", "f32_i64");
}

/* bfloat16, for which C has no type: bodies move its bits, and reductions of launchers combine. */

POLYTILE_KERNEL(copy_bits, (i), (uint16_t, unit), (const uint16_t, x, 1), (uint16_t, y, 1)) {
    PT_AT(y, i) = i == 3 ? unit : PT_AT(x, i);
}

TEST_CASE(ApiKernelPair, BrainsAreMovedAndGivenAsBits) {
    uint16_t x[8], y[8] = {0};
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    for (int k = 0; k < 8; k++)
        x[k] = (uint16_t)(0x3F80 + k);
    polytile_array *arrays[] = {wrap(ctx, "x", POLYTILE_BF16, 8, x),
                                wrap(ctx, "y", POLYTILE_BF16, 8, y)};
    CHECK_OK(polytile_device_open(ctx, "host(memory=1KiB)", &device));
    CHECK_OK(polytile_kernel_create(ctx, "copy_bits[i](bf16 unit): in x[i]; out y[i]",
                                    &copy_bits_kernel, &kernel));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(8),
                          POLYTILE_ARRAYS(arrays[0], arrays[1]),
                          POLYTILE_PARAMETERS(POLYTILE_PARAMETER("unit", 1.00390625))));
    CHECK_EQUAL(y[3], 0x3F80);
    CHECK_EQUAL(y[4], 0x3F84);
    CHECK_REFUSED(polytile_run(device, kernel, POLYTILE_EXTENTS(8),
                               POLYTILE_ARRAYS(arrays[0], arrays[1]),
                               POLYTILE_PARAMETERS(POLYTILE_PARAMETER("unit", 3.4e38))),
                  POLYTILE_INVALID, "unit", "bf16");
}
