#include <polytile/kernel.h>

#include "support/c_test.h"

#include <string.h>

/* Bodies with parameters and extents: what their host functions find in views made by hand. */

enum { N = 7 };

/** Elements 10 .. 10 + N - 1 of an array of 5 .. 34, with some bytes from one to the next. */
static polytile_view view_of(void *first, int64_t stride_bytes) {
    polytile_view view = {0};
    view.origin = (void *)((uintptr_t)first - (uintptr_t)(10 * stride_bytes));
    view.stride_bytes[0] = stride_bytes;
    view.array_first[0] = 5;
    view.array_last[0] = 34;
    view.resident = polytile_domain_from_bounds(1, (int64_t[]){10}, (int64_t[]){10 + N - 1});
    return view;
}

static polytile_view value_of(const void *value) {
    polytile_view view = {0};
    memcpy(&view.origin, &value, sizeof value);
    return view;
}

static void run(const polytile_implementation *body, const polytile_view *views) {
    const polytile_domain threads =
        polytile_domain_from_bounds(1, (int64_t[]){10}, (int64_t[]){10 + N - 1});
    body->host(&threads, views, NULL);
}

static void check_parameter(const polytile_implementation *body, int place, const char *name,
                            int64_t bytes, polytile_number number) {
    CHECK_TEXT(body->parameters[place].name, name);
    CHECK_EQUAL(body->parameters[place].bytes, bytes);
    CHECK_EQUAL(body->parameters[place].number, number);
}

