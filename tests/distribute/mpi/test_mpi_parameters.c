#include <polytile/kernel.h>
#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <math.h>
#include <string.h>

/* Values of parameters over ranks: all give the same, or all hear which one differs. */

enum { N = 600, STEPS = 24 };

POLYTILE_KERNEL(saxpy, (i), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(relax, (i), (const double, from, 1), (double, weight), (int32_t, step),
                (double, to, 1)) {
    PT_AT(to, i) =
        PT_AT(from, i) + weight * (PT_AT(from, i - 1) + PT_AT(from, i + 1)) + (double)(step * i);
}

POLYTILE_KERNEL(total, (i), (int16_t, factor), (const int64_t, x, 1), (int64_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), factor * PT_AT(x, i));
}

static int rank(void) {
    int number;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    return number;
}

static int n_ranks(void) {
    int number;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    return number;
}

static bool is_last(void) {
    return rank() == n_ranks() - 1;
}

static const struct {
    const char *device, *layout;
    int64_t launches_per_exchange;
} places[] = {{"host", "block", 0},
              {"host", "cyclic(7)", 0},
              {"host", "block", 4},
              {"host(memory=8KiB)", "block", 0},
              {"host(memory=8KiB)", "block", 3},
              {"host(memory=1MiB)", "weighted", 0},
              {"host,host(memory=8KiB)", "block", 3}};

static polytile_queue *open_queue(polytile_context *ctx, const char *device, const char *layout,
                                  int64_t launches_per_exchange) {
    const polytile_share_options options = {.layout = layout,
                                            .launches_per_exchange = launches_per_exchange};
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, &options, &queue));
    return queue;
}

typedef struct scene {
    polytile_queue *queue;
    polytile_kernel *kernel;
    float x[N], y[N];
    polytile_array *arrays[2];
} scene;

static void set(polytile_context *ctx, const char *device, const char *declaration, scene *s) {
    for (int k = 0; k < N; k++) {
        s->x[k] = (float)(k % 7);
        s->y[k] = 0;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){N}, s->x, &s->arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, (int64_t[]){N}, s->y, &s->arrays[1]));
    CHECK_OK(polytile_kernel_create(ctx, declaration, &saxpy_kernel, &s->kernel));
    s->queue = open_queue(ctx, device, NULL, 0);
    CHECK_OK(polytile_queue_attach(s->queue, 2, s->arrays));
}

static polytile_status launch(scene *s, int n_parameters, const polytile_parameter *parameters) {
    return polytile_queue_launch(
        s->queue, s->kernel, POLYTILE_EXTENTS(N), 2, s->arrays,
        &(polytile_launch_options){.n_parameters = n_parameters, .parameters = parameters});
}

static void check_end(polytile_context *ctx, scene *s, float of_values) {
    int n_wrong = 0;
    CHECK_OK(polytile_queue_detach(s->queue, 2, s->arrays));
    for (int k = 0; k < N; k++)
        n_wrong += s->y[k] != of_values * (float)(k % 7);
    CHECK_EQUAL(n_wrong, 0);
}

static const char *const devices[] = {"host", "host(memory=4KiB)", "host+host(memory=4KiB)"};
static const char *const plain = "saxpy[i](f32 a): in x[i]; inout y[i]";

TEST_TABLE(MpiParameters, EachLaunchOfAllRanksHasItsOwnValue, devices) {
    scene s;
    set(ctx, *row, plain, &s);
    polytile_queue_pause(s.queue);
    for (int k = 1; k <= 4; k++) {
        polytile_parameter a = POLYTILE_PARAMETER("a", (float)k);
        CHECK_OK(launch(&s, 1, &a));
        a.real = 1000;
    }
    polytile_queue_resume(s.queue);
    check_end(ctx, &s, 1 + 2 + 3 + 4);
}

/* What a launch of several parameters is, whichever way its ranks have it. */
TEST_CASE(MpiParameters, GoByNameOnEachRank) {
    scene s;
    set(ctx, "host", "saxpy[i](f32 a, u8 b): in x[i]; inout y[i]", &s);
    const polytile_parameter there[] = {POLYTILE_PARAMETER("a", 3), POLYTILE_PARAMETER("b", 7)};
    const polytile_parameter back[] = {POLYTILE_PARAMETER("b", 7.0), POLYTILE_PARAMETER("a", 3.0)};
    CHECK_OK(launch(&s, 2, is_last() ? back : there));
    check_end(ctx, &s, 3);
}

static const struct {
    const char *declaration;
    double of_last;
    const char *says;
} differences[] = {
    {"saxpy[i](f32 a): in x[i]; inout y[i]", 2.5, "a = 2.5"},
    {"saxpy[i](f32 a): in x[i]; inout y[i]", -0.0, "a = -0"},
};

