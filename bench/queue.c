/* The queue without an accelerator: what a launch costs the program's thread and the queue's, and
 * how much moves where data stays between launches. */
#include "common/bench.h"
#include "jacobi_kernels.h"

#include <polytile/kernel.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 2, MAX_LAUNCHES = 2, N_COLUMNS = 4096 };
enum { N_ENQUEUED = 5000, N_STEADY = 7, N_SWEEPS = 20, N_RESIDENT_STEPS = 100, N_SMALL = 1000 };
enum { SMALL_ROWS = 4, FIELD_ROWS = 4096 };

#define LIMITED "host(memory=64MiB)" /* the size of a field */

POLYTILE_KERNEL(scale, (i, j), (float, A, 2)) {
    PT_AT(A, i, j) = PT_AT(A, i, j) * 0.5f + 1.0f;
}

static const polytile_implementation *scale_implementation(void) {
    return &scale_kernel;
}

/** A launch of a sweep, by the places of its arrays. */
typedef struct sweep_launch {
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    int n_arrays;
    int array[MAX_ARRAYS];
} sweep_launch;

/** What is done again and again over arrays of n_rows x N_COLUMNS floats. */
typedef struct sweep {
    const char *name;
    int64_t n_rows;
    int64_t border; /* left out by the threads */
    int n_arrays;
    int n_launches;
    sweep_launch launch[MAX_LAUNCHES];
} sweep;

#define SCALE     "scale[i, j]: inout A[i, j]", scale_implementation, 1
#define JACOBI    JACOBI_DECLARATION, jacobi_f32_implementation, 2
#define COPY      COPY_DECLARATION, copy_f32_implementation, 2
#define FIELDS(n) (n) * FIELD_ROWS

static const sweep sweeps[] = {
    {"scale in place", FIELDS(2), 0, 1, 1, {{SCALE, {0}}}},
    {"B from A", FIELDS(1), 0, 2, 1, {{COPY, {0, 1}}}},
    {"jacobi to and fro", FIELDS(1), 1, 2, 2, {{JACOBI, {0, 1}}, {JACOBI, {1, 0}}}},
    {"jacobi update and copy", FIELDS(1), 1, 2, 2, {{JACOBI, {0, 1}}, {COPY, {1, 0}}}},
};
enum { N_PATTERNS = sizeof sweeps / sizeof sweeps[0] };

/** A sweep that fits the memory of LIMITED, and one that is all overhead. */
static const sweep resident = {
    "jacobi", FIELDS(1) / 4, 1, 2, 2, {{JACOBI, {0, 1}}, {JACOBI, {1, 0}}}};
static const sweep small = {"small copy", SMALL_ROWS, 0, 2, 1, {{COPY, {0, 1}}}};

/** A sweep's context, kernels and arrays, and the queue or the device that runs it. */
typedef struct stage {
    const sweep *sweep;
    polytile_context *ctx;
    polytile_queue *queue;   /* NULL: polytile_run() on the device */
    polytile_device *device; /* NULL: the queue */
    polytile_kernel *kernels[MAX_LAUNCHES];
    polytile_domain threads;
    int64_t n_bytes; /* of each array */
    float *data[MAX_ARRAYS];
    polytile_array *arrays[MAX_ARRAYS];
} stage;

static void report(bench *b, const char *subject, const char *name, double value,
                   bench_relation relation, double target) {
    bench_report(b, &(bench_figure){subject, name, value, relation, target});
}

static void create_arrays(stage *s) {
    static const char *const names[MAX_ARRAYS] = {"A", "B"};
    const int64_t extents[] = {s->sweep->n_rows, N_COLUMNS};
    s->n_bytes = s->sweep->n_rows * N_COLUMNS * (int64_t)sizeof(float);
    for (int a = 0; a < s->sweep->n_arrays; a++) {
        s->data[a] = bench_allocate(s->n_bytes);
        for (int64_t k = 0; k < s->sweep->n_rows * N_COLUMNS; k++)
            s->data[a][k] = (float)((k * 7 + a) % 31 - 15);
        bench_require(polytile_array_wrap(s->ctx, names[a], POLYTILE_F32, 2, extents, s->data[a],
                                          &s->arrays[a]),
                      s->ctx);
    }
}

