/* Shortest paths: a launch with a source a thread and its work arrays in scratch, against the same
 * body by OpenMP with a dynamic schedule, and against rounds of relax, minimum and update. On the
 * host, and on the first GPU where there is one. */
#include "apsp_graph.h"
#include "apsp_kernels.h"
#include "common/bench.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N_SOURCES = 128, N_GRAPH_ARRAYS = 4, N_BLOCK_ARRAYS = 5, N_LISTS = 2 };

/** A graph to be measured. */
typedef struct graph_case {
    const char *name;
    const char *generator;
    int scale;
} graph_case;

static const graph_case cases[] = {
    {"R-MAT 2^14", "rmat", 14},
    {"uniform 2^14", "uniform", 14},
    {"grid 128x128", "grid", 14},
};

/** A graph's memory, and the distances that are found. */
typedef struct problem {
    polytile_context *ctx;
    graph_source source;
    int64_t n_vertices;
    int64_t n_arcs;
    graph_lists lists;
    int32_t *distances; /* N_SOURCES rows */
    int32_t *expected;
    polytile_array *array[N_BLOCK_ARRAYS]; /* first, target, weight, least, dist */
} problem;

static void make_graph(problem *p) {
    const size_t n_vertices = (size_t)p->n_vertices, n_arcs = (size_t)p->n_arcs;
    p->lists = (graph_lists){.n_vertices = p->n_vertices,
                             .first = calloc(n_vertices + 1, sizeof(int64_t)),
                             .target = calloc(n_arcs, sizeof(int32_t)),
                             .weight = calloc(n_arcs, sizeof(int32_t)),
                             .least = calloc(n_vertices, sizeof(int32_t))};
    p->distances = calloc(N_SOURCES * n_vertices, sizeof(int32_t));
    p->expected = calloc(N_SOURCES * n_vertices, sizeof(int32_t));
    if (p->lists.first == NULL || p->lists.target == NULL || p->lists.weight == NULL ||
        p->lists.least == NULL || p->distances == NULL || p->expected == NULL)
        bench_require(POLYTILE_NO_MEMORY, NULL);
    p->source.generator->each_arc(&p->source, graph_lists_count, &p->lists);
    graph_lists_give_places(&p->lists);
    p->source.generator->each_arc(&p->source, graph_lists_fill_in, &p->lists);
    graph_lists_end(&p->lists);
}

static void wrap(problem *p, int a, const char *name, polytile_type type, int n_dims,
                 const int64_t *extents, void *data) {
    bench_require(polytile_array_wrap(p->ctx, name, type, n_dims, extents, data, &p->array[a]),
                  p->ctx);
}

static void wrap_arrays(problem *p) {
    const int64_t places[] = {p->n_vertices + 1}, arcs[] = {p->n_arcs},
                  vertices[] = {p->n_vertices};
    const int64_t rows[] = {N_SOURCES, p->n_vertices};
    wrap(p, 0, "first", POLYTILE_I64, 1, places, p->lists.first);
    wrap(p, 1, "target", POLYTILE_I32, 1, arcs, p->lists.target);
    wrap(p, 2, "weight", POLYTILE_I32, 1, arcs, p->lists.weight);
    wrap(p, 3, "least", POLYTILE_I32, 1, vertices, p->lists.least);
    wrap(p, 4, "dist", POLYTILE_I32, 2, rows, p->distances);
}

static void begin_problem(const graph_case *of, problem *p) {
    *p = (problem){.source = {.scale = of->scale, .degree = 8, .seed = 1}};
    p->source.generator = graph_find_generator(of->generator);
    p->n_vertices = INT64_C(1) << of->scale;
    p->n_arcs = p->source.generator->count_arcs(&p->source);
    bench_require(polytile_context_create(&p->ctx), NULL);
    make_graph(p);
    wrap_arrays(p);
}

static void end_problem(problem *p) {
    polytile_context_destroy(p->ctx);
    free(p->lists.first);
    free(p->lists.target);
    free(p->lists.weight);
    free(p->lists.least);
    free(p->distances);
    free(p->expected);
}

/* A source a thread. */

typedef struct source_run {
    problem *p;
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_implementation body;
} source_run;

static bool begin_run(problem *p, const char *device, const char *declaration,
                      const polytile_implementation *body, source_run *run) {
    *run = (source_run){.p = p, .body = *body};
    if (polytile_device_open(p->ctx, device, &run->device) != POLYTILE_OK)
        return false;
    bench_require(polytile_kernel_create(p->ctx, declaration, &run->body, &run->kernel), p->ctx);
    return true;
}

static bool begin_blocks(problem *p, const char *device, source_run *run) {
    const polytile_implementation body = apsp_block_implementation();
    return begin_run(p, device, APSP_BLOCK_DECLARATION, &body, run);
}

static double time_run(const source_run *run) {
    const polytile_parameter n = {.name = "n", .value = run->p->n_vertices};
    const polytile_launch_options options = {.n_parameters = 1, .parameters = &n};
    const double start_s = bench_now_s();
    bench_require(polytile_run(run->device, run->kernel, POLYTILE_EXTENTS(N_SOURCES),
                               N_BLOCK_ARRAYS, run->p->array, &options),
                  run->p->ctx);
    return bench_now_s() - start_s;
}

/* The same body by OpenMP. */

