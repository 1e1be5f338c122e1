/* What values cost that a launch gives: saxpy and small launches with parameters against the same
 * with literals in their bodies. */
#include "common/parameter_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/queue_stage.h"

#include <stdlib.h>

enum { GIVEN, LITERAL, N_SIDES };
enum { X, Y, N_ARRAYS };
enum { SMALL = 1024, N_CALLS = 1000 };

static const int64_t n_elements = 1 << 28;

/** Both kernels over one pair of vectors; y is what all runs so far added. */
typedef struct saxpy {
    float *host[N_ARRAYS];
    problem side[N_SIDES];
    int n_runs;
} saxpy;

static void create_vectors(float **host, int64_t n) {
    for (int a = 0; a < N_ARRAYS; a++)
        host[a] = gpu_allocate_pinned(n * (int64_t)sizeof(float));
    gpu_fill_whole_numbers(host[X], n, 5);
#pragma omp parallel for
    for (int64_t k = 0; k < n; k++)
        host[Y][k] = 0.0f;
}

/** Fail unless all sums are there, which are exact. */
static void check_sums(const saxpy *s) {
    int64_t first_wrong = n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t k = 0; k < n_elements; k++) {
        if (!(s->host[Y][k] == SAXPY_LITERAL * (float)s->n_runs * s->host[X][k]))
            first_wrong = k < first_wrong ? k : first_wrong;
    }
    gpu_require_all_right("y", s->host[Y], first_wrong, n_elements);
}

static double run_side(saxpy *s, int side) {
    double taken_s = problem_run(&s->side[side]);
    s->n_runs++;
    check_sums(s);
    return taken_s;
}

static double time_given(void *subject) {
    return run_side(subject, GIVEN);
}

static double time_literal(void *subject) {
    return run_side(subject, LITERAL);
}

/** Of the kernel alone. */
static double time_kernel(saxpy *s, int side) {
    polytile_report report;
    run_side(s, side);
    polytile_device_get_report(s->side[side].device, &report);
    return report.compute_s;
}

static double time_given_kernel(void *subject) {
    return time_kernel(subject, GIVEN);
}

static double time_literal_kernel(void *subject) {
    return time_kernel(subject, LITERAL);
}

static void open_side(saxpy *s, int side, int64_t memory_bytes, const char *strategy) {
    static const polytile_parameter a = {
        .name = "a", .real = SAXPY_LITERAL, .number = POLYTILE_FLOAT_NUMBER};
    problem *p = &s->side[side];
    polytile_launch_options options = {.plan.strategy = strategy};
    problem_open(p, memory_bytes,
                 side == GIVEN ? SAXPY_GIVEN_DECLARATION : SAXPY_LITERAL_DECLARATION,
                 side == GIVEN ? saxpy_given() : saxpy_literal());
    if (side == GIVEN)
        p->values = (polytile_launch_options){.n_parameters = 1, .parameters = &a};
    for (int v = 0; v < N_ARRAYS; v++)
        problem_wrap(p, 1, &n_elements, s->host[v]);
    problem_plan(p, POLYTILE_EXTENTS(n_elements), &options);
}

static void open_sides(saxpy *s, int64_t memory_bytes, const char *strategy) {
    gpu_begin(GPU_WAITS_AS_EVER);
    create_vectors(s->host, n_elements);
    for (int side = GIVEN; side < N_SIDES; side++)
        open_side(s, side, memory_bytes, strategy);
}

static void report_sides(const char *name, const bench_times *given, const bench_times *literal) {
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "2.5 in the body",
                                 .ours = given,
                                 .rival = literal,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.01});
}

void parameter_saxpy_resident(void) {
    saxpy s = {0};
    bench_times given = {0}, literal = {0};
    open_sides(&s, 3 * N_ARRAYS * n_elements * (int64_t)sizeof(float), "min-kernels");
    for (int side = GIVEN; side < N_SIDES; side++)
        if (s.side[side].summary.n_kernels != 1)
            gpu_fail("the plan has %lld sub-kernels instead of one",
                     (long long)s.side[side].summary.n_kernels);
    gpu_alternate(time_given_kernel, time_literal_kernel, &s, &given, &literal);
    report_sides("saxpy, a given, resident: its kernel", &given, &literal);
}

