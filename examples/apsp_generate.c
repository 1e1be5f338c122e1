/* Graphs out of a seed. */
#include "apsp_graph.h"

#include <string.h>

enum { MOST_WEIGHT = 255 };

/** A number that looks random, the same for the same three.
 * Source  Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t draw(uint64_t seed, int64_t position, int64_t what) {
    uint64_t mixed = seed + (uint64_t)position * UINT64_C(0x9e3779b97f4a7c15) +
                     (uint64_t)what * UINT64_C(0xd1b54a32d192ed03);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

enum { DRAW_WEIGHT = -1, DRAW_TARGET = -2 };

static int32_t draw_weight(uint64_t seed, int64_t position) {
    return 1 + (int32_t)(draw(seed, position, DRAW_WEIGHT) % MOST_WEIGHT);
}

static int64_t count_by_degree(const graph_source *source) {
    return source->degree << source->scale;
}

/** Each arc falls into a quarter of the matrix of arcs, then into a quarter of that, and so on.
 * Source  Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining", 2004; with
 *         the shares of Graph500. */
static graph_arc rmat_arc(const graph_source *source, int64_t k) {
    static const uint64_t behind[] = {57, 76, 95}; /* hundredths, of the quarters one by one */
    graph_arc arc = {.weight = draw_weight(source->seed, k)};
    for (int level = 0; level < source->scale; ++level) {
        const uint64_t drawn = draw(source->seed, k, level) % 100;
        const bool is_lower = drawn >= behind[1];
        const bool is_right = drawn >= behind[2] || (drawn >= behind[0] && !is_lower);
        arc.from = 2 * arc.from + is_lower;
        arc.to = 2 * arc.to + is_right;
    }
    return arc;
}

static void each_rmat_arc(const graph_source *source, graph_arc_function *take, void *user) {
    for (int64_t k = 0; k < count_by_degree(source); ++k) {
        const graph_arc arc = rmat_arc(source, k);
        take(user, &arc);
    }
}

/** As many arcs from each vertex, to any. */
static void each_uniform_arc(const graph_source *source, graph_arc_function *take, void *user) {
    const uint64_t n_vertices = UINT64_C(1) << source->scale;
    for (int64_t k = 0; k < count_by_degree(source); ++k) {
        const graph_arc arc = {.from = k / source->degree,
                               .to = (int64_t)(draw(source->seed, k, DRAW_TARGET) % n_vertices),
                               .weight = draw_weight(source->seed, k)};
        take(user, &arc);
    }
}

static int64_t grid_columns(const graph_source *source) {
    return INT64_C(1) << ((source->scale + 1) / 2);
}

static int64_t grid_rows(const graph_source *source) {
    return INT64_C(1) << (source->scale / 2);
}

static int64_t count_grid_arcs(const graph_source *source) {
    const int64_t rows = grid_rows(source), columns = grid_columns(source);
    return 2 * (rows * (columns - 1) + (rows - 1) * columns);
}

/** Two vertices side by side have an arc each way, of one weight. */
static void take_both_ways(const graph_source *source, int64_t from, int64_t to, int64_t number,
                           graph_arc_function *take, void *user) {
    const int32_t weight = draw_weight(source->seed, number);
    take(user, &(graph_arc){from, to, weight});
    take(user, &(graph_arc){to, from, weight});
}

static void each_grid_arc(const graph_source *source, graph_arc_function *take, void *user) {
    const int64_t rows = grid_rows(source), columns = grid_columns(source);
    for (int64_t v = 0; v < rows * columns; ++v) {
        if (v % columns + 1 < columns)
            take_both_ways(source, v, v + 1, 2 * v, take, user);
        if (v / columns + 1 < rows)
            take_both_ways(source, v, v + columns, 2 * v + 1, take, user);
    }
}

static const graph_generator generators[] = {
    {"rmat", count_by_degree, each_rmat_arc},
    {"uniform", count_by_degree, each_uniform_arc},
    {"grid", count_grid_arcs, each_grid_arc},
};

const graph_generator *graph_find_generator(const char *name) {
    for (size_t k = 0; k < sizeof generators / sizeof *generators; ++k)
        if (strcmp(name, generators[k].name) == 0)
            return &generators[k];
    return NULL;
}