TEST_TABLE(MpiParameters, ThatDifferBetweenRanksAreRefusedByName, differences) {
    const polytile_parameter of_most = POLYTILE_PARAMETER("a", 0.0),
                             of_last = POLYTILE_PARAMETER("a", row->of_last),
                             right = POLYTILE_PARAMETER("a", 1.0);
    scene s;
    if (n_ranks() == 1)
        return;
    set(ctx, "host", row->declaration, &s);
    CHECK_REFUSED(launch(&s, 1, is_last() ? &of_last : &of_most), POLYTILE_INVALID, "rank ",
                  "saxpy", row->says, "rank 0: saxpy", "a = 0");
    CHECK_OK(launch(&s, 1, &right));
    check_end(ctx, &s, 1);
}

TEST_CASE(MpiParameters, ThatDecideOnWhatIsReadAreRefusedByNameToo) {
    const polytile_parameter values[] = {POLYTILE_PARAMETER("a", 1.0),
                                         POLYTILE_PARAMETER("by", is_last() ? 2 : 3)};
    scene s;
    if (n_ranks() == 1)
        return;
    set(ctx, "host", "saxpy[i](f32 a, i16 by): in x[i+by]; inout y[i]", &s);
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, s.kernel, POLYTILE_EXTENTS(N - 3), 2, s.arrays,
                              &(polytile_launch_options){.n_parameters = 2, .parameters = values}),
        POLYTILE_INVALID, "rank ", "saxpy", "by = 2", "rank 0: saxpy", "by = 3");
    check_end(ctx, &s, 0);
}

POLYTILE_KERNEL(shifted, (i), (int16_t, by), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += by * PT_AT(x, i + by);
}

TEST_CASE(MpiParameters, OfBothASubscriptAndTheBodyAreNamedOnce) {
    const polytile_parameter by = POLYTILE_PARAMETER("by", is_last() ? 2 : 3);
    polytile_kernel *kernel = NULL;
    scene s;
    if (n_ranks() == 1)
        return;
    set(ctx, "host", plain, &s);
    CHECK_OK(polytile_kernel_create(ctx, "shifted[i](i16 by): in x[i+by]; inout y[i]",
                                    &shifted_kernel, &kernel));
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, kernel, POLYTILE_EXTENTS(N - 3), 2, s.arrays,
                              &(polytile_launch_options){.n_parameters = 1, .parameters = &by}),
        POLYTILE_INVALID, "by = 2", "by = 3");
    const char *first = strstr(polytile_last_error(ctx), "by = 2");
    CHECK(first != NULL && strstr(first + 1, "by = 2") == NULL);
    check_end(ctx, &s, 0);
}

/* Ranks compare the bytes of values. */
TEST_CASE(MpiParameters, ThatAreNoNumberAreTheSameOnAllRanks) {
    const polytile_parameter none = POLYTILE_PARAMETER("a", (double)NAN);
    scene s;
    set(ctx, "host", plain, &s);
    CHECK_OK(launch(&s, 1, &none));
    CHECK_OK(polytile_queue_detach(s.queue, 2, s.arrays));
    CHECK(s.y[0] != s.y[0] && s.y[N - 1] != s.y[N - 1]);
}

/* Ranks are compared at the first launch, and when they wait. */
TEST_CASE(MpiParameters, ThatDifferLaterAreRefusedByNameWhenTheyAreWaitedFor) {
    const polytile_parameter one = POLYTILE_PARAMETER("a", 1.0),
                             other = POLYTILE_PARAMETER("a", 1.25);
    scene s;
    if (n_ranks() == 1)
        return;
    set(ctx, "host", plain, &s);
    CHECK_OK(launch(&s, 1, &one));
    CHECK_OK(launch(&s, 1, is_last() ? &other : &one));
    CHECK_REFUSED(polytile_queue_wait(s.queue), POLYTILE_INVALID, "rank ", "saxpy", "a = 1.25",
                  "rank 0: saxpy", "a = 1");
    CHECK_OK(polytile_queue_wait(s.queue));
    polytile_queue_destroy(s.queue);
}

TEST_CASE(MpiParameters, OneThatAllRanksLeaveOutIsRefusedByName) {
    const polytile_parameter one = POLYTILE_PARAMETER("a", 1.0);
    scene s;
    set(ctx, "host", plain, &s);
    CHECK_REFUSED(launch(&s, 0, NULL), POLYTILE_DECLARATION, "saxpy", "a");
    CHECK_OK(launch(&s, 1, &one));
    check_end(ctx, &s, 1);
}

/* At the first launch the other ranks wait for it, and hear what it did not give. */
TEST_CASE(MpiParameters, OneThatARankLeavesOutOfTheFirstLaunchIsRefusedOnAll) {
    const polytile_parameter one = POLYTILE_PARAMETER("a", 1.0);
    scene s;
    set(ctx, "host", plain, &s);
    CHECK_REFUSED(launch(&s, !is_last(), &one), POLYTILE_DECLARATION, "saxpy", "a");
    CHECK_OK(launch(&s, 1, &one));
    check_end(ctx, &s, 1);
}

