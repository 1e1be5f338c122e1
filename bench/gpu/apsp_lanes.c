/* Crauser's algorithm from 32 sources, of which a launcher enqueues a round at a time, on several
 * streams: auto against the best number of streams, and against a thread block a source. */
#include "apsp_graph.h"
#include "apsp_kernels.h"
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_SOURCES = 32, DEGREE = 8, N_ARRAYS = 5, N_TO_LEARN = 26 };

/** A graph in memory, with the distances that were found first. */
typedef struct lanes_graph {
    const char *name;
    int n_repetitions;
    int64_t n_vertices;
    int64_t n_arcs;
    graph_lists lists;
    int32_t *expected; /* NULL: none yet */
} lanes_graph;

/** A way to find the distances, with arrays that stay on the GPU. */
typedef struct way {
    lanes_graph *of;
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array[N_ARRAYS]; /* first, target, weight, least, dist */
    int32_t *distances;
} way;

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

static void make_graph(const char *generator, int scale, lanes_graph *g) {
    graph_source source = {.scale = scale, .degree = DEGREE, .seed = 1};
    source.generator = graph_find_generator(generator);
    g->n_vertices = INT64_C(1) << scale;
    g->n_arcs = source.generator->count_arcs(&source);
    g->lists = (graph_lists){.n_vertices = g->n_vertices,
                             .first = allocate(g->n_vertices + 1, sizeof(int64_t)),
                             .target = allocate(g->n_arcs, sizeof(int32_t)),
                             .weight = allocate(g->n_arcs, sizeof(int32_t)),
                             .least = allocate(g->n_vertices, sizeof(int32_t))};
    source.generator->each_arc(&source, graph_lists_count, &g->lists);
    graph_lists_give_places(&g->lists);
    source.generator->each_arc(&source, graph_lists_fill_in, &g->lists);
    graph_lists_end(&g->lists);
}

static void wrap(way *w, int a, const char *name, polytile_type type, int n_dims,
                 const int64_t *extents, void *data) {
    bench_require(polytile_array_wrap(w->ctx, name, type, n_dims, extents, data, &w->array[a]),
                  w->ctx);
}

static void open_way(lanes_graph *of, const char *device, const char *declaration,
                     const polytile_implementation *body, way *w) {
    const int64_t places[] = {of->n_vertices + 1}, arcs[] = {of->n_arcs};
    const int64_t vertices[] = {of->n_vertices}, rows[] = {N_SOURCES, of->n_vertices};
    *w = (way){.of = of, .distances = allocate(N_SOURCES * of->n_vertices, sizeof(int32_t))};
    bench_require(polytile_context_create(&w->ctx), NULL);
    bench_require(polytile_queue_create(w->ctx, device, &w->queue), w->ctx);
    bench_require(polytile_kernel_create(w->ctx, declaration, body, &w->kernel), w->ctx);
    wrap(w, 0, "first", POLYTILE_I64, 1, places, of->lists.first);
    wrap(w, 1, "target", POLYTILE_I32, 1, arcs, of->lists.target);
    wrap(w, 2, "weight", POLYTILE_I32, 1, arcs, of->lists.weight);
    wrap(w, 3, "least", POLYTILE_I32, 1, vertices, of->lists.least);
    wrap(w, 4, "dist", POLYTILE_I32, 2, rows, w->distances);
    bench_require(polytile_queue_attach(w->queue, N_ARRAYS, w->array), w->ctx);
}

