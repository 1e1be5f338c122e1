/* The inspector: reading an index array against copying it, and what a launch over a matrix that
 * was looked into before costs against the first one. */
#include "common/bench.h"
#include "sparse_matrix.h"
#include "spmv_kernels.h"

#include "access/array/index_array.h"

#include <string.h>

enum { N_ROWS = 1 << 20, EACH = 32, N_ARRAYS = 5 };

/** A matrix in compressed rows and two vectors. */
typedef struct problem {
    polytile_context *ctx;
    polytile_device *device; /* whose threads read */
    int64_t n_entries;
    int64_t *P;
    int32_t *K;
    float *V, *x, *y;
    polytile_array *array[N_ARRAYS]; /* V, P, x, K, y */
} problem;

static void wrap(problem *p, int a, const char *name, polytile_type type, int64_t extent,
                 void *data) {
    bench_require(polytile_array_wrap(p->ctx, name, type, 1, &extent, data, &p->array[a]), p->ctx);
}

static void make_problem(problem *p) {
    const sparse_generator *uniform = sparse_find_generator("uniform");
    const sparse_source source = {.n_rows = N_ROWS, .degree = EACH, .seed = 1};
    *p = (problem){.n_entries = (int64_t)N_ROWS * EACH};
    bench_require(polytile_context_create(&p->ctx), NULL);
    bench_require(polytile_device_open(p->ctx, "host", &p->device), p->ctx);
    p->P = bench_allocate((N_ROWS + 1) * 8);
    p->K = bench_allocate(p->n_entries * 4);
    p->V = bench_allocate(p->n_entries * 4);
    p->x = bench_allocate(N_ROWS * 4);
    p->y = bench_allocate(N_ROWS * 4);
    for (int64_t i = 0; i <= N_ROWS; ++i)
        p->P[i] = i * EACH;
#pragma omp parallel for
    for (int64_t e = 0; e < p->n_entries; ++e)
        p->K[e] = (int32_t)uniform->get_column(&source, e / EACH, e % EACH, EACH);
    wrap(p, 0, "V", POLYTILE_F32, p->n_entries, p->V);
    wrap(p, 1, "P", POLYTILE_I64, N_ROWS + 1, p->P);
    wrap(p, 2, "x", POLYTILE_F32, N_ROWS, p->x);
    wrap(p, 3, "K", POLYTILE_I32, p->n_entries, p->K);
    wrap(p, 4, "y", POLYTILE_F32, N_ROWS, p->y);
}

static void free_problem(problem *p) {
    polytile_context_destroy(p->ctx);
    bench_free(p->P, (N_ROWS + 1) * 8);
    bench_free(p->K, p->n_entries * 4);
    bench_free(p->V, p->n_entries * 4);
    bench_free(p->x, N_ROWS * 4);
    bench_free(p->y, N_ROWS * 4);
}

static double time_of_read(const problem *p) {
    const polytile_domain domain = polytile_domain_from_extents(1, &p->n_entries);
    const pti_index_array of = {
        .data = (const char *)p->K, .domain = domain, .layout = pti_memory_layout_of(&domain, 4)};
    const double start_s = bench_now_s();
    pti_index_array *read = pti_index_array_read(p->ctx, &of);
    const double taken_s = bench_now_s() - start_s;
    if (read == NULL)
        bench_require(POLYTILE_NO_MEMORY, NULL);
    pti_index_array_release(read);
    return taken_s;
}

/** The copy goes into V, which holds as many bytes. */
static double time_of_copy(const problem *p) {
    const double start_s = bench_now_s();
    memcpy(p->V, p->K, (size_t)p->n_entries * 4);
    return bench_now_s() - start_s;
}

static void measure_read(bench *b, const problem *p) {
    bench_times reads = {0}, copies = {0};
    const double start_s = bench_now_s();
    while (!bench_is_enough(&reads, bench_now_s() - start_s)) {
        bench_add_time(&reads, time_of_read(p));
        bench_add_time(&copies, time_of_copy(p));
    }
    bench_report(b, &(bench_figure){"32 Mi columns", "read_ms", 1e3 * bench_least(&reads),
                                    BENCH_NO_TARGET, 0});
    bench_report(b, &(bench_figure){"32 Mi columns", "read_over_copy",
                                    bench_least(&reads) / bench_least(&copies), BENCH_AT_MOST, 1});
}

/** The call that queues a product: it looks into the matrix, and cuts the launch. */
static double time_of_launch(const problem *p, polytile_queue *queue,
                             const polytile_kernel *kernel) {
    const double start_s = bench_now_s();
    bench_require(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), N_ARRAYS, p->array, NULL),
        p->ctx);
    const double taken_s = bench_now_s() - start_s;
    bench_require(polytile_queue_wait(queue), p->ctx);
    return taken_s;
}

/** A launch again, and one with another y, which attaching it again stands for. */
static void measure_launches(bench *b, const problem *p) {
    polytile_queue *queue;
    polytile_kernel *kernel;
    bench_times first = {0}, again = {0}, later = {0};
    bench_require(polytile_kernel_create(p->ctx, SPMV_ROWS_DECLARATION,
                                         spmv_rows_f32_implementation(), &kernel),
                  p->ctx);
    bench_require(polytile_queue_create(p->ctx, "host(memory=64MiB)", &queue), p->ctx);
    for (int k = 0; k < BENCH_REPETITIONS; ++k) {
        bench_require(polytile_queue_attach(queue, N_ARRAYS, p->array), p->ctx);
        bench_add_time(&first, time_of_launch(p, queue, kernel));
        bench_add_time(&again, time_of_launch(p, queue, kernel));
        bench_require(polytile_queue_detach(queue, 1, &p->array[4]), p->ctx);
        bench_require(polytile_queue_attach(queue, 1, &p->array[4]), p->ctx);
        bench_add_time(&later, time_of_launch(p, queue, kernel));
        bench_require(polytile_queue_detach(queue, N_ARRAYS, p->array), p->ctx);
    }
    bench_report(b, &(bench_figure){"product, launch", "first_ms", 1e3 * bench_least(&first),
                                    BENCH_NO_TARGET, 0});
    bench_report(b,
                 &(bench_figure){"product, launch", "again_over_first",
                                 bench_least(&again) / bench_least(&first), BENCH_AT_MOST, 0.01});
    bench_report(b, &(bench_figure){"product, launch", "other_y_over_first",
                                    bench_least(&later) / bench_least(&first), BENCH_NO_TARGET, 0});
}

int main(int argc, char **argv) {
    bench b;
    problem p;
    if (!bench_begin(&b, "inspect", argc, argv))
        return 2;
    make_problem(&p);
    measure_read(&b, &p);
    measure_launches(&b, &p);
    free_problem(&p);
    return bench_end(&b);
}