static void begin(const sweep *of, stage *s) {
    *s = (stage){.sweep = of};
    s->threads = polytile_domain_from_bounds(
        2, (const int64_t[]){of->border, of->border},
        (const int64_t[]){of->n_rows - 1 - of->border, N_COLUMNS - 1 - of->border});
    bench_require(polytile_context_create(&s->ctx), NULL);
    for (int l = 0; l < of->n_launches; l++)
        bench_require(polytile_kernel_create(s->ctx, of->launch[l].declaration,
                                             of->launch[l].implementation(), &s->kernels[l]),
                      s->ctx);
    create_arrays(s);
}

static void begin_queue(const sweep *of, const char *device, stage *s) {
    begin(of, s);
    bench_require(polytile_queue_create(s->ctx, device, &s->queue), s->ctx);
    bench_require(polytile_queue_attach(s->queue, of->n_arrays, s->arrays), s->ctx);
}

static void begin_runs(const sweep *of, const char *device, stage *s) {
    begin(of, s);
    bench_require(polytile_device_open(s->ctx, device, &s->device), s->ctx);
}

static void end(stage *s) {
    polytile_context_destroy(s->ctx);
    for (int a = 0; a < s->sweep->n_arrays; a++)
        bench_free(s->data[a], s->n_bytes);
}

/** Queue or run the l-th launch of the sweep. */
static void launch(const stage *s, int l) {
    const sweep_launch *of = &s->sweep->launch[l];
    polytile_array *arrays[MAX_ARRAYS];
    for (int a = 0; a < of->n_arrays; a++)
        arrays[a] = s->arrays[of->array[a]];
    bench_require(s->queue != NULL
                      ? polytile_queue_launch(s->queue, s->kernels[l], &s->threads, of->n_arrays,
                                              arrays, NULL)
                      : polytile_run(s->device, s->kernels[l], &s->threads,
                                     polytile_kernel_get_n_arrays(s->kernels[l]), arrays, NULL),
                  s->ctx);
}

static void wait(const stage *s) {
    bench_require(polytile_queue_wait(s->queue), s->ctx);
}

static void detach(const stage *s) {
    bench_require(polytile_queue_detach(s->queue, s->sweep->n_arrays, s->arrays), s->ctx);
}