POLYTILE_KERNEL(first, (i), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(between, (i), (const float, x, 1), (const float, a), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(last, (i), (const float, x, 1), (float, y, 1), (float, a)) {
    a *= PT_AT(x, i);
    PT_AT(y, i) += a;
}

static const struct {
    const polytile_implementation *body;
    int64_t stride;
} places[] = {{&first_kernel, 1},   {&first_kernel, 3}, {&between_kernel, 1},
              {&between_kernel, 3}, {&last_kernel, 1},  {&last_kernel, 3}};

TEST_TABLE(ApiBody, FindsAParameterBehindTheViewsWhereverItIsNamed, places) {
    const int64_t stride_bytes = row->stride * (int64_t)sizeof(float);
    const float a = 2.5f;
    float x[3 * N], y[3 * N];
    for (int k = 0; k < 3 * N; k++)
        x[k] = (float)k, y[k] = 100;
    const polytile_view views[] = {view_of(x, stride_bytes), view_of(y, stride_bytes),
                                   value_of(&a)};
    run(row->body, views);
    CHECK_EQUAL(row->body->n_views, 2);
    CHECK_EQUAL(row->body->n_parameters, 1);
    check_parameter(row->body, 0, "a", sizeof(float), POLYTILE_FLOAT_NUMBER);
    for (int64_t k = 0; k < 3 * N; k++) {
        const bool is_element = k % row->stride == 0 && k / row->stride < N;
        CHECK_NEAR(y[k], is_element ? 100 + 2.5f * (float)k : 100, 0);
    }
}

POLYTILE_KERNEL(takes_none, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i);
}

TEST_CASE(ApiBody, WithoutParametersTakesNoneRatherThanAll) {
    CHECK_EQUAL(takes_none_kernel.n_parameters, 0);
    CHECK(takes_none_kernel.parameters != NULL);
    CHECK_EQUAL(takes_none_kernel.n_views, 2);
}

POLYTILE_KERNEL(two, (i), (int64_t, n), (int64_t, y, 1), (double, a)) {
    PT_AT(y, i) = n + (int64_t)a;
}

TEST_CASE(ApiBody, HasItsParametersInItsOwnOrder) {
    const int64_t n = INT64_C(1) << 40;
    const double a = -3;
    int64_t y[N];
    run(&two_kernel, (polytile_view[]){view_of(y, sizeof *y), value_of(&n), value_of(&a)});
    for (int k = 0; k < N; k++)
        CHECK_EQUAL(y[k], n - 3);
    check_parameter(&two_kernel, 0, "n", 8, POLYTILE_SIGNED_NUMBER);
    check_parameter(&two_kernel, 1, "a", 8, POLYTILE_FLOAT_NUMBER);
}

/* All types of POLYTILE_TYPES, f16 as its bits, and some twice; after, between and before eight
 * views. */
POLYTILE_KERNEL(full, (i), (int8_t, a), (uint8_t, b), (int16_t, c), (double, v0, 1), (uint16_t, d),
                (int32_t, e), (double, v1, 1), (double, v2, 1), (uint32_t, f), (int64_t, g),
                (uint64_t, h), (double, v3, 1), (float, j), (double, k), (uint16_t, half),
                (double, v4, 1), (double, v5, 1), (double, v6, 1), (const int8_t, l),
                (const double, m), (const float, n), (const int64_t, o), (double, v7, 1),
                (const uint8_t, p)) {
    PT_AT(v0, i) = a + 10. * b;
    PT_AT(v1, i) = c + 10. * d;
    PT_AT(v2, i) = e + 10. * f;
    PT_AT(v3, i) = (double)g + 10. * (double)h;
    PT_AT(v4, i) = j + 10. * k;
    PT_AT(v5, i) = half + 10. * l;
    PT_AT(v6, i) = m + 10. * n;
    PT_AT(v7, i) = (double)o + 10. * p;
}

TEST_CASE(ApiBody, HasUpToEightViewsAndSixteenParameters) {
    const int8_t a = -1, l = -10;
    const uint8_t b = 200, p = 202;
    const int16_t c = -3;
    const uint16_t d = 60000, half = 0x3c00;
    const int32_t e = -5;
    const uint32_t f = 4000000000u;
    const int64_t g = -7, o = -13;
    const uint64_t h = 8;
    const float j = 9.5f, n = 12.5f;
    const double k = 10.25, m = 11.25;
    const void *values[] = {&a, &b, &c, &d, &e, &f, &g, &h, &j, &k, &half, &l, &m, &n, &o, &p};
    const double wanted[] = {
        a + 10. * b, c + 10. * d,    e + 10. * f, (double)(g + 10 * (int64_t)h),
        j + 10. * k, half + 10. * l, m + 10. * n, (double)(o + 10 * p)};
    double memory[8][N];
    polytile_view views[24];
    for (int v = 0; v < 8; v++)
        views[v] = view_of(memory[v], sizeof(double));
    for (int v = 0; v < 16; v++)
        views[8 + v] = value_of(values[v]);
    run(&full_kernel, views);
    CHECK_EQUAL(full_kernel.n_views, 8);
    CHECK_EQUAL(full_kernel.n_parameters, 16);
    check_parameter(&full_kernel, 7, "h", 8, POLYTILE_UNSIGNED_NUMBER);
    check_parameter(&full_kernel, 15, "p", 1, POLYTILE_UNSIGNED_NUMBER);
    for (int v = 0; v < 8; v++)
        for (int q = 0; q < N; q++)
            CHECK_NEAR(memory[v][q], wanted[v], 0);
}

POLYTILE_KERNEL(unused, (i), (float, a), (int32_t, y, 1), (int64_t, n)) {
    PT_AT(y, i) = 1;
}

TEST_CASE(ApiBody, NeedNotUseWhatItTakes) {
    int32_t y[N] = {0};
    const float a = 0;
    const int64_t n = 0;
    run(&unused_kernel, (polytile_view[]){view_of(y, sizeof *y), value_of(&a), value_of(&n)});
    CHECK_EQUAL(y[N - 1], 1);
}

POLYTILE_KERNEL(whole, (i), (const float, x, 1), (int64_t, y, 1)) {
    PT_AT(y, i) = 10000 * PT_ARRAY_FIRST(x, 0) + 100 * PT_ARRAY_LAST(x, 0) + PT_EXTENT(x, 0);
}

TEST_CASE(ApiBody, KnowsTheWholeArraysIndices) {
    float x[N];
    int64_t y[N];
    run(&whole_kernel, (polytile_view[]){view_of(x, sizeof *x), view_of(y, sizeof *y)});
    CHECK_EQUAL(y[0], 53430);
}

/** One thread of a body over eight dimensions: y[k] is what it says of x's dimension k. */
POLYTILE_KERNEL(extents, (i), (const float, x, 8), (int64_t, y, 1)) {
    PT_AT(y, i + 0) = PT_EXTENT(x, 0);
    PT_AT(y, i + 1) = PT_EXTENT(x, 1);
    PT_AT(y, i + 2) = PT_EXTENT(x, 2);
    PT_AT(y, i + 3) = PT_EXTENT(x, 3);
    PT_AT(y, i + 4) = PT_EXTENT(x, 4);
    PT_AT(y, i + 5) = PT_EXTENT(x, 5);
    PT_AT(y, i + 6) = PT_EXTENT(x, 6);
    PT_AT(y, i + 7) = PT_EXTENT(x, 7) + 100 * PT_LAST(x, 7);
}

TEST_CASE(ApiBody, KnowsTheExtentsOfAllDimensions) {
    const polytile_domain one = polytile_domain_from_bounds(1, (int64_t[]){10}, (int64_t[]){10});
    int64_t y[8];
    polytile_view views[2] = {{0}, view_of(y, sizeof *y)};
    for (int d = 0; d < 8; d++) {
        views[0].array_first[d] = -d;
        views[0].array_last[d] = 2 * d;
        views[0].resident.range[d].hi = d;
    }
    views[0].stride_bytes[7] = sizeof(float);
    extents_kernel.host(&one, views, NULL);
    for (int d = 0; d < 8; d++)
        CHECK_EQUAL(y[d], 3 * d + 1 + (d == 7 ? 700 : 0));
}

static void scale_by_hand(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    PT_VIEW(float, y, 1, views[0]);
    PT_PARAMETER(float, a, views[1]);
    PT_PARAMETER(const int64_t, n, views[2]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = a + (float)(n * PT_EXTENT(y, 0));
}

TEST_CASE(ApiBody, ByHandReadsParametersAndExtentsToo) {
    const polytile_implementation body = {.host = scale_by_hand};
    const float a = 0.5f;
    const int64_t n = 2;
    float y[N];
    run(&body, (polytile_view[]){view_of(y, sizeof *y), value_of(&a), value_of(&n)});
    CHECK_NEAR(y[3], 60.5, 0);
}
