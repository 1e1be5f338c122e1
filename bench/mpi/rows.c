/* Rows of unequal cost that two ranks take from one counter, with a device of one thread each,
 * beside one process with two such devices, in turns: mpiexec -n 2 build/bench/rows. */
#include "mpi/common/ranks.h"
#include "tasks/tasks.h"

#include <math.h>
#include <polytile/mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_COLUMNS = 256, N_SEEDS = 5, N_REPETITIONS = 3 };

static const double mean_s = 1e-3;
static const char one_device[] = "host(threads=1)";
static const char two_devices[] = "host(threads=1),host(threads=1)";

/** What rows do, and for how long. */
typedef struct rows {
    tasks cost;
    bool sleep; /* else they compute */
    double steps_per_s;
} rows;

/** A place where rows run: the ranks, or rank 0 alone. */
typedef struct place {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array;
    float *memory;
} place;

static float compute(int64_t n_steps, float value) {
    for (int64_t step = 0; step < n_steps; step++)
        value = value * 0.999f + 0.001f;
    return value;
}

static void run_row(const rows *of, int64_t row, float *to, int64_t step) {
    const double cost_s = of->cost.cost_s[row];
    float value = (float)row;
    if (of->sleep)
        tasks_sleep(&of->cost, 0, (int)row, (int)row + 1);
    else
        value = compute((int64_t)(cost_s * of->steps_per_s), value);
    for (int64_t j = 0; j < N_COLUMNS; j++)
        to[j * step] = value + (float)j;
}

static int launch_rows(const polytile_sub_kernel *launch) {
    const rows *of = launch->user;
    const polytile_view *view = &launch->views[0];
    if (of->sleep)
        tasks_sleep_exactly();
    for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++)
        run_row(of, i, (float *)((char *)view->origin + i * view->stride_bytes[0]),
                view->stride_bytes[1] / (int64_t)sizeof(float));
    return 0;
}

static double measure_steps_per_s(void) {
    enum { N_STEPS = 20000000 };
    const double begin_s = bench_now_s();
    volatile float first = 1;
    volatile float kept = compute(N_STEPS, first);
    (void)kept;
    return N_STEPS / (bench_now_s() - begin_s);
}

static void prepare(place *at, rows *of) {
    const polytile_implementation implementation = {.host_launcher = launch_rows, .user = of};
    const int64_t extents[] = {N_TASKS, N_COLUMNS};
    at->memory = calloc((size_t)N_TASKS * N_COLUMNS, sizeof *at->memory);
    bench_require(
        polytile_kernel_create(at->ctx, "row[i]: out y[i, :]", &implementation, &at->kernel),
        at->ctx);
    bench_require(
        polytile_array_wrap(at->ctx, "y", POLYTILE_F32, 2, extents, at->memory, &at->array),
        at->ctx);
}

static place open_ranks(const char *policy, rows *of) {
    const polytile_share_options share = {.policy = policy};
    place at = {0};
    bench_require(polytile_context_create(&at.ctx), NULL);
    bench_require(polytile_mpi_queue_create(at.ctx, MPI_COMM_WORLD, one_device, &share, &at.queue),
                  at.ctx);
    prepare(&at, of);
    return at;
}

static place open_process(const char *policy, rows *of) {
    const polytile_share_options share = {.policy = policy};
    place at = {0};
    bench_require(polytile_context_create(&at.ctx), NULL);
    bench_require(polytile_queue_create_shared(at.ctx, two_devices, &share, &at.queue), at.ctx);
    prepare(&at, of);
    return at;
}

static void close_place(place *at) {
    polytile_context_destroy(at->ctx);
    free(at->memory);
}

/** From the launch until all results are everywhere. */
static double time_rows(place *at) {
    bench_require(polytile_queue_attach(at->queue, 1, &at->array), at->ctx);
    const double begin_s = bench_now_s();
    bench_require(polytile_queue_launch(at->queue, at->kernel, POLYTILE_EXTENTS(N_TASKS), 1,
                                        &at->array, NULL),
                  at->ctx);
    bench_require(polytile_queue_detach(at->queue, 1, &at->array), at->ctx);
    return bench_now_s() - begin_s;
}

static void expect_equal(const place *one, const place *other) {
    for (int k = 0; k < N_TASKS * N_COLUMNS; k++) {
        if (one->memory[k] != other->memory[k]) {
            fprintf(stderr, "rows: element %d is wrong\n", k);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
}

/** Meet without taking a core from the other rank. */
static void meet(void) {
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!is_done) {
        usleep(200);
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

/** A contest's times, on rank 0. */
typedef struct contest {
    bench_times ranks;
    bench_times process;
} contest;

/** Both in turns. */
static void run_once(place *ranks, place *process, int rank, contest *c) {
    meet();
    if (rank == 0)
        bench_add_time(&c->process, time_rows(process));
    meet();
    bench_add_time(&c->ranks, time_rows(ranks));
    if (rank == 0)
        expect_equal(ranks, process);
}

/** Add the least of some repetitions for each draw of costs: what disturbs them is not theirs. */
static void run_contest(const char *policy, rows *of, int rank, double *ranks_s,
                        double *process_s) {
    place ranks = open_ranks(policy, of), process = {0};
    if (rank == 0)
        process = open_process(policy, of);
    for (int seed = 0; seed < N_SEEDS; seed++) {
        contest c = {0};
        tasks_draw(TASKS_EXPONENTIAL, (unsigned)seed, mean_s, 1, &of->cost);
        for (int k = 0; k < N_REPETITIONS; k++)
            run_once(&ranks, &process, rank, &c);
        *ranks_s += bench_least(&c.ranks) / N_SEEDS;
        *process_s += rank == 0 ? bench_least(&c.process) / N_SEEDS : 0;
    }
    meet();
    close_place(&ranks);
    if (rank == 0)
        close_place(&process);
}

static void report(bench *b, const char *policy, bool sleep, double ranks_s, double process_s) {
    char subject[64];
    snprintf(subject, sizeof subject, "%s, rows that %s", policy, sleep ? "sleep" : "compute");
    const bench_figure figures[] = {
        {subject, "two_ranks_s", ranks_s, BENCH_NO_TARGET, 0},
        {subject, "one_process_s", process_s, BENCH_NO_TARGET, 0},
        {subject, "against_one_process", ranks_s / process_s, BENCH_AT_MOST, 1.02},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

static void compete(bench *b, const char *policy, bool sleep, int rank) {
    rows of = {.sleep = sleep, .steps_per_s = measure_steps_per_s()};
    double ranks_s = 0, process_s = 0;
    MPI_Bcast(&of.steps_per_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    run_contest(policy, &of, rank, &ranks_s, &process_s);
    if (rank == 0)
        report(b, policy, sleep, ranks_s, process_s);
}

int main(int argc, char **argv) {
    bench b;
    const int rank = bench_begin_ranks(&b, "rows", 2, "", argc, argv);
    for (int sleep = 1; sleep >= 0; sleep--) {
        compete(&b, "self(1)", sleep != 0, rank);
        compete(&b, "guided", sleep != 0, rank);
    }
    return bench_end_ranks(&b);
}
