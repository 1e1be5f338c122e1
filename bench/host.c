/* The host device in place against a plain OpenMP loop of the same body, run alternately. */
#include "common/bench.h"
#include "jacobi_kernels.h"
#include "matmul_host.h"
#include "matmul_kernels.h"
#include "vector_add_kernels.h"

#include <omp.h>

enum { N_MATRICES = 3 };
enum { VECTOR_N = 67107840, FIELD_N = 8192, MATRIX_N = 3072 };

/** One comparison: a launch of the library, and the same by hand. */
typedef struct contest {
    const char *name;
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    int n_arrays;
    int n_dims;
    int64_t extent; /* of each array along each dimension */
    int64_t border; /* left out by the threads */
    void (*run_plain)(float *const *data);
} contest;

static void add_plain(float *const *data) {
    const float *x = data[0], *y = data[1];
    float *z = data[2];
#pragma omp parallel for
    for (int64_t i = 0; i < VECTOR_N; i++)
        z[i] = x[i] + y[i];
}

static void jacobi_plain(float *const *data) {
    const float *a = data[0];
    float *b = data[1];
#pragma omp parallel for
    for (int64_t i = 1; i < FIELD_N - 1; i++)
        for (int64_t j = 1; j < FIELD_N - 1; j++) {
            const float *at = a + i * FIELD_N + j;
            b[i * FIELD_N + j] =
                FIVE_POINT_MEAN(at[0], at[-FIELD_N], at[FIELD_N], at[-1], at[1], 0.2f);
        }
}

/** The view of a whole matrix in memory. */
static polytile_view matrix_view(float *data) {
    return (polytile_view){
        .origin = data,
        .stride_bytes = {(int64_t)sizeof(float) * MATRIX_N, (int64_t)sizeof(float)},
        .resident = polytile_domain_from_extents(2, (const int64_t[]){MATRIX_N, MATRIX_N})};
}

/** Each thread multiplies its share of the rows with the kernel's own function. */
static void matmul_plain(float *const *data) {
    polytile_view views[N_MATRICES];
    for (int m = 0; m < N_MATRICES; m++)
        views[m] = matrix_view(data[m]);
#pragma omp parallel
    {
        int64_t me = omp_get_thread_num(), n_threads = omp_get_num_threads();
        polytile_domain rows = polytile_domain_from_bounds(
            2, (const int64_t[]){MATRIX_N * me / n_threads, 0},
            (const int64_t[]){MATRIX_N * (me + 1) / n_threads - 1, MATRIX_N - 1});
        matmul_on_host(&rows, views, NULL);
    }
}

/** The product as the example runs it on the host. */
static const polytile_implementation *matmul_blocked(void) {
    static const polytile_implementation blocked = {.host = matmul_on_host};
    return &blocked;
}

static const contest contests[] = {
    {"vector add 67107840", ADD_DECLARATION, add_f32_implementation, 3, 1, VECTOR_N, 0, add_plain},
    {"jacobi 8192x8192", JACOBI_DECLARATION, jacobi_f32_implementation, 2, 2, FIELD_N, 1,
     jacobi_plain},
    {"matmul 3072x3072", MATMUL_DECLARATION, matmul_blocked, 3, 2, MATRIX_N, 0, matmul_plain},
};
enum { N_CONTESTS = sizeof(contests) / sizeof(contests[0]) };

/** What a contest has when its arrays exist. */
typedef struct field_set {
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_domain threads;
    int64_t n_bytes; /* of each array */
    float *data[N_MATRICES];
    polytile_array *arrays[N_MATRICES];
} field_set;

static void create_arrays(const contest *c, field_set *s) {
    const int64_t extents[] = {c->extent, c->extent};
    s->n_bytes = (int64_t)sizeof(float) * c->extent * (c->n_dims == 2 ? c->extent : 1);
    for (int a = 0; a < c->n_arrays; a++) {
        s->data[a] = bench_allocate(s->n_bytes);
        for (int64_t k = 0; k < s->n_bytes / (int64_t)sizeof(float); k++)
            s->data[a][k] = (float)(k % 7 - 3);
        bench_require(polytile_array_wrap(s->ctx, polytile_kernel_get_array_name(s->kernel, a),
                                          POLYTILE_F32, c->n_dims, extents, s->data[a],
                                          &s->arrays[a]),
                      s->ctx);
    }
}

static void begin_contest(const contest *c, field_set *s) {
    const int64_t first[] = {c->border, c->border};
    const int64_t last[] = {c->extent - 1 - c->border, c->extent - 1 - c->border};
    *s = (field_set){.threads = polytile_domain_from_bounds(c->n_dims, first, last)};
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_device_open(s->ctx, "host", &s->device), s->ctx);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, c->implementation(), &s->kernel),
                  s->ctx);
    create_arrays(c, s);
}

static void end_contest(const contest *c, field_set *s) {
    polytile_context_destroy(s->ctx);
    for (int a = 0; a < c->n_arrays; a++)
        bench_free(s->data[a], s->n_bytes);
}

static double time_library(const field_set *s) {
    double start_s = bench_now_s();
    bench_require(polytile_run(s->device, s->kernel, &s->threads,
                               polytile_kernel_get_n_arrays(s->kernel), s->arrays, NULL),
                  s->ctx);
    return bench_now_s() - start_s;
}

static double time_plain(const contest *c, const field_set *s) {
    double start_s = bench_now_s();
    c->run_plain(s->data);
    return bench_now_s() - start_s;
}

/** Alternate the two, starting with either in turn, after one run of each that does not count. */
static void measure(const contest *c, const field_set *s, bench_times *library,
                    bench_times *plain) {
    time_plain(c, s);
    time_library(s);
    double start_s = bench_now_s();
    while (!bench_is_enough(plain, bench_now_s() - start_s)) {
        bool plain_first = plain->n_times % 2 == 0;
        if (plain_first)
            bench_add_time(plain, time_plain(c, s));
        bench_add_time(library, time_library(s));
        if (!plain_first)
            bench_add_time(plain, time_plain(c, s));
    }
}

static void run_contest(bench *b, const contest *c) {
    field_set s;
    bench_times library = {0}, plain = {0};
    begin_contest(c, &s);
    measure(c, &s, &library, &plain);
    const bench_figure figures[] = {
        {c->name, "plain_s", bench_least(&plain), BENCH_NO_TARGET, 0.0},
        {c->name, "in_place_s", bench_least(&library), BENCH_NO_TARGET, 0.0},
        {c->name, "ratio_of_least", bench_least(&library) / bench_least(&plain), BENCH_AT_MOST,
         1.02},
        {c->name, "ratio_of_medians", bench_median(&library) / bench_median(&plain),
         BENCH_NO_TARGET, 0.0},
    };
    for (int f = 0; f < (int)(sizeof(figures) / sizeof(figures[0])); f++)
        bench_report(b, &figures[f]);
    end_contest(c, &s);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "host", argc, argv))
        return 2;
    for (int c = 0; c < N_CONTESTS; c++)
        run_contest(&b, &contests[c]);
    return bench_end(&b);
}
