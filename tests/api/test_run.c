#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/run.h>

#include "support/c_test.h"

#include <string.h>

enum { N = 256 };

/* y = x + step on a device, over arrays of N numbers. */
typedef struct scene {
    double x[N], y[N];
    polytile_array *arrays[2];
    polytile_device *device;
    polytile_kernel *kernel;
} scene;

static void scale(const polytile_domain *threads, const polytile_view *views, void *user) {
    PT_VIEW(const double, x, 1, views[0]);
    PT_VIEW(double, y, 1, views[1]);
    (void)user;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = 3 * PT_AT(x, i);
}

static void set(polytile_context *ctx, const char *device_text, scene *s) {
    const polytile_implementation body = {.host = scale};
    for (int k = 0; k < N; k++) {
        s->x[k] = k;
        s->y[k] = -1;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){N}, s->x, &s->arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){N}, s->y, &s->arrays[1]));
    CHECK_OK(polytile_device_open(ctx, device_text, &s->device));
    CHECK_OK(polytile_kernel_create(ctx, "scale[i]: in x[i]; out y[i]", &body, &s->kernel));
}

static polytile_status run(scene *s, const polytile_launch_options *options) {
    return polytile_run(s->device, s->kernel, POLYTILE_EXTENTS(N), 2, s->arrays, options);
}

static bool is_scaled(const scene *s) {
    for (int k = 0; k < N; k++)
        if (s->x[k] != k || s->y[k] != 3 * k)
            return false;
    return true;
}

static polytile_report report_of(const scene *s) {
    polytile_report report;
    SPOIL(report);
    polytile_device_get_report(s->device, &report);
    CHECK_RESERVED(report);
    return report;
}

TEST_CASE(ApiRun, InPlaceMovesNothing) {
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(run(&s, NULL));
    CHECK(is_scaled(&s));
    CHECK_EQUAL(report_of(&s).n_kernels, 1);
    CHECK_EQUAL(report_of(&s).h2d_bytes, 0);
    CHECK_EQUAL(report_of(&s).d2h_bytes, 0);
}

static const char *const devices[] = {"host(memory=1KiB)", "host(memory=512B,threads=2)",
                                      "host(memory=1MiB)"};

TEST_TABLE(ApiRun, FitsTheDevicesLimitAndReportsWhatMoved, devices) {
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(run(&s, NULL));
    CHECK(is_scaled(&s));
    const polytile_report report = report_of(&s);
    CHECK(report.n_kernels >= 1);
    CHECK(report.peak_device_bytes <= polytile_device_get_limit(s.device));
    CHECK_EQUAL(report.h2d_bytes, N * sizeof(double));
    CHECK_EQUAL(report.d2h_bytes, N * sizeof(double));
    CHECK_EQUAL(report.p2p_bytes, 0);
    CHECK_EQUAL(report.lower_bound_bytes, 2 * N * sizeof(double));
    CHECK(report.plan_s > 0 && report.run_s > 0);
}

TEST_CASE(ApiRun, TheSmallerOfTheLimitsHolds) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(run(&s, &(polytile_launch_options){.plan.limit_bytes = 512}));
    CHECK(is_scaled(&s));
    CHECK(report_of(&s).peak_device_bytes <= 512);
    CHECK(report_of(&s).n_kernels > 1);
    CHECK_REFUSED(run(&s, &(polytile_launch_options){.plan.limit_bytes = 8}), POLYTILE_NO_FIT,
                  "scale", "x", "y");
    set(ctx, "host(memory=512B)", &s);
    CHECK_OK(run(&s, &(polytile_launch_options){.plan.limit_bytes = 1 << 20}));
    CHECK(report_of(&s).peak_device_bytes <= 512);
}

TEST_CASE(ApiRun, ReportsNothingBeforeTheFirst) {
    const polytile_report nothing = {0};
    scene s;
    set(ctx, "host", &s);
    polytile_report report = report_of(&s);
    CHECK(memcmp(&report, &nothing, sizeof report) == 0);
    report.n_kernels = 7;
    polytile_device_get_report(NULL, &report);
    CHECK_EQUAL(report.n_kernels, 0);
    polytile_device_get_report(s.device, NULL);
}

/* What is refused. */

TEST_CASE(ApiRun, AnArrayNeedsMemory) {
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_array_describe(ctx, "y", POLYTILE_F64, POLYTILE_EXTENTS(N), &s.arrays[1]));
    CHECK_REFUSED(run(&s, NULL), POLYTILE_INVALID, "scale", "y", "memory");
}