TEST_CASE(MpiParameters, WithAnArrayThatARankLeavesOutOfTheFirstLaunchAreRefusedOnAll) {
    const polytile_parameter one = POLYTILE_PARAMETER("a", 1.0);
    scene s;
    set(ctx, "host", plain, &s);
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, s.kernel, POLYTILE_EXTENTS(N), is_last() ? 1 : 2, s.arrays,
                              &(polytile_launch_options){.n_parameters = 1, .parameters = &one}),
        POLYTILE_INVALID, "saxpy", "1 array");
    CHECK_OK(launch(&s, 1, &one));
    check_end(ctx, &s, 1);
}

/* The rank hears of the parameter, the others of the launch that it did not make. */
TEST_CASE(MpiParameters, ARankThatLeavesOneOutHasMissedTheLaunch) {
    const polytile_parameter one = POLYTILE_PARAMETER("a", 1.0);
    scene s;
    if (n_ranks() == 1)
        return;
    set(ctx, "host", plain, &s);
    CHECK_OK(launch(&s, 1, &one));
    if (is_last())
        CHECK_REFUSED(launch(&s, 0, NULL), POLYTILE_DECLARATION, "saxpy", "a");
    else
        CHECK_OK(launch(&s, 1, &one));
    CHECK_REFUSED(polytile_queue_wait(s.queue), POLYTILE_INVALID, "rank ", "1 launch;",
                  "rank 0: 2 launches");
    CHECK_OK(launch(&s, 1, &one));
    CHECK_OK(polytile_queue_detach(s.queue, 2, s.arrays));
}

/* Time steps whose weights change. */

static void start(double *field, double *other) {
    for (int k = 0; k < N; k++)
        field[k] = other[k] = k % 11;
}

static void relax_plainly(double *field, double *other) {
    for (int step = 0; step < STEPS; step++) {
        for (int64_t k = 1; k < N - 1; k++)
            other[k] =
                field[k] + 0.0625 * (step % 5) * (field[k - 1] + field[k + 1]) + (double)(step * k);
        memcpy(field + 1, other + 1, (N - 2) * sizeof *field);
    }
}

static void relax_queued(polytile_context *ctx, polytile_queue *queue,
                         polytile_array *const *fields) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx,
                                    "relax[i](f64 weight, i32 step): in from[i-1:i+1]; out to[i]",
                                    &relax_kernel, &kernel));
    for (int step = 0; step < STEPS; step++) {
        const polytile_parameter values[] = {POLYTILE_PARAMETER("step", step),
                                             POLYTILE_PARAMETER("weight", 0.0625 * (step % 5))};
        CHECK_OK(polytile_queue_launch(
            queue, kernel, POLYTILE_INTERIOR(1, N),
            POLYTILE_ARRAYS(fields[step % 2], fields[(step + 1) % 2]),
            &(polytile_launch_options){.n_parameters = 2, .parameters = values}));
    }
}

TEST_TABLE(MpiParameters, TimeStepsWithOtherWeightsAreThoseOfOneProcess, places) {
    static double field[N], other[N], expected[N], spare[N];
    polytile_array *fields[2] = {NULL, NULL};
    start(field, other);
    start(expected, spare);
    polytile_queue *queue = open_queue(ctx, row->device, row->layout, row->launches_per_exchange);
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_F64, 1, (int64_t[]){N}, field, &fields[0]));
    CHECK_OK(polytile_array_wrap(ctx, "B", POLYTILE_F64, 1, (int64_t[]){N}, other, &fields[1]));
    CHECK_OK(polytile_queue_attach(queue, 2, fields));
    relax_queued(ctx, queue, fields);
    CHECK_OK(polytile_queue_detach(queue, 2, fields));
    relax_plainly(expected, spare);
    CHECK_EQUAL(memcmp(field, expected, sizeof field), 0);
}

TEST_TABLE(MpiParameters, SumsTakeInWhatEachRankMakesOfTheSameValue, places) {
    int64_t x[N], s = 5;
    polytile_array *arrays[2] = {NULL, NULL};
    polytile_kernel *kernel = NULL;
    for (int k = 0; k < N; k++)
        x[k] = k;
    polytile_queue *queue = open_queue(ctx, row->device, row->layout, row->launches_per_exchange);
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I64, 1, (int64_t[]){N}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "s", POLYTILE_I64, 1, (int64_t[]){1}, &s, &arrays[1]));
    CHECK_OK(polytile_kernel_create(ctx, "total[i](i16 factor): in x[i]; sum s[0]", &total_kernel,
                                    &kernel));
    CHECK_OK(polytile_queue_attach(queue, 2, arrays));
    for (int k = -2; k <= 3; k++) {
        const polytile_parameter factor = POLYTILE_PARAMETER("factor", 100 * k);
        CHECK_OK(polytile_queue_launch(
            queue, kernel, POLYTILE_EXTENTS(N), 2, arrays,
            &(polytile_launch_options){.n_parameters = 1, .parameters = &factor}));
    }
    CHECK_OK(polytile_queue_detach(queue, 2, arrays));
    CHECK_EQUAL(s, 5 + (int64_t)300 * (N * (N - 1) / 2));
}
