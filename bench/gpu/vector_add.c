/* The addition of two vectors of a thousand million floats: bound by the link both ways. */
#include "gpu/cases.h"
#include "gpu/duplex.h"
#include "gpu/gpu.h"
#include "gpu/hand_pipeline.h"
#include "gpu/problem.h"
#include "vector_add_kernels.h"

#define N_ELEMENTS INT64_C(1000000000)
static const int64_t n_elements = N_ELEMENTS;
static const int64_t array_bytes = N_ELEMENTS * (int64_t)sizeof(float);
static const int64_t data_bytes = 3 * N_ELEMENTS * (int64_t)sizeof(float);

typedef struct vectors {
    float *x, *y, *z;
    problem launch;
    duplex copies;
    hand_pipeline *pipeline;
} vectors;

static void fill(vectors *v) {
    gpu_fill_random(v->x, n_elements, 1);
    gpu_fill_random(v->y, n_elements, 2);
    gpu_poison(v->z, n_elements);
}

static void create_pinned(vectors *v) {
    v->x = gpu_allocate_pinned(array_bytes);
    v->y = gpu_allocate_pinned(array_bytes);
    v->z = gpu_allocate_pinned(array_bytes);
    fill(v);
}

static void create_pageable(vectors *v) {
    v->x = gpu_allocate_pageable(array_bytes);
    v->y = gpu_allocate_pageable(array_bytes);
    v->z = gpu_allocate_pageable(array_bytes);
    fill(v);
}

/** Plan for a device that has one part of so many of the data's bytes. */
static void open_limited(vectors *v, int part) {
    problem_open(&v->launch, data_bytes / part, ADD_DECLARATION, add_f32_implementation());
    problem_wrap(&v->launch, 1, &n_elements, v->x);
    problem_wrap(&v->launch, 1, &n_elements, v->y);
    problem_wrap(&v->launch, 1, &n_elements, v->z);
    problem_plan(&v->launch, POLYTILE_EXTENTS(n_elements), NULL);
}

static double time_library(void *subject) {
    vectors *v = subject;
    gpu_poison(v->z, n_elements);
    double taken_s = problem_run(&v->launch);
    gpu_require_sums(v->x, v->y, v->z, n_elements);
    return taken_s;
}

static double time_copies(void *subject) {
    return duplex_time(&((vectors *)subject)->copies);
}

static void prepare_copies(vectors *v, const vectors *pinned) {
    v->copies =
        (duplex){.n_in = 2, .in = {pinned->x, pinned->y}, .out = pinned->z, .n_bytes = array_bytes};
    duplex_prepare(&v->copies);
}

void vector_add_pinned(void) {
    static const struct {
        int part;
        const char *name;
    } limits[] = {{8, "vector add, pinned, limit 1/8"}, {64, "vector add, pinned, limit 1/64"}};
    vectors v = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create_pinned(&v);
    prepare_copies(&v, &v);
    for (int l = 0; l < 2; l++) {
        bench_times library = {0}, copies = {0};
        open_limited(&v, limits[l].part);
        gpu_alternate(time_library, time_copies, &v, &library, &copies);
        gpu_report(&(gpu_comparison){limits[l].name, "plain copies both ways", &library, &copies,
                                     BENCH_AT_LEAST, 0.985, v.launch.plan_s});
        problem_close(&v.launch);
    }
}

/** The first run of a device pays for what later ones find ready: staging buffers, threads. */
void vector_add_pageable(void) {
    vectors v = {0}, pinned = {0};
    bench_times first = {0}, library = {0}, copies = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create_pinned(&pinned);
    create_pageable(&v);
    prepare_copies(&v, &pinned);
    open_limited(&v, 8);
    bench_add_time(&first, time_library(&v));
    gpu_alternate(time_library, time_copies, &v, &library, &copies);
    gpu_report(&(gpu_comparison){"vector add, pageable, limit 1/8", "plain copies from pinned",
                                 &library, &copies, BENCH_AT_LEAST, 0.80, v.launch.plan_s});
    gpu_report(&(gpu_comparison){"vector add, pageable, first run", "plain copies from pinned",
                                 &first, &copies, BENCH_AT_LEAST, 0.80, 0.0});
}

static double time_pipeline(void *subject) {
    vectors *v = subject;
    gpu_poison(v->z, n_elements);
    double start_s = bench_now_s();
    hand_pipeline_run(v->pipeline, v->x, v->y, v->z, n_elements);
    double taken_s = bench_now_s() - start_s;
    gpu_require_sums(v->x, v->y, v->z, n_elements);
    return taken_s;
}

/** The least of a few runs of one chunk size. */
static double try_pipeline(vectors *v, int64_t chunk, int n_buffers) {
    bench_times times = {0};
    v->pipeline = hand_pipeline_create(chunk, n_buffers);
    for (int r = 0; r < 3; r++)
        bench_add_time(&times, time_pipeline(v));
    hand_pipeline_destroy(v->pipeline);
    return bench_least(&times);
}

/** Try chunks of 4 to 64 MiB, and keep the fastest that is within the limit. */
static void tune_pipeline(vectors *v, int64_t limit_bytes) {
    int64_t best_chunk = 0;
    int best_n_buffers = 0;
    double best_s = 0.0;
    for (int64_t chunk = 1 << 20; chunk <= 1 << 24; chunk *= 2)
        for (int n_buffers = 2; n_buffers <= 3; n_buffers++) {
            if (hand_pipeline_bytes(chunk, n_buffers) > limit_bytes)
                continue;
            double taken_s = try_pipeline(v, chunk, n_buffers);
            if (best_chunk == 0 || taken_s < best_s) {
                best_s = taken_s;
                best_chunk = chunk;
                best_n_buffers = n_buffers;
            }
        }
    v->pipeline = hand_pipeline_create(best_chunk, best_n_buffers);
}

void vector_add_hand(void) {
    vectors v = {0};
    bench_times library = {0}, hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create_pinned(&v);
    tune_pipeline(&v, data_bytes / 8);
    open_limited(&v, 8);
    gpu_alternate(time_library, time_pipeline, &v, &library, &hand);
    gpu_report(&(gpu_comparison){"vector add, pinned, limit 1/8", "hand-written pipeline", &library,
                                 &hand, BENCH_AT_LEAST, 1.00, v.launch.plan_s});
}

void vector_add_overhead(void) {
    vectors v = {0};
    gpu_begin(GPU_WAITS_ASLEEP);
    create_pinned(&v);
    open_limited(&v, 8);
    problem_report_overhead(&v.launch, "host overhead, vector add 1/8");
    gpu_require_sums(v.x, v.y, v.z, n_elements);
}
