/* The rate at which the host device with a limit moves data, against a plain parallel memcpy of the
 * same bytes in pieces of the same size, run alternately. */
#include "common/bench.h"
#include "jacobi_kernels.h"
#include "vector_add_kernels.h"

#include <omp.h>
#include <string.h>

enum { VECTOR_N = 67107840, FIELD_N = 8192, MAX_ARRAYS = 3 };

typedef struct transfer_case {
    const char *name;
    const char *device;
    const char *declaration;
    const polytile_implementation *(*implementation)(void);
    int n_arrays; /* the last one is written */
    int n_dims;
    int64_t extent;
    int64_t border;
} transfer_case;

static const transfer_case cases[] = {
    {"vector add 67107840, 64 MiB", "host(memory=64MiB)", ADD_DECLARATION, add_f32_implementation,
     3, 1, VECTOR_N, 0},
    {"vector add 67107840, 256 MiB", "host(memory=256MiB)", ADD_DECLARATION, add_f32_implementation,
     3, 1, VECTOR_N, 0},
    {"jacobi 8192x8192, 64 MiB", "host(memory=64MiB)", JACOBI_DECLARATION,
     jacobi_f32_implementation, 2, 2, FIELD_N, 1},
    {"jacobi 8192x8192, 256 MiB", "host(memory=256MiB)", JACOBI_DECLARATION,
     jacobi_f32_implementation, 2, 2, FIELD_N, 1},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** What a case has when its arrays exist. */
typedef struct subject {
    const transfer_case *c;
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_plan *plan;
    polytile_plan_summary summary;
    polytile_array *arrays[MAX_ARRAYS];
    char *data[MAX_ARRAYS];
    int64_t n_bytes; /* of each array */
    char *staging;   /* a plan's buffers, each with a piece of every array */
} subject;

/** Where the k-th superblock's share of an array begins, in bytes. */
static int64_t piece_start(const subject *s, int64_t k) {
    return s->n_bytes / s->summary.n_kernels * k;
}

static int64_t staging_bytes(const subject *s) {
    return s->summary.n_buffers * s->c->n_arrays * piece_start(s, 1);
}

static void create_arrays(subject *s) {
    const transfer_case *c = s->c;
    const int64_t extents[] = {c->extent, c->extent};
    s->n_bytes = (int64_t)sizeof(float) * c->extent * (c->n_dims == 2 ? c->extent : 1);
    for (int a = 0; a < c->n_arrays; a++) {
        s->data[a] = bench_allocate(s->n_bytes);
        memset(s->data[a], 0, (size_t)s->n_bytes);
        bench_require(polytile_array_wrap(s->ctx, polytile_kernel_get_array_name(s->kernel, a),
                                          POLYTILE_F32, c->n_dims, extents, s->data[a],
                                          &s->arrays[a]),
                      s->ctx);
    }
}

static void begin_case(subject *s) {
    const transfer_case *c = s->c;
    const int64_t first[] = {c->border, c->border};
    const int64_t last[] = {c->extent - 1 - c->border, c->extent - 1 - c->border};
    polytile_domain threads = polytile_domain_from_bounds(c->n_dims, first, last);
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_device_open(s->ctx, c->device, &s->device), s->ctx);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, c->implementation(), &s->kernel),
                  s->ctx);
    create_arrays(s);
    const polytile_launch_options options = {.plan.limit_bytes =
                                                 polytile_device_get_limit(s->device)};
    bench_require(polytile_plan_create(s->kernel, &threads, polytile_kernel_get_n_arrays(s->kernel),
                                       s->arrays, &options, &s->plan),
                  s->ctx);
    polytile_plan_get_summary(s->plan, &s->summary);
    s->staging = bench_allocate(staging_bytes(s));
}

static void end_case(subject *s) {
    bench_free(s->staging, staging_bytes(s));
    polytile_context_destroy(s->ctx);
    for (int a = 0; a < s->c->n_arrays; a++)
        bench_free(s->data[a], s->n_bytes);
}

/** Copy with all threads, each its contiguous share. */
static void copy_parallel(char *to, const char *from, int64_t n_bytes) {
#pragma omp parallel
    {
        int64_t me = omp_get_thread_num(), n_threads = omp_get_num_threads();
        int64_t begin = n_bytes * me / n_threads, end = n_bytes * (me + 1) / n_threads;
        memcpy(to + begin, from + begin, (size_t)(end - begin));
    }
}

/** For each superblock its share of each array: up what is read, then down what is written. The
 * staging memory is used in turns, as the plan's buffers are. */
static double time_memcpy(const subject *s) {
    int written = s->c->n_arrays - 1, n_buffers = s->summary.n_buffers;
    int64_t piece_bytes = piece_start(s, 1);
    double start_s = bench_now_s();
    for (int64_t k = 0; k < s->summary.n_kernels; k++) {
        char *buffer = s->staging + k % n_buffers * s->c->n_arrays * piece_bytes;
        for (int a = 0; a < written; a++)
            copy_parallel(buffer + a * piece_bytes, s->data[a] + piece_start(s, k), piece_bytes);
        copy_parallel(s->data[written] + piece_start(s, k), buffer + written * piece_bytes,
                      piece_bytes);
    }
    return bench_now_s() - start_s;
}

/** The time the library says it spent on transfers. */
static double time_library(const subject *s) {
    polytile_report report;
    bench_require(polytile_plan_run(s->plan, s->device, s->kernel,
                                    polytile_kernel_get_n_arrays(s->kernel), s->arrays, NULL),
                  s->ctx);
    polytile_device_get_report(s->device, &report);
    return report.transfer_s;
}

static void run_case(bench *b, const transfer_case *c) {
    subject s = {.c = c};
    bench_times library = {0}, plain = {0};
    begin_case(&s);
    time_memcpy(&s);
    time_library(&s);
    double start_s = bench_now_s();
    while (!bench_is_enough(&plain, bench_now_s() - start_s)) {
        bench_add_time(&plain, time_memcpy(&s));
        bench_add_time(&library, time_library(&s));
    }
    double library_bytes = (double)(s.summary.h2d_bytes + s.summary.d2h_bytes);
    double plain_bytes = (double)(piece_start(&s, s.summary.n_kernels) * (int64_t)s.c->n_arrays);
    double library_rate = library_bytes / bench_least(&library);
    double plain_rate = plain_bytes / bench_least(&plain);
    double median_ratio =
        library_bytes / bench_median(&library) / (plain_bytes / bench_median(&plain));
    const bench_figure figures[] = {
        {c->name, "memcpy_GB_per_s", 1e-9 * plain_rate, BENCH_NO_TARGET, 0.0},
        {c->name, "transfer_GB_per_s", 1e-9 * library_rate, BENCH_NO_TARGET, 0.0},
        {c->name, "ratio_of_best", library_rate / plain_rate, BENCH_AT_LEAST, 0.9},
        {c->name, "ratio_of_medians", median_ratio, BENCH_NO_TARGET, 0.0},
    };
    for (int f = 0; f < (int)(sizeof(figures) / sizeof(figures[0])); f++)
        bench_report(b, &figures[f]);
    end_case(&s);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "transfer", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
