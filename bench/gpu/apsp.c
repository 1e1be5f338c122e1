/* Shortest paths from many sources: within little memory against all of it, on a GPU with the host
 * against the faster of them, and on two GPUs of which one has little memory against one. */
#include "apsp_graph.h"
#include "apsp_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/several.h"

#include <stdlib.h>
#include <string.h>

enum { SCALE = 15, DEGREE = 8, N_ARRAYS = 5, N_REPETITIONS = 3, PART = 8, MOST_WEIGHTS = 6 };

/** The graph's memory, and the distances that are found: a row a source. */
typedef struct graph_paths {
    int64_t n_vertices;
    int64_t n_arcs;
    int64_t n_sources;
    graph_lists lists;
    int32_t *distances;
    int32_t *expected; /* as found first */
} graph_paths;

/** A way to find them. */
typedef struct way {
    graph_paths *of;
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array[N_ARRAYS]; /* first, target, weight, least, dist */
} way;

/** Two ways to be compared. */
typedef struct pair {
    way ours;
    way rival;
} pair;

static void *allocate(int64_t n, size_t element_bytes) {
    void *memory = calloc((size_t)n, element_bytes);
    if (memory == NULL)
        gpu_fail("no memory for %lld elements", (long long)n);
    return memory;
}

static void make_graph(int64_t n_sources, graph_paths *p) {
    graph_source source = {.scale = SCALE, .degree = DEGREE, .seed = 1};
    source.generator = graph_find_generator("rmat");
    p->n_sources = n_sources;
    p->n_vertices = INT64_C(1) << SCALE;
    p->n_arcs = source.generator->count_arcs(&source);
    p->lists = (graph_lists){.n_vertices = p->n_vertices,
                             .first = allocate(p->n_vertices + 1, sizeof(int64_t)),
                             .target = allocate(p->n_arcs, sizeof(int32_t)),
                             .weight = allocate(p->n_arcs, sizeof(int32_t)),
                             .least = allocate(p->n_vertices, sizeof(int32_t))};
    source.generator->each_arc(&source, graph_lists_count, &p->lists);
    graph_lists_give_places(&p->lists);
    source.generator->each_arc(&source, graph_lists_fill_in, &p->lists);
    graph_lists_end(&p->lists);
    p->distances = (int32_t *)gpu_allocate_pageable(4 * n_sources * p->n_vertices);
    p->expected = NULL;
}

static void wrap(way *w, int a, const char *name, polytile_type type, int n_dims,
                 const int64_t *extents, void *data) {
    bench_require(polytile_array_wrap(w->ctx, name, type, n_dims, extents, data, &w->array[a]),
                  w->ctx);
}

static void open_way(graph_paths *of, const char *devices, const char *policy, way *w) {
    const polytile_share_options share = {.policy = policy};
    const polytile_implementation body = apsp_block_implementation();
    const int64_t places[] = {of->n_vertices + 1}, arcs[] = {of->n_arcs};
    const int64_t vertices[] = {of->n_vertices}, rows[] = {of->n_sources, of->n_vertices};
    *w = (way){.of = of};
    bench_require(polytile_context_create(&w->ctx), NULL);
    bench_require(polytile_queue_create_shared(w->ctx, devices, &share, &w->queue), w->ctx);
    bench_require(polytile_kernel_create(w->ctx, APSP_BLOCK_DECLARATION, &body, &w->kernel),
                  w->ctx);
    wrap(w, 0, "first", POLYTILE_I64, 1, places, of->lists.first);
    wrap(w, 1, "target", POLYTILE_I32, 1, arcs, of->lists.target);
    wrap(w, 2, "weight", POLYTILE_I32, 1, arcs, of->lists.weight);
    wrap(w, 3, "least", POLYTILE_I32, 1, vertices, of->lists.least);
    wrap(w, 4, "dist", POLYTILE_I32, 2, rows, of->distances);
}

static void close_way(way *w) {
    polytile_context_destroy(w->ctx);
}

/** All distances are those that were found first. */
static void check(graph_paths *of) {
    const size_t n_bytes = (size_t)(of->n_sources * of->n_vertices) * sizeof *of->distances;
    if (of->expected == NULL) {
        of->expected = (int32_t *)gpu_allocate_pageable((int64_t)n_bytes);
        memcpy(of->expected, of->distances, n_bytes);
    }
    if (memcmp(of->expected, of->distances, n_bytes) != 0)
        gpu_fail("two ways find different paths");
}