static double time_way(const way *w) {
    const double start_s = bench_now_s();
    bench_require(
        polytile_queue_launch(w->queue, w->kernel, POLYTILE_EXTENTS(N_SOURCES), N_ARRAYS, w->array,
                              POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", w->of->n_vertices))),
        w->ctx);
    bench_require(polytile_queue_wait(w->queue), w->ctx);
    return bench_now_s() - start_s;
}

/** All ways find the same distances. */
static void close_way(way *w) {
    const size_t n_bytes = (size_t)(N_SOURCES * w->of->n_vertices) * sizeof *w->distances;
    bench_require(polytile_queue_detach(w->queue, N_ARRAYS, w->array), w->ctx);
    polytile_context_destroy(w->ctx);
    if (w->of->expected == NULL) {
        w->of->expected = w->distances;
        return;
    }
    if (memcmp(w->of->expected, w->distances, n_bytes) != 0)
        gpu_fail("%s: two ways find different paths", w->of->name);
    free(w->distances);
}

static void open_lanes(lanes_graph *of, const char *streams, way *w) {
    const polytile_implementation body = lanes_crauser();
    char device[48];
    snprintf(device, sizeof device, "cuda:0(streams=%s)", streams);
    open_way(of, device, LANES_DECLARATION, &body, w);
}

/** The median time on a number of streams, in milliseconds a source to the standard error. */
static double time_streams(lanes_graph *of, const char *streams) {
    bench_times times = {0};
    way w;
    open_lanes(of, streams, &w);
    for (int k = 0; k <= of->n_repetitions; k++) {
        const double time_s = time_way(&w);
        if (k > 0)
            bench_add_time(&times, time_s);
    }
    close_way(&w);
    fprintf(stderr, "%s, streams=%s: %.3f ms a source\n", of->name, streams,
            1e3 * bench_median(&times) / N_SOURCES);
    return bench_median(&times);
}

static const char *find_best_streams(lanes_graph *of) {
    static const char *const trials[] = {"1", "2", "4", "8", "16", "32"};
    const char *best = trials[0];
    double best_s = 0;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        const double time_s = time_streams(of, trials[k]);
        if (k == 0 || time_s < best_s) {
            best_s = time_s;
            best = trials[k];
        }
    }
    return best;
}

static double time_ours(void *subject) {
    return time_way(&((const pair *)subject)->ours);
}

static double time_rival(void *subject) {
    return time_way(&((const pair *)subject)->rival);
}

static void compare(pair *of, const char *against, double target) {
    bench_times ours = {0}, rival = {0};
    char name[56];
    snprintf(name, sizeof name, "%s, streams=auto", of->ours.of->name);
    gpu_alternate_few(2 * of->ours.of->n_repetitions, time_ours, time_rival, of, &ours, &rival);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = against,
                                 .ours = &ours,
                                 .rival = &rival,
                                 .relation = BENCH_AT_MOST,
                                 .target = target});
}

static void compare_graph(const char *name, const char *generator, int scale, int n_repetitions) {
    const polytile_implementation block = apsp_block_implementation();
    lanes_graph made = {.name = name, .n_repetitions = n_repetitions};
    char against[40];
    pair of;
    gpu_begin(GPU_WAITS_AS_EVER);
    make_graph(generator, scale, &made);
    const char *best = find_best_streams(&made);
    open_lanes(&made, "auto", &of.ours);
    for (int k = 0; k < N_TO_LEARN; k++)
        time_way(&of.ours);
    open_lanes(&made, best, &of.rival);
    snprintf(against, sizeof against, "the best, streams=%s", best);
    compare(&of, against, 1.05);
    close_way(&of.rival);
    open_way(&made, "cuda:0", APSP_BLOCK_DECLARATION, &block, &of.rival);
    compare(&of, "a thread block a source", 1.1);
    close_way(&of.rival);
    close_way(&of.ours);
}

void apsp_lanes_rmat(void) {
    compare_graph("R-MAT 2^20", "rmat", 20, 5);
}

void apsp_lanes_uniform(void) {
    compare_graph("uniform 2^20", "uniform", 20, 5);
}

void apsp_lanes_small(void) {
    compare_graph("R-MAT 2^14", "rmat", 14, 5);
}

/** Its paths take thousands of rounds. */
void apsp_lanes_grid(void) {
    compare_graph("grid 256x256", "grid", 16, 1);
}