void parameter_saxpy_streamed(void) {
    saxpy s = {0};
    bench_times given = {0}, literal = {0};
    open_sides(&s, N_ARRAYS * n_elements * (int64_t)sizeof(float) / 8, NULL);
    gpu_alternate(time_given, time_literal, &s, &given, &literal);
    report_sides("saxpy, a given, pinned, limit 1/8", &given, &literal);
}

/** Small launches of both kernels on one queue. */
typedef struct small_launches {
    float *host[N_ARRAYS];
    queue_stage stage; /* with the kernel that takes values */
    polytile_kernel *literal;
    int n_given, n_literal;
} small_launches;

static void require(const small_launches *s, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 polytile_last_error(s->stage.ctx));
}

/** Seconds of the call. */
static double time_call(const small_launches *s, const polytile_kernel *kernel,
                        const polytile_launch_options *options) {
    double start_s = bench_now_s();
    polytile_status status = polytile_queue_launch(s->stage.queue, kernel, POLYTILE_EXTENTS(SMALL),
                                                   N_ARRAYS, s->stage.arrays, options);
    double taken_s = bench_now_s() - start_s;
    require(s, status, "polytile_queue_launch");
    return taken_s;
}

static int compare_numbers(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double find_median(double *taken_s, int n) {
    qsort(taken_s, (size_t)n, sizeof *taken_s, compare_numbers);
    return taken_s[n / 2];
}

/** The median of a batch of calls; the first value is another one each time. */
static double time_given_calls(void *subject) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    small_launches *s = subject;
    double taken_s[N_CALLS];
    polytile_parameter values[POLYNOMIAL_PARAMETERS];
    const polytile_launch_options options = {.n_parameters = POLYNOMIAL_PARAMETERS,
                                             .parameters = values};
    for (int p = 0; p < POLYNOMIAL_PARAMETERS; p++)
        values[p] = POLYTILE_PARAMETER(names[p], 1.0f);
    for (int k = 0; k < N_CALLS; k++) {
        values[0].real = 1.0 + k % 2;
        taken_s[k] = time_call(s, s->stage.kernel, &options);
    }
    s->n_given += N_CALLS;
    queue_stage_wait(&s->stage);
    return find_median(taken_s, N_CALLS);
}

static double time_literal_calls(void *subject) {
    small_launches *s = subject;
    double taken_s[N_CALLS];
    for (int k = 0; k < N_CALLS; k++)
        taken_s[k] = time_call(s, s->literal, NULL);
    s->n_literal += N_CALLS;
    queue_stage_wait(&s->stage);
    return find_median(taken_s, N_CALLS);
}

static double polynomial_of_ones(double x) {
    double sum = 0.0;
    for (int p = 0; p < POLYNOMIAL_PARAMETERS; p++)
        sum = sum * x + 1.0;
    return sum;
}

/** Each launch added the polynomial, every other one with values 1 more. */
static void check_calls(const small_launches *s) {
    int64_t first_wrong = SMALL;
    for (int64_t k = SMALL - 1; k >= 0; k--) {
        double sum = (s->n_given + s->n_literal) * polynomial_of_ones((double)s->host[X][k]);
        if ((double)s->host[Y][k] != sum + s->n_given / 2)
            first_wrong = k;
    }
    gpu_require_all_right("y", s->host[Y], first_wrong, SMALL);
}

static void create_small(small_launches *s) {
    const int64_t n = SMALL;
    create_vectors(s->host, n);
    queue_stage_open(&s->stage, INT64_C(1) << 28, POLYNOMIAL_GIVEN_DECLARATION, polynomial_given());
    require(s,
            polytile_kernel_create(s->stage.ctx, POLYNOMIAL_LITERAL_DECLARATION,
                                   polynomial_literal(), &s->literal),
            POLYNOMIAL_LITERAL_DECLARATION);
    for (int a = 0; a < N_ARRAYS; a++)
        queue_stage_wrap(&s->stage, 1, &n, s->host[a]);
    queue_stage_attach(&s->stage);
}

void parameter_enqueue(void) {
    small_launches s = {0};
    bench_times given = {0}, literal = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create_small(&s);
    gpu_alternate(time_given_calls, time_literal_calls, &s, &given, &literal);
    gpu_report(&(gpu_comparison){.name = "queue, enqueueing, 8 parameters, median call",
                                 .against = "no parameters",
                                 .ours = &given,
                                 .rival = &literal,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.1});
    queue_stage_detach(&s.stage);
    check_calls(&s);
}
