/* What values cost that a launch gives: kernels with parameters against the same with literals in
 * their bodies, run alternately. With --quick all is small, only to see that it works. */
#include "common/bench.h"
#include "common/parameter_kernels.h"
#include "jacobi_kernels.h"

#include <stdlib.h>
#include <string.h>

/** The sides of each comparison: with a parameter, and with a literal. */
typedef enum side { GIVEN, LITERAL, N_SIDES } side;

/** How much is measured. */
typedef struct sizes {
    int64_t vector;
    const char *vector_device; /* with less memory than the vectors */
    int n_calls;
    int64_t field;
} sizes;

static const sizes full = {1 << 26, "host(memory=64MiB)", 2000, 4096};
static const sizes quick = {1 << 16, "host(memory=64KiB)", 50, 128};

enum { N_STEPS = 96, LIMIT_PART = 8, SMALL = 1024 };
enum { X, Y, N_VECTORS };

/** A side's own time, in whatever unit, of one repetition. */
typedef double timing(void *subject, side of);

/** Both sides in turns, either being first as often as the other, after one run of each that does
 * not count. */
static void alternate(timing *time, void *subject, bench_times *taken) {
    time(subject, GIVEN);
    time(subject, LITERAL);
    double start_s = bench_now_s();
    while (!bench_is_enough(&taken[LITERAL], bench_now_s() - start_s)) {
        side first = taken[LITERAL].n_times % 2 == 0 ? LITERAL : GIVEN;
        side second = first == LITERAL ? GIVEN : LITERAL;
        bench_add_time(&taken[first], time(subject, first));
        bench_add_time(&taken[second], time(subject, second));
    }
}

static void report(bench *b, const char *subject, const char *name, double value,
                   bench_relation relation, double target) {
    bench_report(b, &(bench_figure){subject, name, value, relation, target});
}

static void report_ratios(bench *b, const char *subject, const bench_times *taken) {
    report(b, subject, "parameter_s", bench_least(&taken[GIVEN]), BENCH_NO_TARGET, 0.0);
    report(b, subject, "literal_s", bench_least(&taken[LITERAL]), BENCH_NO_TARGET, 0.0);
    report(b, subject, "ratio_of_least", bench_least(&taken[GIVEN]) / bench_least(&taken[LITERAL]),
           BENCH_AT_MOST, 1.01);
    report(b, subject, "ratio_of_medians",
           bench_median(&taken[GIVEN]) / bench_median(&taken[LITERAL]), BENCH_NO_TARGET, 0.0);
}

static void fail(const char *subject) {
    fprintf(stderr, "parameters: wrong result: %s\n", subject);
    exit(EXIT_FAILURE);
}

/** Two vectors and both kernels on one device or queue. */
typedef struct vectors {
    polytile_context *ctx;
    polytile_device *device;
    polytile_queue *queue;
    polytile_kernel *kernel[N_SIDES];
    int64_t n;
    float *data[N_VECTORS];
    polytile_array *arrays[N_VECTORS];
    int64_t n_launches[N_SIDES];
    int n_calls; /* of a batch */
} vectors;

/** x is -1, 0 and 1 in turn, y is 0. */
static void begin_vectors(vectors *v, int64_t n) {
    static const char *const names[N_VECTORS] = {"x", "y"};
    *v = (vectors){.n = n};
    bench_require(polytile_context_create(&v->ctx), NULL);
    for (int a = 0; a < N_VECTORS; a++) {
        v->data[a] = bench_allocate(n * (int64_t)sizeof(float));
        bench_require(
            polytile_array_wrap(v->ctx, names[a], POLYTILE_F32, 1, &n, v->data[a], &v->arrays[a]),
            v->ctx);
    }
    for (int64_t k = 0; k < n; k++) {
        v->data[X][k] = (float)(k % 3 - 1);
        v->data[Y][k] = 0.0f;
    }
}

static void create_kernel(vectors *v, side of, const char *declaration,
                          const polytile_implementation *implementation) {
    bench_require(polytile_kernel_create(v->ctx, declaration, implementation, &v->kernel[of]),
                  v->ctx);
}

