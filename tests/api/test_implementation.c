#include <polytile/implementation.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <string.h>

/* Functions and launchers written by hand. */

static void scale(const polytile_domain *threads, const polytile_view *views, void *user) {
    const float factor = *(const float *)user;
    PT_VIEW(const float, x, 1, views[0]);
    PT_VIEW(float, y, 1, views[1]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = factor * PT_AT(x, i);
}

static const char text[] = "scale[i]: in x[i]; out y[i]";

typedef struct scene {
    float x[8], y[8];
    polytile_array *arrays[2];
    polytile_device *device;
} scene;

static void set(polytile_context *ctx, const char *device_text, scene *s) {
    for (int k = 0; k < 8; k++)
        s->x[k] = (float)k;
    memset(s->y, 0, sizeof s->y);
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){8}, s->x, &s->arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, (int64_t[]){8}, s->y, &s->arrays[1]));
    CHECK_OK(polytile_device_open(ctx, device_text, &s->device));
}

static polytile_status run(polytile_context *ctx, scene *s,
                           const polytile_implementation *implementation) {
    polytile_kernel *kernel = NULL;
    const polytile_status status = polytile_kernel_create(ctx, text, implementation, &kernel);
    if (status != POLYTILE_OK)
        return status;
    return polytile_run(s->device, kernel, POLYTILE_EXTENTS(8), 2, s->arrays, NULL);
}

static const char *const devices[] = {"host", "host(memory=32B)", "host(memory=1MiB,threads=2)"};

TEST_TABLE(ApiImplementation, MayBeAFunctionWithDataOfItsOwn, devices) {
    scene s;
    float factor = 3;
    set(ctx, *row, &s);
    CHECK_OK(run(ctx, &s, &(polytile_implementation){.host = scale, .user = &factor}));
    CHECK_NEAR(s.y[7], 21, 0);
}

static int n_calls, n_first;
static bool was_first, had_stream;

static int launch_scale(const polytile_sub_kernel *launch) {
    n_calls++;
    was_first = launch->is_first;
    had_stream = launch->stream != NULL;
    if (launch->n_views != 2)
        return 5;
    scale(launch->threads, launch->views, launch->user);
    return 0;
}

TEST_CASE(ApiImplementation, MayBeALauncherThatIsCalledOnceASubKernel) {
    scene s;
    float factor = 2;
    polytile_report report;
    set(ctx, "host(memory=32B)", &s);
    n_calls = 0;
    CHECK_OK(
        run(ctx, &s, &(polytile_implementation){.host_launcher = launch_scale, .user = &factor}));
    CHECK_NEAR(s.y[5], 10, 0);
    polytile_device_get_report(s.device, &report);
    CHECK(report.n_kernels > 1);
    CHECK_EQUAL(n_calls, report.n_kernels);
    CHECK(!had_stream);
}

static int fail_with_seven(const polytile_sub_kernel *launch) {
    (void)launch;
    return 7;
}

TEST_CASE(ApiImplementation, ALauncherThatFailsFailsTheRunWithItsNumber) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(run(ctx, &s, &(polytile_implementation){.host_launcher = fail_with_seven}),
                  POLYTILE_DEVICE, "scale", "7");
    CHECK(polytile_array_is_complete(s.arrays[0]));
    CHECK(!polytile_array_is_complete(s.arrays[1]));
}

TEST_CASE(ApiImplementation, ALauncherGoesBeforeAFunction) {
    scene s;
    float factor = 2;
    set(ctx, "host", &s);
    n_calls = 0;
    CHECK_OK(run(
        ctx, &s,
        &(polytile_implementation){.host = scale, .host_launcher = launch_scale, .user = &factor}));
    CHECK_EQUAL(n_calls, 1);
}