TEST_CASE(ApiRun, AWrittenArrayOverlapsNoOther) {
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(
        polytile_array_wrap(ctx, "part", POLYTILE_F64, 1, (int64_t[]){N}, s.x + 1, &s.arrays[1]));
    CHECK_REFUSED(run(&s, NULL), POLYTILE_INVALID, "scale", "overlap");
    CHECK_CONTAINS(polytile_last_error(ctx), "part");
    s.arrays[1] = s.arrays[0];
    CHECK_REFUSED(run(&s, NULL), POLYTILE_CONFLICT, "scale", "x[0]", "given for y, too");
}

TEST_CASE(ApiRun, AnArrayOfAQueueIsLeftToIt) {
    polytile_queue *queue = NULL;
    polytile_array *again = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s.arrays[0])));
    CHECK_REFUSED(run(&s, NULL), POLYTILE_INVALID, "scale", "x", "queue");
    CHECK_OK(polytile_array_wrap(ctx, "again", POLYTILE_F64, 1, (int64_t[]){N}, s.x, &again));
    s.arrays[0] = again;
    CHECK_REFUSED(run(&s, NULL), POLYTILE_INVALID, "scale", "again");
    CHECK_NEAR(s.y[3], -1, 0);
}

TEST_CASE(ApiRun, ADeviceOfAQueueIsLeftToIt) {
    polytile_queue *queue = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    s.device = polytile_queue_get_device(queue);
    CHECK_REFUSED(run(&s, NULL), POLYTILE_INVALID, "host(memory=1MiB)", "queue");
}

TEST_CASE(ApiRun, EverythingIsOfOneContext) {
    polytile_context *other = NULL;
    scene s, foreign;
    CHECK_OK(polytile_context_create(&other));
    set(ctx, "host", &s);
    set(other, "host", &foreign);
    CHECK_STATUS(polytile_run(s.device, foreign.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL),
                 POLYTILE_INVALID);
    CHECK_STATUS(polytile_run(s.device, s.kernel, POLYTILE_EXTENTS(N), 2, foreign.arrays, NULL),
                 POLYTILE_INVALID);
    polytile_context_destroy(other);
}

static const int wrong_counts[] = {-1, 0, 1, 3};

TEST_TABLE(ApiRun, TakesAsManyArraysAsTheDeclarationNames, wrong_counts) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(polytile_run(s.device, s.kernel, POLYTILE_EXTENTS(N), *row, s.arrays, NULL),
                  POLYTILE_INVALID, "scale");
    CHECK_NEAR(s.y[3], -1, 0);
}

TEST_CASE(ApiRun, NeedsADeviceAndAKernel) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(polytile_run(NULL, s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL),
                  POLYTILE_INVALID, "device is NULL");
    CHECK_REFUSED(polytile_run(s.device, NULL, POLYTILE_EXTENTS(N), 2, s.arrays, NULL),
                  POLYTILE_INVALID, "kernel is NULL");
    CHECK_REFUSED(polytile_run(s.device, s.kernel, NULL, 2, s.arrays, NULL), POLYTILE_INVALID,
                  "scale", "domain");
    CHECK_STATUS(polytile_run(s.device, s.kernel, POLYTILE_EXTENTS(N), 2, NULL, NULL),
                 POLYTILE_INVALID);
}

/* What fails meanwhile. */

static int n_until_failure;

static int fail_later(const polytile_sub_kernel *launch) {
    scale(launch->threads, launch->views, NULL);
    return n_until_failure-- == 0 ? 42 : 0;
}

TEST_CASE(ApiRun, AfterAFailureWhatWasWrittenIsIncompleteUntilItIsWrittenWhole) {
    const polytile_implementation failing = {.host_launcher = fail_later};
    polytile_kernel *kernel = NULL;
    scene s;
    set(ctx, "host(memory=512B)", &s);
    CHECK_OK(polytile_kernel_create(ctx, "fails[i]: in x[i]; out y[i]", &failing, &kernel));
    n_until_failure = 2;
    CHECK_REFUSED(polytile_run(s.device, kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL),
                  POLYTILE_DEVICE, "fails", "42", "y");
    CHECK(polytile_array_is_complete(s.arrays[0]));
    CHECK(!polytile_array_is_complete(s.arrays[1]));
    for (int k = 0; k < N; k++)
        CHECK_NEAR(s.x[k], k, 0);
    CHECK_OK(run(&s, NULL));
    CHECK(polytile_array_is_complete(s.arrays[1]));
    CHECK(is_scaled(&s));
}

