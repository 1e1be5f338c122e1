#include "queue.h"

#include "common/bench.h"

#include <pthread.h>
#include <stdlib.h>

/* Rows that sleep, as a launcher runs them. A member's queue has a thread of its own, so threads
 * tell who it is: the first that comes is the fast worker. */

static polytile_context *ctx;
static polytile_queue *queue;

typedef struct run {
    const tasks *of; /* NULL: rows do nothing */
    pthread_mutex_t mutex;
    int n_workers;
    pthread_t worker[N_WORKERS];
} run;

static int find_worker(run *of) {
    int worker = 0;
    pthread_mutex_lock(&of->mutex);
    while (worker < of->n_workers && !pthread_equal(of->worker[worker], pthread_self()))
        worker++;
    if (worker == of->n_workers) {
        of->worker[of->n_workers++] = pthread_self();
        tasks_sleep_exactly();
    }
    pthread_mutex_unlock(&of->mutex);
    return worker;
}

static int launch_rows(const polytile_sub_kernel *launch) {
    run *of = launch->user;
    const polytile_range *rows = &launch->threads->range[0];
    if (of->of != NULL)
        tasks_sleep(of->of, find_worker(of), (int)rows->lo, (int)rows->hi + 1);
    return 0;
}

void queue_begin(const char *policy) {
    const polytile_share_options share = {.policy = policy};
    bench_require(polytile_context_create(&ctx), ctx);
    bench_require(
        polytile_queue_create_shared(ctx, "host(threads=1),host(threads=1)", &share, &queue), ctx);
}

void queue_end(void) {
    polytile_context_destroy(ctx);
}

/** Run a kernel over rows, each of which owns an element; the second time is measured if warm. */
static double time_launch(run *of, int n_rows) {
    const polytile_implementation implementation = {.host_launcher = launch_rows, .user = of};
    const int64_t extent = n_rows;
    float *memory = calloc((size_t)n_rows, sizeof *memory);
    polytile_kernel *kernel;
    polytile_array *y;
    char declaration[64];
    static int n_kernels;
    snprintf(declaration, sizeof declaration, "task%d[i]: out y[i]", n_kernels++);
    bench_require(polytile_kernel_create(ctx, declaration, &implementation, &kernel), ctx);
    bench_require(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &extent, memory, &y), ctx);
    bench_require(polytile_queue_attach(queue, 1, &y), ctx);
    const double begin_s = bench_now_s();
    bench_require(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_rows), 1, &y, NULL), ctx);
    bench_require(polytile_queue_wait(queue), ctx);
    const double time_s = bench_now_s() - begin_s;
    bench_require(polytile_queue_detach(queue, 1, &y), ctx);
    polytile_array_destroy(y);
    polytile_kernel_destroy(kernel);
    free(memory);
    return time_s;
}

double run_in_queue(const tasks *of) {
    run one = {.of = of, .mutex = PTHREAD_MUTEX_INITIALIZER};
    return time_launch(&one, N_TASKS);
}

double time_empty_pieces(int n_rows) {
    run one = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    return time_launch(&one, n_rows) / n_rows;
}