TEST_CASE(ApiImplementation, IsCopiedButForWhatItPointsTo) {
    scene s;
    float factor = 2;
    polytile_kernel *kernel = NULL;
    polytile_implementation implementation = {.host = scale, .user = &factor};
    set(ctx, "host", &s);
    CHECK_OK(polytile_kernel_create(ctx, text, &implementation, &kernel));
    memset(&implementation, 0, sizeof implementation);
    factor = 4;
    CHECK_OK(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, s.arrays, NULL));
    CHECK_NEAR(s.y[2], 8, 0);
}

static const polytile_implementation missing[] = {{.host = NULL},
                                                  {.cuda_launcher = fail_with_seven}};

TEST_TABLE(ApiImplementation, ThatLacksTheDeviceIsNotSupported, missing) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(run(ctx, &s, row), POLYTILE_UNSUPPORTED, "scale", "host");
}

TEST_CASE(ApiImplementation, OfAnotherNumberOfIndicesOrArraysIsRefused) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(run(ctx, &s, &(polytile_implementation){.host = scale, .n_indices = 2}),
                  POLYTILE_DECLARATION, "scale", "2");
    CHECK_REFUSED(run(ctx, &s, &(polytile_implementation){.host = scale, .n_views = 3}),
                  POLYTILE_DECLARATION, "scale", "3");
    CHECK_REFUSED(run(ctx, &s, &(polytile_implementation){.host = scale, .reserved = {0, 0, 5}}),
                  POLYTILE_INVALID, "scale", "reserved[2] of polytile_implementation is 5");
}

static const struct {
    polytile_view_shape of_y;
    polytile_status status;
    const char *says;
} shapes[] = {
    {POLYTILE_VIEW_SHAPE(float, 1), POLYTILE_OK, ""},
    {{4, 1, POLYTILE_ANY_NUMBER}, POLYTILE_OK, ""},
    {POLYTILE_VIEW_SHAPE(double, 1), POLYTILE_INVALID, "f32"},
    {POLYTILE_VIEW_SHAPE(int, 1), POLYTILE_INVALID, "f32"},
    {{8, 1, POLYTILE_ANY_NUMBER}, POLYTILE_INVALID, "8"},
};

TEST_TABLE(ApiImplementation, ComparesTheElementsThatItWasWrittenFor, shapes) {
    const polytile_view_shape views[] = {POLYTILE_VIEW_SHAPE(const float, 1), row->of_y};
    float factor = 1;
    scene s;
    set(ctx, "host", &s);
    const polytile_implementation implementation = {
        .host = scale, .user = &factor, .n_indices = 1, .n_views = 2, .views = views};
    if (row->status == POLYTILE_OK)
        CHECK_OK(run(ctx, &s, &implementation));
    else
        CHECK_REFUSED(run(ctx, &s, &implementation), row->status, "y", row->says);
}

TEST_CASE(ApiImplementation, OfAnotherNumberOfDimensionsIsRefused) {
    const polytile_view_shape views[] = {POLYTILE_VIEW_SHAPE(float, 1),
                                         POLYTILE_VIEW_SHAPE(float, 2)};
    float factor = 1;
    scene s;
    set(ctx, "host", &s);
    const polytile_implementation implementation = {
        .host = scale, .user = &factor, .n_indices = 1, .n_views = 2, .views = views};
    const polytile_status status = run(ctx, &s, &implementation);
    CHECK(status == POLYTILE_DECLARATION || status == POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "y", "2");
}

static const struct {
    polytile_number of, wanted;
} numbers[] = {
    {PT_NUMBER_OF(float), POLYTILE_FLOAT_NUMBER},
    {PT_NUMBER_OF(const double), POLYTILE_FLOAT_NUMBER},
    {PT_NUMBER_OF(int8_t), POLYTILE_SIGNED_NUMBER},
    {PT_NUMBER_OF(int64_t), POLYTILE_SIGNED_NUMBER},
    {PT_NUMBER_OF(const uint16_t), POLYTILE_UNSIGNED_NUMBER},
    {PT_NUMBER_OF(uint64_t), POLYTILE_UNSIGNED_NUMBER},
    {PT_NUMBER_OF(long double), POLYTILE_ANY_NUMBER},
    {PT_NUMBER_OF(polytile_range), POLYTILE_ANY_NUMBER},
};

