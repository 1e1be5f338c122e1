#include "gpu/paths.h"

#include "apsp_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { DEGREE = 8 };

static void *allocate(int64_t n, size_t element_bytes) {
    void *memory = calloc((size_t)n, element_bytes);
    if (memory == NULL)
        gpu_fail("no memory for %lld elements", (long long)n);
    return memory;
}

void paths_make(const char *generator, int scale, int64_t n_sources, paths *p) {
    graph_source source = {.scale = scale, .degree = DEGREE, .seed = 1};
    source.generator = graph_find_generator(generator);
    p->n_sources = n_sources;
    p->n_vertices = INT64_C(1) << scale;
    p->n_arcs = source.generator->count_arcs(&source);
    p->lists = (graph_lists){.n_vertices = p->n_vertices,
                             .first = allocate(p->n_vertices + 1, sizeof(int64_t)),
                             .target = allocate(p->n_arcs, sizeof(int32_t)),
                             .weight = allocate(p->n_arcs, sizeof(int32_t)),
                             .least = allocate(p->n_vertices, sizeof(int32_t))};
    p->expected = NULL;
    source.generator->each_arc(&source, graph_lists_count, &p->lists);
    graph_lists_give_places(&p->lists);
    source.generator->each_arc(&source, graph_lists_fill_in, &p->lists);
    graph_lists_end(&p->lists);
}

int32_t *paths_allocate_distances(const paths *p) {
    return (int32_t *)gpu_allocate_pageable((int64_t)sizeof(int32_t) * p->n_sources *
                                            p->n_vertices);
}

static void wrap(paths_way *w, int a, const char *name, polytile_type type, int n_dims,
                 const int64_t *extents, void *data) {
    bench_require(polytile_array_wrap(w->ctx, name, type, n_dims, extents, data, &w->array[a]),
                  w->ctx);
}

void paths_open(paths *of, const char *devices, const char *policy, const char *declaration,
                const polytile_implementation *body, int32_t *distances, paths_way *w) {
    const polytile_share_options share = {.policy = policy};
    const int64_t places[] = {of->n_vertices + 1}, arcs[] = {of->n_arcs};
    const int64_t vertices[] = {of->n_vertices}, rows[] = {of->n_sources, of->n_vertices};
    *w = (paths_way){.of = of, .distances = distances};
    bench_require(polytile_context_create(&w->ctx), NULL);
    bench_require(polytile_queue_create_shared(w->ctx, devices, &share, &w->queue), w->ctx);
    bench_require(polytile_kernel_create(w->ctx, declaration, body, &w->kernel), w->ctx);
    wrap(w, 0, "first", POLYTILE_I64, 1, places, of->lists.first);
    wrap(w, 1, "target", POLYTILE_I32, 1, arcs, of->lists.target);
    wrap(w, 2, "weight", POLYTILE_I32, 1, arcs, of->lists.weight);
    wrap(w, 3, "least", POLYTILE_I32, 1, vertices, of->lists.least);
    wrap(w, 4, "dist", POLYTILE_I32, 2, rows, distances);
}

void paths_open_block(paths *of, const char *devices, const char *policy, int32_t *distances,
                      paths_way *w) {
    const polytile_implementation body = apsp_block_implementation();
    paths_open(of, devices, policy, APSP_BLOCK_DECLARATION, &body, distances, w);
}

void paths_attach(const paths_way *w) {
    bench_require(polytile_queue_attach(w->queue, PATHS_N_ARRAYS, w->array), w->ctx);
}

void paths_launch(const paths_way *w) {
    bench_require(polytile_queue_launch(
                      w->queue, w->kernel, POLYTILE_EXTENTS(w->of->n_sources), PATHS_N_ARRAYS,
                      w->array, POLYTILE_PARAMETERS(POLYTILE_PARAMETER("n", w->of->n_vertices))),
                  w->ctx);
}

void paths_detach(const paths_way *w) {
    bench_require(polytile_queue_detach(w->queue, PATHS_N_ARRAYS, w->array), w->ctx);
}

void paths_check(paths *of, const int32_t *distances) {
    const size_t n_bytes = (size_t)(of->n_sources * of->n_vertices) * sizeof *distances;
    if (of->expected == NULL) {
        of->expected = paths_allocate_distances(of);
        memcpy(of->expected, distances, n_bytes);
    }
    if (memcmp(of->expected, distances, n_bytes) != 0)
        gpu_fail("two ways find different paths");
}