static void end_vectors(vectors *v) {
    polytile_context_destroy(v->ctx);
    for (int a = 0; a < N_VECTORS; a++)
        bench_free(v->data[a], v->n * (int64_t)sizeof(float));
}

/** All sums are exact: y is by_x[x + 1] everywhere. */
static void check_vectors(const vectors *v, const char *subject, const double *by_x) {
    for (int64_t k = 0; k < v->n; k++)
        if ((double)v->data[Y][k] != by_x[k % 3])
            fail(subject);
}

static double time_saxpy(void *subject, side of) {
    vectors *v = subject;
    const polytile_parameter a = POLYTILE_PARAMETER("a", SAXPY_LITERAL);
    const polytile_launch_options options = {.n_parameters = of == GIVEN, .parameters = &a};
    double start_s = bench_now_s();
    bench_require(polytile_run(v->device, v->kernel[of], POLYTILE_EXTENTS(v->n), N_VECTORS,
                               v->arrays, &options),
                  v->ctx);
    v->n_launches[of]++;
    return bench_now_s() - start_s;
}

static void measure_saxpy(bench *b, const char *device, int64_t n) {
    vectors v;
    char subject[64];
    bench_times taken[N_SIDES] = {{0}};
    snprintf(subject, sizeof subject, "saxpy %lld, %s", (long long)n, device);
    begin_vectors(&v, n);
    create_kernel(&v, GIVEN, SAXPY_GIVEN_DECLARATION, saxpy_given());
    create_kernel(&v, LITERAL, SAXPY_LITERAL_DECLARATION, saxpy_literal());
    bench_require(polytile_device_open(v.ctx, device, &v.device), v.ctx);
    alternate(time_saxpy, &v, taken);
    double sum = (double)SAXPY_LITERAL * (double)(v.n_launches[GIVEN] + v.n_launches[LITERAL]);
    check_vectors(&v, subject, (const double[]){-sum, 0.0, sum});
    report_ratios(b, subject, taken);
    end_vectors(&v);
}