/** A view of rows in memory, which begins with some row. */
static polytile_view view_of(void *data, int64_t element_bytes, int n_dims, const int64_t *extents,
                             int64_t first_row) {
    polytile_view view = {.resident = polytile_domain_from_extents(n_dims, extents)};
    int64_t stride_bytes = element_bytes;
    for (int d = n_dims - 1; d >= 0; d--) {
        view.array_last[d] = extents[d] - 1;
        view.stride_bytes[d] = stride_bytes;
        stride_bytes *= extents[d];
    }
    view.origin = (char *)data - first_row * view.stride_bytes[0];
    return view;
}

/** Find the paths from one source in some memory of two lists and four numbers. */
static void run_source(const problem *p, polytile_host_function *body, int64_t source,
                       int32_t *lists, int32_t *round) {
    const int64_t one[] = {p->n_vertices}, more[] = {p->n_vertices + 1}, arcs[] = {p->n_arcs};
    const int64_t own_lists[] = {1, N_LISTS, p->n_vertices}, own_round[] = {1, 4};
    const int64_t rows[] = {N_SOURCES, p->n_vertices};
    const polytile_view views[] = {
        view_of(p->lists.first, sizeof(int64_t), 1, more, 0),
        view_of(p->lists.target, sizeof(int32_t), 1, arcs, 0),
        view_of(p->lists.weight, sizeof(int32_t), 1, arcs, 0),
        view_of(p->lists.least, sizeof(int32_t), 1, one, 0),
        view_of(lists, sizeof(int32_t), 3, own_lists, source),
        view_of(round, sizeof(int32_t), 2, own_round, source),
        view_of(p->expected, sizeof(int32_t), 2, rows, 0),
        {.origin = (void *)&p->n_vertices},
    };
    const polytile_domain thread =
        polytile_domain_from_bounds(1, (const int64_t[]){source}, (const int64_t[]){source});
    body(&thread, views, NULL);
}

static double time_dynamic(const problem *p) {
    polytile_host_function *const body = apsp_block_implementation().host;
    const double start_s = bench_now_s();
#pragma omp parallel
    {
        int32_t round[4];
        int32_t *lists = malloc((size_t)(N_LISTS * p->n_vertices) * sizeof *lists);
        if (lists == NULL)
            bench_require(POLYTILE_NO_MEMORY, NULL);
#pragma omp for schedule(dynamic)
        for (int64_t source = 0; source < N_SOURCES; source++)
            run_source(p, body, source, lists, round);
        free(lists);
    }
    return bench_now_s() - start_s;
}

/* What is compared. */

static void require_equal(const problem *p, int64_t n_sources) {
    if (memcmp(p->distances, p->expected,
               (size_t)(n_sources * p->n_vertices) * sizeof *p->distances) == 0)
        return;
    fprintf(stderr, "apsp: two ways find different paths\n");
    exit(1);
}

static double ms_a_source(const bench_times *times, int n_sources) {
    return 1e3 * bench_least(times) / n_sources;
}

static void run_on_host(bench *b, const graph_case *of, problem *p) {
    source_run run;
    bench_times blocks = {0}, dynamic = {0};
    if (!begin_blocks(p, "host", &run))
        return;
    time_dynamic(p);
    time_run(&run);
    for (const double start_s = bench_now_s();
         !bench_is_enough(&blocks, bench_now_s() - start_s);) {
        bench_add_time(&dynamic, time_dynamic(p));
        bench_add_time(&blocks, time_run(&run));
    }
    require_equal(p, N_SOURCES);
    const bench_figure figures[] = {
        {of->name, "dynamic_ms", ms_a_source(&dynamic, N_SOURCES), BENCH_NO_TARGET, 0},
        {of->name, "block_ms", ms_a_source(&blocks, N_SOURCES), BENCH_NO_TARGET, 0},
        {of->name, "block_over_dynamic", bench_least(&blocks) / bench_least(&dynamic),
         BENCH_AT_MOST, 1.03},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

static void measure(bench *b, const graph_case *of, source_run *run, const char *figure) {
    bench_times times = {0};
    time_run(run);
    for (const double start_s = bench_now_s(); !bench_is_enough(&times, bench_now_s() - start_s);)
        bench_add_time(&times, time_run(run));
    require_equal(run->p, N_SOURCES);
    polytile_device_close(run->device);
    bench_report(
        b, &(bench_figure){of->name, figure, ms_a_source(&times, N_SOURCES), BENCH_NO_TARGET, 0});
}

static void run_on_gpu(bench *b, const graph_case *of, problem *p) {
    source_run run;
    if (begin_blocks(p, "cuda:0", &run))
        measure(b, of, &run, "gpu_block_ms");
}

static void run_rounds(bench *b, const graph_case *of, problem *p, const char *device,
                       const char *figure) {
    const polytile_implementation body = apsp_crauser_implementation();
    source_run run;
    if (begin_run(p, device, APSP_CRAUSER_DECLARATION, &body, &run))
        measure(b, of, &run, figure);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "apsp", argc, argv))
        return 2;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        problem p;
        begin_problem(&cases[c], &p);
        run_on_host(&b, &cases[c], &p);
        run_rounds(&b, &cases[c], &p, "host", "rounds_ms");
        run_on_gpu(&b, &cases[c], &p);
        run_rounds(&b, &cases[c], &p, "cuda:0", "gpu_rounds_ms");
        end_problem(&p);
    }
    return bench_end(&b);
}