static int compare_numbers(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/** Microseconds of each of N_ENQUEUED calls, sorted. */
static void time_enqueueing(const stage *s, double *taken_us) {
    for (int k = 0; k < N_ENQUEUED; k++) {
        double start_s = bench_now_s();
        launch(s, 0);
        taken_us[k] = 1e6 * (bench_now_s() - start_s);
    }
    qsort(taken_us, N_ENQUEUED, sizeof *taken_us, compare_numbers);
}

/** What the program's thread pays for a launch that was queued before, while the queue holds
 * launches back or runs them. */
static void measure_enqueueing(bench *b, const char *device) {
    static double taken_us[N_ENQUEUED];
    stage s;
    char subject[64];
    snprintf(subject, sizeof subject, "enqueue, %s", device);
    begin_queue(&small, device, &s);
    launch(&s, 0);
    wait(&s);
    polytile_queue_pause(s.queue);
    time_enqueueing(&s, taken_us);
    report(b, subject, "paused_median_us", taken_us[N_ENQUEUED / 2], BENCH_AT_MOST, 5.0);
    report(b, subject, "paused_p99_us", taken_us[N_ENQUEUED * 99 / 100], BENCH_NO_TARGET, 0.0);
    polytile_queue_resume(s.queue);
    wait(&s);
    time_enqueueing(&s, taken_us);
    report(b, subject, "running_median_us", taken_us[N_ENQUEUED / 2], BENCH_AT_MOST, 5.0);
    report(b, subject, "running_p99_us", taken_us[N_ENQUEUED * 99 / 100], BENCH_NO_TARGET, 0.0);
    end(&s);
}

/** Microseconds of both threads for one launch that nothing else is planned with. */
static double time_planning(const stage *s, double *enqueue_us) {
    polytile_report told;
    launch(s, 0);
    wait(s);
    polytile_queue_get_report(s->queue, true, &told);
    *enqueue_us = 1e6 * told.enqueue_s;
    return 1e6 * (told.plan_s + told.enqueue_s);
}

/** What planning takes on a queue that is new each time, and then again and again. */
typedef struct planning {
    bench_times first_enqueue_us, first_us, second_us, steady_us;
} planning;

static void plan_afresh(const sweep *of, planning *p) {
    stage s;
    double enqueue_us;
    begin_queue(of, LIMITED, &s);
    bench_add_time(&p->first_us, time_planning(&s, &enqueue_us));
    bench_add_time(&p->first_enqueue_us, enqueue_us);
    bench_add_time(&p->second_us, time_planning(&s, &enqueue_us));
    for (int k = 0; k < N_STEADY; k++)
        bench_add_time(&p->steady_us, time_planning(&s, &enqueue_us));
    end(&s);
}

/** From the checks on the program's thread to the schedule on the queue's. */
static void measure_planning(bench *b, const char *subject, const sweep *of) {
    planning p = {0};
    for (int k = 0; k < BENCH_REPETITIONS; k++)
        plan_afresh(of, &p);
    report(b, subject, "first_us", bench_median(&p.first_us), BENCH_NO_TARGET, 0.0);
    report(b, subject, "of_which_enqueue_us", bench_median(&p.first_enqueue_us), BENCH_NO_TARGET,
           0.0);
    report(b, subject, "second_us", bench_median(&p.second_us), BENCH_AT_MOST, 20.0);
    report(b, subject, "steady_us", bench_median(&p.steady_us), BENCH_AT_MOST, 20.0);
}

/** What launches run one by one have to move: each reads all that it needs and writes back what it
 * wrote. */
typedef struct rereading {
    stage stage; /* afterwards, with the right results */
    double bytes;
    double taken_s;
} rereading;

static void reread(const sweep *of, rereading *r) {
    polytile_report told;
    *r = (rereading){0};
    begin_runs(of, LIMITED, &r->stage);
    double start_s = bench_now_s();
    for (int k = 0; k < N_SWEEPS * of->n_launches; k++) {
        launch(&r->stage, k % of->n_launches);
        polytile_device_get_report(r->stage.device, &told);
        r->bytes += (double)told.lower_bound_bytes;
    }
    r->taken_s = bench_now_s() - start_s;
}

static void require_same(const stage *one, const stage *other) {
    for (int a = 0; a < one->sweep->n_arrays; a++)
        if (memcmp(one->data[a], other->data[a], (size_t)one->n_bytes) != 0) {
            fprintf(stderr, "queue: wrong result: %s, array %d\n", one->sweep->name, a);
            exit(EXIT_FAILURE);
        }
}

/** How the queue gets to know the launches. */
typedef enum knowing { TOGETHER, ONE_BY_ONE } knowing;

static const struct {
    const char *bytes_name, *time_name, *plan_name;
} knowing_names[] = {
    [TOGETHER] = {"together_bytes_less", "together_time_ratio", "together_plan_us"},
    [ONE_BY_ONE] = {"one_by_one_bytes_less", "one_by_one_time_ratio", "one_by_one_plan_us"},
};

static double sweep_queue(const stage *s, knowing how) {
    double start_s = bench_now_s();
    if (how == TOGETHER)
        polytile_queue_pause(s->queue);
    for (int k = 0; k < N_SWEEPS * s->sweep->n_launches; k++) {
        launch(s, k % s->sweep->n_launches);
        if (how == ONE_BY_ONE)
            wait(s);
    }
    detach(s);
    return bench_now_s() - start_s;
}

static void compare_sweeps(bench *b, const char *subject, const rereading *r, knowing how) {
    stage s;
    polytile_report told;
    begin_queue(r->stage.sweep, LIMITED, &s);
    double taken_s = sweep_queue(&s, how);
    require_same(&s, &r->stage);
    polytile_queue_get_report(s.queue, false, &told);
    report(b, subject, knowing_names[how].bytes_name,
           r->bytes / (double)(told.h2d_bytes + told.d2h_bytes), BENCH_AT_LEAST, 1.9);
    report(b, subject, knowing_names[how].time_name, taken_s / r->taken_s, BENCH_NO_TARGET, 0.0);
    report(b, subject, knowing_names[how].plan_name, 1e6 * told.plan_s / (double)told.n_launches,
           BENCH_NO_TARGET, 0.0);
    end(&s);
}

/** Sweeps over data twice the memory. */
static void measure_sweeps(bench *b, const sweep *of) {
    rereading r;
    char subject[64];
    snprintf(subject, sizeof subject, "%d sweeps, %s", N_SWEEPS, of->name);
    reread(of, &r);
    compare_sweeps(b, subject, &r, TOGETHER);
    compare_sweeps(b, subject, &r, ONE_BY_ONE);
    end(&r.stage);
}

/** With room for everything each array goes in and comes out once. */
static void measure_resident(bench *b) {
    stage s;
    polytile_report told;
    begin_queue(&resident, LIMITED, &s);
    for (int k = 0; k < N_RESIDENT_STEPS; k++)
        launch(&s, k % s.sweep->n_launches);
    detach(&s);
    polytile_queue_get_report(s.queue, false, &told);
    double all_bytes = (double)s.n_bytes * s.sweep->n_arrays;
    report(b, "100 launches, all resident", "in_per_byte", (double)told.h2d_bytes / all_bytes,
           BENCH_AT_MOST, 1.0);
    report(b, "100 launches, all resident", "out_per_byte", (double)told.d2h_bytes / all_bytes,
           BENCH_AT_MOST, 1.0);
    end(&s);
}

/** Microseconds a launch, of many from the first to the last one's end. */
static double time_launches(const stage *s, int n_launches) {
    double start_s = bench_now_s();
    for (int k = 0; k < n_launches; k++)
        launch(s, k % s->sweep->n_launches);
    if (s->queue != NULL)
        wait(s);
    return 1e6 * (bench_now_s() - start_s) / n_launches;
}

/** A queue in place against polytile_run() in place, by turns. */
static void compare_in_place(bench *b, const char *subject, const sweep *of, int n_launches) {
    stage queued, run;
    bench_times queue_us = {0}, run_us = {0};
    begin_queue(of, "host", &queued);
    begin_runs(of, "host", &run);
    time_launches(&queued, n_launches);
    time_launches(&run, n_launches);
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        bool run_first = k % 2 == 0;
        if (run_first)
            bench_add_time(&run_us, time_launches(&run, n_launches));
        bench_add_time(&queue_us, time_launches(&queued, n_launches));
        if (!run_first)
            bench_add_time(&run_us, time_launches(&run, n_launches));
    }
    detach(&queued);
    require_same(&queued, &run);
    report(b, subject, "queue_us", bench_median(&queue_us), BENCH_NO_TARGET, 0.0);
    report(b, subject, "run_us", bench_median(&run_us), BENCH_NO_TARGET, 0.0);
    report(b, subject, "ratio", bench_median(&queue_us) / bench_median(&run_us), BENCH_AT_MOST,
           1.02);
    end(&run);
    end(&queued);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "queue", argc, argv))
        return 2;
    measure_enqueueing(&b, "host");
    measure_enqueueing(&b, LIMITED);
    measure_planning(&b, "planning, resident", &small);
    measure_planning(&b, "planning, twice the memory", &sweeps[0]);
    for (int p = 0; p < N_PATTERNS; p++)
        measure_sweeps(&b, &sweeps[p]);
    measure_resident(&b);
    compare_in_place(&b, "small launches in place", &small, N_SMALL);
    compare_in_place(&b, "jacobi 1024x4096 in place", &resident, N_RESIDENT_STEPS);
    return bench_end(&b);
}