static double time_way(const way *w) {
    graph_paths *of = w->of;
    const double start_s = bench_now_s();
    bench_require(polytile_queue_attach(w->queue, N_ARRAYS, w->array), w->ctx);
    bench_require(polytile_queue_launch(
                      w->queue, w->kernel, POLYTILE_EXTENTS(of->n_sources), N_ARRAYS, w->array,
                      POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", of->n_vertices))),
                  w->ctx);
    bench_require(polytile_queue_detach(w->queue, N_ARRAYS, w->array), w->ctx);
    const double time_s = bench_now_s() - start_s;
    check(of);
    return time_s;
}

static double time_ours(void *subject) {
    const pair *of = subject;
    return time_way(&of->ours);
}

static double time_rival(void *subject) {
    const pair *of = subject;
    return time_way(&of->rival);
}

/** Compare a way with another one, which ends both. */
static void compare(pair *of, gpu_comparison comparison) {
    bench_times ours = {0}, rival = {0};
    gpu_alternate_few(N_REPETITIONS, time_ours, time_rival, of, &ours, &rival);
    comparison.ours = &ours;
    comparison.rival = &rival;
    gpu_report(&comparison);
    close_way(&of->ours);
    close_way(&of->rival);
}

void apsp_limit(void) {
    graph_paths paths;
    pair of;
    gpu_begin(GPU_WAITS_AS_EVER);
    make_graph(INT64_C(1) << SCALE, &paths);
    open_way(&paths, "cuda:0(memory=256MiB)", NULL, &of.ours);
    open_way(&paths, "cuda:0", NULL, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 32768, limit 256 MiB",
                                  .against = "no limit",
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.2});
}

/** The least time of some repetitions by a policy. */
static double time_policy(graph_paths *of, const char *devices, const char *policy) {
    bench_times times = {0};
    way w;
    open_way(of, devices, policy, &w);
    for (int k = 0; k <= N_REPETITIONS; k++) {
        const double time_s = time_way(&w);
        if (k > 0)
            bench_add_time(&times, time_s);
    }
    close_way(&w);
    return bench_median(&times);
}

/** The weights of a GPU beside a host that have the least time. */
static void find_best_weights(graph_paths *of, const char *devices, char *best, size_t n_bytes) {
    double best_s = 0;
    for (int k = 0, weight = 1; k < MOST_WEIGHTS; k++, weight *= 2) {
        char policy[32];
        snprintf(policy, sizeof policy, "weighted(%d,1)", weight);
        const double time_s = time_policy(of, devices, policy);
        if (k == 0 || time_s < best_s) {
            best_s = time_s;
            snprintf(best, n_bytes, "%s", policy);
        }
    }
}

void apsp_with_host(void) {
    enum { N_SOURCES = 8192 };
    static const char both[] = "cuda:0,host";
    graph_paths paths;
    pair of;
    char weights[32];
    gpu_begin(GPU_WAITS_AS_EVER);
    make_graph(N_SOURCES, &paths);
    const bool is_host_faster =
        time_policy(&paths, "host", NULL) < time_policy(&paths, "cuda:0", NULL);
    open_way(&paths, both, "guided", &of.ours);
    open_way(&paths, is_host_faster ? "host" : "cuda:0", NULL, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 8192, GPU and host",
                                  .against = is_host_faster ? "the host alone" : "the GPU alone",
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.02});
    find_best_weights(&paths, both, weights, sizeof weights);
    open_way(&paths, both, "guided", &of.ours);
    open_way(&paths, both, weights, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 8192, GPU and host",
                                  .against = weights,
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.05});
}

/** Two GPUs, one of which may hold an eighth of the data, as fast as possible. */
void apsp_two(void) {
    char devices[SEVERAL_DEVICES_BYTES];
    graph_paths paths;
    pair of;
    if (several_count() < 2)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    make_graph(INT64_C(1) << SCALE, &paths);
    snprintf(devices, sizeof devices, "cuda:0,cuda:1(memory=%lldB)",
             (long long)(4 * paths.n_sources * paths.n_vertices / PART));
    open_way(&paths, devices, NULL, &of.ours);
    open_way(&paths, "cuda:0", NULL, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 32768, two GPUs, one within 1/8",
                                  .against = "one GPU",
                                  .relation = BENCH_AT_LEAST,
                                  .target = 1.9});
}
