/* Sweeps over data twice the memory, through a queue and by runs that each read and write all. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { N_SWEEPS = 40, N_REPETITIONS = 3, MOST_ARRAYS = 2 };
static const int64_t memory_bytes = INT64_C(1) << 29;
static const int64_t data_bytes = INT64_C(1) << 30;

/** What is done over arrays of data_bytes together; of two arrays the sweeps alternate which one is
 * read. */
typedef struct sweep {
    const char *name;
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    int n_arrays;
    int n_dims;
    int64_t extents[2];
    int64_t border; /* left out by the threads */
} sweep;

static const sweep in_place = {"in place", INCREMENT_DECLARATION, gpu_increment, 1, 1, {1 << 28, 1},
                               0};
static const sweep jacobi = {
    "jacobi", JACOBI_DECLARATION, jacobi_f32_implementation, 2, 2, {8192, 16384}, 1};

typedef struct contest {
    const sweep *sweep;
    polytile_domain threads;
    int64_t n_elements; /* of each array */
    float *queued[MOST_ARRAYS];
    float *run[MOST_ARRAYS];
    queue_stage queue;
    problem runs;
} contest;

/** Times and gigabytes of one way to do all sweeps. */
typedef struct costs {
    bench_times taken;
    bench_times moved;
    double plan_s; /* of the queue's thread, for the last of them */
} costs;

static void swap(polytile_array **arrays, int n_arrays) {
    polytile_array *first = arrays[0];
    arrays[0] = arrays[n_arrays - 1];
    arrays[n_arrays - 1] = first;
}

static void sweep_by_runs(const contest *c, costs *of) {
    polytile_array *arrays[MOST_ARRAYS] = {c->runs.arrays[0], c->runs.arrays[1]};
    polytile_report report;
    double moved_bytes = 0.0, start_s = bench_now_s();
    for (int k = 0; k < N_SWEEPS; k++) {
        if (polytile_run(c->runs.device, c->runs.kernel, &c->threads,
                         polytile_kernel_get_n_arrays(c->runs.kernel), arrays, NULL) != POLYTILE_OK)
            gpu_fail("polytile_run: %s", polytile_last_error(c->runs.ctx));
        polytile_device_get_report(c->runs.device, &report);
        moved_bytes += (double)(report.h2d_bytes + report.d2h_bytes);
        swap(arrays, c->sweep->n_arrays);
    }
    bench_add_time(&of->taken, bench_now_s() - start_s);
    bench_add_time(&of->moved, 1e-9 * moved_bytes);
}

/** From the host's memory and back to it. */
static void sweep_by_queue(const contest *c, bool is_together, costs *of) {
    polytile_array *arrays[MOST_ARRAYS] = {c->queue.arrays[0], c->queue.arrays[1]};
    double start_s = bench_now_s();
    queue_stage_attach(&c->queue);
    if (is_together)
        polytile_queue_pause(c->queue.queue);
    for (int k = 0; k < N_SWEEPS; k++) {
        queue_stage_launch(&c->queue, &c->threads, arrays);
        if (!is_together)
            queue_stage_wait(&c->queue);
        swap(arrays, c->sweep->n_arrays);
    }
    queue_stage_detach(&c->queue);
    polytile_queue_resume(c->queue.queue);
    bench_add_time(&of->taken, bench_now_s() - start_s);
    polytile_report report = queue_stage_report(&c->queue);
    bench_add_time(&of->moved, 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
    of->plan_s = report.plan_s;
}

static void create(contest *c) {
    const sweep *of = c->sweep;
    c->threads = polytile_domain_from_bounds(
        of->n_dims, (const int64_t[]){of->border, of->border},
        (const int64_t[]){of->extents[0] - 1 - of->border, of->extents[1] - 1 - of->border});
    c->n_elements = of->extents[0] * of->extents[1];
    queue_stage_open(&c->queue, memory_bytes, of->declaration, of->implementation());
    problem_open(&c->runs, memory_bytes, of->declaration, of->implementation());
    for (int a = 0; a < of->n_arrays; a++) {
        c->queued[a] = gpu_allocate_pinned(data_bytes / of->n_arrays);
        c->run[a] = gpu_allocate_pinned(data_bytes / of->n_arrays);
        queue_stage_wrap(&c->queue, of->n_dims, of->extents, c->queued[a]);
        problem_wrap(&c->runs, of->n_dims, of->extents, c->run[a]);
    }
}

static void fill(const contest *c, float *const *data) {
    for (int a = 0; a < c->sweep->n_arrays; a++)
        gpu_fill_whole_numbers(data[a], c->n_elements, 10 + (uint64_t)a);
}

/** Both ways of the queue, each from the same beginning as the runs. */
static void measure(const contest *c, costs *together, costs *one_by_one, costs *runs) {
    costs *const ways[] = {one_by_one, together};
    for (int r = 0; r < N_REPETITIONS; r++) {
        fill(c, c->run);
        sweep_by_runs(c, runs);
        for (int is_together = 0; is_together < 2; is_together++) {
            fill(c, c->queued);
            sweep_by_queue(c, is_together, ways[is_together]);
            for (int a = 0; a < c->sweep->n_arrays; a++)
                gpu_require_equal("the queue's array", c->queued[a], c->run[a], c->n_elements);
        }
    }
}

static void report(const sweep *of, const char *how, const costs *queue, const costs *runs) {
    char name[56], bytes_name[56];
    snprintf(name, sizeof name, "queue, %d sweeps %s, %s", N_SWEEPS, of->name, how);
    snprintf(bytes_name, sizeof bytes_name, "queue, moved %s, %s", of->name, how);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "polytile_run",
                                 .ours = &queue->taken,
                                 .rival = &runs->taken,
                                 .plan_s = queue->plan_s});
    gpu_report_in("GB", &(gpu_comparison){.name = bytes_name,
                                          .against = "polytile_run",
                                          .ours = &queue->moved,
                                          .rival = &runs->moved,
                                          .relation = BENCH_AT_LEAST,
                                          .target = 1.9});
}

static void compare(const sweep *of) {
    contest c = {.sweep = of};
    costs together = {0}, one_by_one = {0}, runs = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    measure(&c, &together, &one_by_one, &runs);
    report(of, "together", &together, &runs);
    report(of, "one by one", &one_by_one, &runs);
}

void queue_sweeps_in_place(void) {
    compare(&in_place);
}

void queue_sweeps_jacobi(void) {
    compare(&jacobi);
}