/* Plans that are made before. */

TEST_CASE(ApiRun, APlanRunsAnyNumberOfTimesOverArraysOfItsShape) {
    polytile_plan *plan = NULL;
    scene s, other;
    set(ctx, "host(memory=1MiB)", &s);
    set(ctx, "host(memory=1MiB)", &other);
    CHECK_OK(polytile_plan_create(s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays,
                                  &(polytile_launch_options){.plan.limit_bytes = 512}, &plan));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(polytile_plan_run(plan, s.device, s.kernel, 2, s.arrays, NULL));
        CHECK(is_scaled(&s));
        memset(s.y, 0, sizeof s.y);
    }
    CHECK_OK(polytile_plan_run(plan, other.device, other.kernel, 2, other.arrays, NULL));
    CHECK(is_scaled(&other));
    CHECK(report_of(&other).peak_device_bytes <= 512);
    CHECK(report_of(&other).n_kernels > 1);
}

TEST_CASE(ApiRun, APlanIsForItsShapesItsKernelAndEnoughMemory) {
    polytile_plan *plan = NULL;
    scene s, little;
    const polytile_implementation body = {.host = scale};
    polytile_array *longer[2] = {NULL};
    polytile_kernel *other = NULL;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_plan_create(s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays,
                                  &(polytile_launch_options){.plan.limit_bytes = 2048}, &plan));
    CHECK_OK(
        polytile_array_wrap(ctx, "longer", POLYTILE_F64, 1, (int64_t[]){N - 1}, s.x, &longer[0]));
    longer[1] = s.arrays[1];
    CHECK_REFUSED(polytile_plan_run(plan, s.device, s.kernel, 2, longer, NULL), POLYTILE_INVALID,
                  "scale", "longer");
    CHECK_OK(polytile_kernel_create(ctx, "other[i]: in x[i]; inout y[i]", &body, &other));
    CHECK_STATUS(polytile_plan_run(plan, s.device, other, 2, s.arrays, NULL), POLYTILE_INVALID);
    set(ctx, "host(memory=64B)", &little);
    CHECK_STATUS(polytile_plan_run(plan, little.device, little.kernel, 2, little.arrays, NULL),
                 POLYTILE_NO_FIT);
    CHECK_NEAR(little.y[0], -1, 0);
}

TEST_CASE(ApiRun, APlanNeedsAllOfThem) {
    polytile_plan *plan = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_plan_create(s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL, &plan));
    CHECK_REFUSED(polytile_plan_run(NULL, s.device, s.kernel, 2, s.arrays, NULL), POLYTILE_INVALID,
                  "plan is NULL");
    CHECK_REFUSED(polytile_plan_run(plan, NULL, s.kernel, 2, s.arrays, NULL), POLYTILE_INVALID,
                  "device is NULL");
    CHECK_REFUSED(polytile_plan_run(plan, s.device, NULL, 2, s.arrays, NULL), POLYTILE_INVALID,
                  "kernel is NULL");
    CHECK_STATUS(polytile_plan_run(plan, s.device, s.kernel, 2, NULL, NULL), POLYTILE_INVALID);
}

POLYTILE_KERNEL(number_them, (i, j), (int, x, 2)) {
    PT_AT(x, i, j) = (int)(100 * i + j);
}

static const char *const stepped_devices[] = {"host", "host(memory=100B)", "host(threads=1)",
                                              "host(memory=1KiB,threads=3)"};

/** The threads between the steps do not run, and write nothing. */
TEST_TABLE(ApiRun, GoesThroughADomainByItsSteps, stepped_devices) {
    int memory[10][12] = {{0}};
    const polytile_domain threads = {2, {{1, 9, 4}, {0, 11, 3}}};
    polytile_array *x = NULL;
    polytile_kernel *kernel = NULL;
    polytile_device *device = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I32, 2, (int64_t[]){10, 12}, memory, &x));
    CHECK_OK(
        polytile_kernel_create(ctx, "number[i, j]: out x[i, j]", &number_them_kernel, &kernel));
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_run(device, kernel, &threads, 1, &x, NULL));
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 12; j++)
            CHECK_EQUAL(memory[i][j], i % 4 == 1 && j % 3 == 0 ? 100 * i + j : 0);
}