TEST_TABLE(ApiImplementation, KnowsTheNumbersOfC, numbers) {
    CHECK_EQUAL(row->of, row->wanted);
}

/* What views are made of. */

static int64_t stride_seen;
static polytile_domain resident_seen;

static int look(const polytile_sub_kernel *launch) {
    const polytile_view *x = &launch->views[0];
    stride_seen = x->stride_bytes[0];
    resident_seen = x->resident;
    scale(launch->threads, launch->views, launch->user);
    return 0;
}

TEST_CASE(ApiImplementation, ViewsAreIndexedWithTheArraysIndices) {
    scene s;
    float factor = 1;
    set(ctx, "host", &s);
    CHECK_OK(run(ctx, &s, &(polytile_implementation){.host_launcher = look, .user = &factor}));
    CHECK_EQUAL(stride_seen, sizeof(float));
    CHECK_EQUAL(resident_seen.n_dims, 1);
    CHECK_EQUAL(resident_seen.range[0].lo, 0);
    CHECK_EQUAL(resident_seen.range[0].hi, 7);
}

/* Overwrites what holds nothing yet, as a library does with beta = 0. */
static int sum_up(const polytile_sub_kernel *launch) {
    PT_VIEW(const float, x, 1, launch->views[0]);
    PT_VIEW(float, s, 1, launch->views[1]);
    n_calls++;
    n_first += launch->is_first;
    if (launch->is_first)
        PT_AT(s, 0) = 0;
    for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++)
        PT_AT(s, 0) += PT_AT(x, i);
    return 0;
}

TEST_TABLE(ApiImplementation, IsToldWhetherAccumulatorsHoldNothing, devices) {
    const polytile_implementation implementation = {.host_launcher = sum_up};
    polytile_kernel *kernel = NULL;
    scene s;
    set(ctx, *row, &s);
    s.y[0] = 10;
    n_calls = n_first = 0;
    CHECK_OK(
        polytile_kernel_create(ctx, "sum[i]: in x[i]; out sum y[0]", &implementation, &kernel));
    CHECK_OK(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, s.arrays, NULL));
    CHECK_NEAR(s.y[0], 28, 0);
    CHECK_EQUAL(n_first, 1);
    CHECK(n_calls >= 1);
}

/* Values of parameters. */

static int64_t n_views_seen, n_parameters_seen;

static int launch_with_values(const polytile_sub_kernel *launch) {
    PT_VIEW(const float, x, 1, launch->views[0]);
    PT_VIEW(float, y, 1, launch->views[1]);
    PT_PARAMETER(float, factor, launch->views[launch->n_views]);
    PT_PARAMETER(int16_t, plus, launch->views[launch->n_views + 1]);
    n_views_seen = launch->n_views;
    n_parameters_seen = launch->n_parameters;
    for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++)
        PT_AT(y, i) = factor * PT_AT(x, i) + (float)plus;
    return 0;
}

static polytile_status run_with_values(polytile_context *ctx, scene *s, const char *declaration,
                                       const polytile_implementation *implementation) {
    const polytile_parameter values[] = {POLYTILE_PARAMETER("plus", -3),
                                         POLYTILE_PARAMETER("factor", 1.5),
                                         POLYTILE_PARAMETER("unused", 77)};
    polytile_kernel *kernel = NULL;
    const polytile_status status =
        polytile_kernel_create(ctx, declaration, implementation, &kernel);
    if (status != POLYTILE_OK)
        return status;
    return polytile_run(s->device, kernel, POLYTILE_EXTENTS(8), 2, s->arrays,
                        &(polytile_launch_options){.n_parameters = 3, .parameters = values});
}

TEST_TABLE(ApiImplementation, ALauncherHasTheValuesOfAllParametersBehindItsViews, devices) {
    const polytile_implementation implementation = {.host_launcher = launch_with_values};
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(run_with_values(
        ctx, &s, "scale[i](f32 factor, i16 plus, u8 unused): in x[i]; out y[i]", &implementation));
    CHECK_EQUAL(n_views_seen, 2);
    CHECK_EQUAL(n_parameters_seen, 3);
    CHECK_NEAR(s.y[7], 7.5, 0);
    CHECK_NEAR(s.y[0], -3, 0);
}