static int compare_numbers(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/** One call; its first value is another one each time. Returns microseconds. */
static double time_call(vectors *v, side of, polytile_parameter *values, int call) {
    const polytile_launch_options options = {
        .n_parameters = of == GIVEN ? POLYNOMIAL_PARAMETERS : 0, .parameters = values};
    values[0].real = 1.0 + call % 2;
    double start_s = bench_now_s();
    polytile_status status =
        polytile_queue_launch(v->queue, v->kernel[of], POLYTILE_EXTENTS(SMALL), N_VECTORS,
                              v->arrays, of == GIVEN ? &options : NULL);
    double taken_us = 1e6 * (bench_now_s() - start_s);
    bench_require(status, v->ctx);
    return taken_us;
}

/** The median of a batch of calls, while the queue runs. */
static double time_calls(void *subject, side of) {
    vectors *v = subject;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    polytile_parameter values[POLYNOMIAL_PARAMETERS];
    double *taken_us = malloc((size_t)v->n_calls * sizeof *taken_us);
    for (int p = 0; p < POLYNOMIAL_PARAMETERS; p++)
        values[p] = POLYTILE_PARAMETER(names[p], 1.0f);
    for (int call = 0; call < v->n_calls; call++)
        taken_us[call] = time_call(v, of, values, call);
    v->n_launches[of] += v->n_calls;
    bench_require(polytile_queue_wait(v->queue), v->ctx);
    qsort(taken_us, (size_t)v->n_calls, sizeof *taken_us, compare_numbers);
    double median_us = taken_us[v->n_calls / 2];
    free(taken_us);
    return median_us;
}

/** The same while the queue holds launches back. */
static double time_paused_calls(void *subject, side of) {
    polytile_queue_pause(((vectors *)subject)->queue);
    return time_calls(subject, of);
}

/** Of a launch with eight parameters over one with none. */
static void measure_calls(bench *b, const char *subject, const char *state, timing *time,
                          vectors *v) {
    bench_times taken[N_SIDES] = {{0}};
    char name[64];
    alternate(time, v, taken);
    snprintf(name, sizeof name, "%s, %s", subject, state);
    report(b, name, "parameters_us", bench_median(&taken[GIVEN]), BENCH_NO_TARGET, 0.0);
    report(b, name, "none_us", bench_median(&taken[LITERAL]), BENCH_NO_TARGET, 0.0);
    report(b, name, "ratio_of_medians", bench_median(&taken[GIVEN]) / bench_median(&taken[LITERAL]),
           BENCH_AT_MOST, 1.1);
}

/** What all launches added: each 8, 1 and 0 where x is 1, 0 and -1, and every other one with
 * parameters 1 more. */
static void check_calls(const vectors *v, const char *subject) {
    double n = (double)(v->n_launches[GIVEN] + v->n_launches[LITERAL]);
    double more = (double)(v->n_launches[GIVEN] / 2);
    check_vectors(v, subject, (const double[]){more, n + more, 8.0 * n + more});
}

static void measure_enqueueing(bench *b, const char *device, int n_calls) {
    vectors v;
    char subject[64];
    snprintf(subject, sizeof subject, "enqueue, %d parameters, %s", POLYNOMIAL_PARAMETERS, device);
    begin_vectors(&v, SMALL);
    v.n_calls = n_calls;
    create_kernel(&v, GIVEN, POLYNOMIAL_GIVEN_DECLARATION, polynomial_given());
    create_kernel(&v, LITERAL, POLYNOMIAL_LITERAL_DECLARATION, polynomial_literal());
    bench_require(polytile_queue_create(v.ctx, device, &v.queue), v.ctx);
    bench_require(polytile_queue_attach(v.queue, N_VECTORS, v.arrays), v.ctx);
    measure_calls(b, subject, "paused", time_paused_calls, &v);
    measure_calls(b, subject, "running", time_calls, &v);
    bench_require(polytile_queue_detach(v.queue, N_VECTORS, v.arrays), v.ctx);
    check_calls(&v, subject);
    end_vectors(&v);
}

/** Steps of both kernels on one queue, from a field whose border is 0, as the queue's own array
 * begins; and what plain loops make of it. */
typedef struct stencil {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel[N_SIDES];
    int64_t extent;
    int64_t field_bytes;
    float *field;
    float *expected[N_SIDES];
    polytile_array *array, *scratch;
    double launches_a_pass[N_SIDES]; /* of the last run */
} stencil;

static void fill(const stencil *s, float *field) {
    memset(field, 0, (size_t)s->field_bytes);
    for (int64_t i = 1; i < s->extent - 1; i++)
        for (int64_t j = 1; j < s->extent - 1; j++)
            field[i * s->extent + j] = (float)((i * 31 + j * 17) % 1009);
}

static float weight_of(side of, int step) {
    return of == GIVEN ? jacobi_weight(step) : 0.2f;
}

static void step_plainly(int64_t n, const float *from, float *to, float weight) {
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++) {
            const float *at = from + i * n + j;
            to[i * n + j] = FIVE_POINT_MEAN(at[0], at[-n], at[n], at[-1], at[1], weight);
        }
}

/** Find what a side has to come to; the field serves as the other one. */
static void find_expected(stencil *s, side of) {
    fill(s, s->expected[of]);
    fill(s, s->field);
    for (int step = 0; step < N_STEPS; step += 2) {
        step_plainly(s->extent, s->expected[of], s->field, weight_of(of, step));
        step_plainly(s->extent, s->field, s->expected[of], weight_of(of, step + 1));
    }
}

static void launch_step(const stencil *s, side of, int step) {
    polytile_array *from = step % 2 == 0 ? s->array : s->scratch;
    polytile_array *to = step % 2 == 0 ? s->scratch : s->array;
    const polytile_parameter weight = POLYTILE_PARAMETER("weight", weight_of(of, step));
    const polytile_launch_options options = {.n_parameters = of == GIVEN, .parameters = &weight};
    bench_require(polytile_queue_launch(s->queue, s->kernel[of],
                                        POLYTILE_INTERIOR(1, s->extent, s->extent),
                                        POLYTILE_ARRAYS(from, to), &options),
                  s->ctx);
}