static const polytile_body_parameter in_its_own_order[] = {
    {"factor", sizeof(float), POLYTILE_FLOAT_NUMBER},
    {"plus", sizeof(int16_t), POLYTILE_SIGNED_NUMBER}};
static const polytile_body_parameter as_they_come[] = {
    {NULL, sizeof(float), POLYTILE_FLOAT_NUMBER}, {NULL, sizeof(int16_t), POLYTILE_SIGNED_NUMBER}};

static const struct {
    const char *declaration;
    const polytile_body_parameter *taken;
} takers[] = {
    {"scale[i](i16 plus, u8 unused, f32 factor): in x[i]; out y[i]", in_its_own_order},
    {"scale[i](u8 unused, f32 factor, i16 plus): in x[i]; out y[i]", in_its_own_order},
    {"scale[i](f32 factor, i16 plus, i64 unused): in x[i]; out y[i]", as_they_come},
};

TEST_TABLE(ApiImplementation, ALauncherMayTakeSomeParametersInAnyOrder, takers) {
    const polytile_implementation implementation = {
        .host_launcher = launch_with_values, .n_parameters = 2, .parameters = row->taken};
    scene s;
    set(ctx, "host(memory=32B)", &s);
    CHECK_OK(run_with_values(ctx, &s, row->declaration, &implementation));
    CHECK_EQUAL(n_parameters_seen, 2);
    CHECK_NEAR(s.y[7], 7.5, 0);
}

static void scale_with_values(const polytile_domain *threads, const polytile_view *views,
                              void *user) {
    (void)user;
    PT_VIEW(const float, x, 1, views[0]);
    PT_VIEW(float, y, 1, views[1]);
    PT_PARAMETER(float, factor, views[2]);
    PT_PARAMETER(int16_t, plus, views[3]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = factor * PT_AT(x, i) + (float)plus;
}

TEST_TABLE(ApiImplementation, AFunctionMayTakeSomeParametersInAnyOrder, takers) {
    const polytile_implementation implementation = {
        .host = scale_with_values, .n_parameters = 2, .parameters = row->taken};
    scene s;
    set(ctx, "host(memory=1MiB,threads=2)", &s);
    CHECK_OK(run_with_values(ctx, &s, row->declaration, &implementation));
    CHECK_NEAR(s.y[7], 7.5, 0);
}

static const struct {
    const char *declaration;
    const polytile_body_parameter *taken;
    const char *named;
} mistaken[] = {
    {"scale[i](f32 factor, u8 unused): in x[i]; out y[i]", in_its_own_order, "plus"},
    {"scale[i](f64 factor, i16 plus, u8 unused): in x[i]; out y[i]", in_its_own_order, "factor"},
    {"scale[i](f32 factor, u16 plus, u8 unused): in x[i]; out y[i]", as_they_come, "plus"},
    {"scale[i](f32 factor): in x[i]; out y[i]", as_they_come, "scale"},
};

TEST_TABLE(ApiImplementation, WhatTakesOtherParametersThanDeclaredIsRefused, mistaken) {
    const polytile_implementation implementation = {
        .host = scale_with_values, .n_parameters = 2, .parameters = row->taken};
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_kernel_create(ctx, row->declaration, &implementation, &kernel),
                  POLYTILE_DECLARATION, row->named);
    CHECK(kernel == NULL);
}

/* Specialisers: what runs is found when the types are known. */

POLYTILE_KERNEL(scale_f32, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = 3 * PT_AT(x, i);
}

POLYTILE_KERNEL(scale_i32, (i), (const int32_t, x, 1), (int32_t, y, 1)) {
    PT_AT(y, i) = 4 * PT_AT(x, i);
}