static void run_steps(stencil *s, side of) {
    bench_require(polytile_queue_create_array(s->queue, "scratch", POLYTILE_F32, 2,
                                              (const int64_t[]){s->extent, s->extent}, &s->scratch),
                  s->ctx);
    bench_require(polytile_queue_attach(s->queue, POLYTILE_ARRAYS(s->array)), s->ctx);
    polytile_queue_pause(s->queue);
    for (int step = 0; step < N_STEPS; step++)
        launch_step(s, of, step);
    polytile_array_destroy(s->scratch);
    polytile_queue_resume(s->queue);
    bench_require(polytile_queue_detach(s->queue, POLYTILE_ARRAYS(s->array)), s->ctx);
}

/** A pass uploads the field once; so the bytes say in how many the steps ran. */
static double time_steps(void *subject, side of) {
    stencil *s = subject;
    polytile_report told;
    fill(s, s->field);
    double start_s = bench_now_s();
    run_steps(s, of);
    double taken_s = bench_now_s() - start_s;
    if (memcmp(s->field, s->expected[of], (size_t)s->field_bytes) != 0)
        fail("jacobi");
    polytile_queue_get_report(s->queue, true, &told);
    s->launches_a_pass[of] = N_STEPS * (double)s->field_bytes / (double)told.h2d_bytes;
    return taken_s;
}

static void begin_stencil(stencil *s, int64_t extent) {
    char device[64];
    *s = (stencil){.extent = extent, .field_bytes = extent * extent * (int64_t)sizeof(float)};
    snprintf(device, sizeof device, "host(memory=%lldB)", (long long)s->field_bytes / LIMIT_PART);
    s->field = bench_allocate(s->field_bytes);
    for (side of = GIVEN; of < N_SIDES; of++) {
        s->expected[of] = bench_allocate(s->field_bytes);
        find_expected(s, of);
    }
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_queue_create(s->ctx, device, &s->queue), s->ctx);
    bench_require(
        polytile_kernel_create(s->ctx, JACOBI_GIVEN_DECLARATION, jacobi_given(), &s->kernel[GIVEN]),
        s->ctx);
    bench_require(polytile_kernel_create(s->ctx, JACOBI_DECLARATION, jacobi_f32_implementation(),
                                         &s->kernel[LITERAL]),
                  s->ctx);
    bench_require(polytile_array_wrap(s->ctx, "field", POLYTILE_F32, 2,
                                      (const int64_t[]){extent, extent}, s->field, &s->array),
                  s->ctx);
}

static void end_stencil(stencil *s) {
    polytile_context_destroy(s->ctx);
    bench_free(s->field, s->field_bytes);
    for (side of = GIVEN; of < N_SIDES; of++)
        bench_free(s->expected[of], s->field_bytes);
}

static void measure_steps(bench *b, int64_t extent) {
    stencil s;
    char subject[64];
    bench_times taken[N_SIDES] = {{0}};
    snprintf(subject, sizeof subject, "jacobi %lldx%lld, %d steps, 1/%d", (long long)extent,
             (long long)extent, N_STEPS, LIMIT_PART);
    begin_stencil(&s, extent);
    alternate(time_steps, &s, taken);
    report_ratios(b, subject, taken);
    report(b, subject, "parameter_launches_a_pass", s.launches_a_pass[GIVEN], BENCH_AT_LEAST,
           s.launches_a_pass[LITERAL]);
    report(b, subject, "literal_launches_a_pass", s.launches_a_pass[LITERAL], BENCH_NO_TARGET, 0.0);
    end_stencil(&s);
}

int main(int argc, char **argv) {
    bench b;
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const sizes *of = is_quick ? &quick : &full;
    if (!bench_begin(&b, "parameters", argc - is_quick, argv + is_quick))
        return 2;
    measure_saxpy(&b, "host", of->vector);
    measure_saxpy(&b, of->vector_device, of->vector);
    measure_enqueueing(&b, "host", of->n_calls);
    measure_enqueueing(&b, "host(memory=64MiB)", of->n_calls);
    measure_steps(&b, of->field);
    return bench_end(&b);
}