POLYTILE_KERNEL(scale_three, (i), (const float, x, 1), (float, y, 1), (float, z, 1)) {
    PT_AT(y, i) = PT_AT(z, i) = PT_AT(x, i);
}

/** What was asked for last, and how often. */
typedef struct asked {
    int n_times;
    int types[2];
    int capability;
    const polytile_implementation *others; /* for all types but f32 and i32; NULL: refuse */
} asked;

static int find_scale(const polytile_specialisation *wanted,
                      const polytile_implementation **found) {
    asked *of = wanted->user;
    of->n_times++;
    CHECK_RESERVED(*wanted);
    of->types[0] = wanted->types[0];
    of->types[1] = wanted->types[1];
    of->capability = wanted->cuda_capability;
    *found = wanted->types[0] == POLYTILE_F32   ? &scale_f32_kernel
             : wanted->types[0] == POLYTILE_I32 ? &scale_i32_kernel
                                                : of->others;
    return *found == NULL ? POLYTILE_UNSUPPORTED : POLYTILE_OK;
}

TEST_TABLE(ApiImplementation, MayBeFoundForTheTypesOfALaunch, devices) {
    scene s;
    asked of = {0};
    polytile_kernel *kernel = NULL;
    const polytile_implementation finds = {.specialise = find_scale, .user = &of};
    set(ctx, *row, &s);
    CHECK_OK(polytile_kernel_create(ctx, text, &finds, &kernel));
    CHECK_OK(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, s.arrays, NULL));
    CHECK_NEAR(s.y[7], 21, 0);
    CHECK_EQUAL(of.types[0], POLYTILE_F32);
    CHECK_EQUAL(of.types[1], POLYTILE_F32);
    CHECK_EQUAL(of.capability, 0);

    int32_t x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {0};
    polytile_array *arrays[2];
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, (int64_t[]){8}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_I32, 1, (int64_t[]){8}, y, &arrays[1]));
    CHECK_OK(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, arrays, NULL));
    CHECK_EQUAL(y[7], 28);
    CHECK_OK(polytile_check_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, arrays, NULL, NULL));
}

TEST_CASE(ApiImplementation, MayBeFoundForLaunchesOfAQueue) {
    scene s;
    asked of = {0};
    polytile_kernel *kernel = NULL;
    polytile_queue *queue = NULL;
    const polytile_implementation finds = {.specialise = find_scale, .user = &of};
    set(ctx, "host", &s);
    CHECK_OK(polytile_kernel_create(ctx, text, &finds, &kernel));
    CHECK_OK(polytile_queue_create(ctx, "host(memory=32B),host", &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, s.arrays));
    for (int k = 0; k < 3; k++)
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(8), 2, s.arrays, NULL));
    CHECK_OK(polytile_queue_detach(queue, 2, s.arrays));
    CHECK_NEAR(s.y[7], 21, 0);
    CHECK(of.n_times > 0);
}

TEST_CASE(ApiImplementation, ThatIsNotFoundIsAnErrorOfTheLaunch) {
    scene s;
    asked of = {0};
    polytile_kernel *kernel = NULL;
    polytile_array *arrays[2];
    double x[8] = {0}, y[8] = {0};
    const polytile_implementation finds = {.specialise = find_scale, .user = &of};
    const polytile_implementation by_hand = {.host = scale};
    set(ctx, "host", &s);
    CHECK_OK(polytile_kernel_create(ctx, text, &finds, &kernel));
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){8}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){8}, y, &arrays[1]));
    CHECK_REFUSED(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, arrays, NULL),
                  POLYTILE_UNSUPPORTED, "scale: there is no body for x of f64, y of f64 on host");
    of.others = &by_hand;
    CHECK_REFUSED(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, arrays, NULL),
                  POLYTILE_INVALID, "takes steps");
    of.others = &scale_three_kernel;
    CHECK_REFUSED(polytile_run(s.device, kernel, POLYTILE_EXTENTS(8), 2, arrays, NULL),
                  POLYTILE_DECLARATION, "a body for 1 indices and 3 arrays");
}
