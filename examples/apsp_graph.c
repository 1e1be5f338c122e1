/* Graphs as arrays, as the command line says. */
#include "apsp_graph.h"

#include "common/fields.h"

#include <inttypes.h>
#include <string.h>

static polytile_status each_arc(session *s, const graph *g, graph_arc_function *take, void *user) {
    if (g->source.path != NULL)
        return dimacs_each_arc(s, g->source.path, take, user);
    g->source.generator->each_arc(&g->source, take, user);
    return POLYTILE_OK;
}

static polytile_status fill(session *s, const graph *g) {
    graph_lists lists = {g->n_vertices, polytile_array_get_data(g->first),
                         polytile_array_get_data(g->target), polytile_array_get_data(g->weight),
                         polytile_array_get_data(g->least)};
    TRY(each_arc(s, g, graph_lists_count, &lists));
    graph_lists_give_places(&lists);
    TRY(each_arc(s, g, graph_lists_fill_in, &lists));
    graph_lists_end(&lists);
    return POLYTILE_OK;
}

/** An array without elements is none: a graph without arcs has room for one. */
static polytile_status create_arrays(session *s, graph *g) {
    const int64_t n_arcs = g->n_arcs > 0 ? g->n_arcs : 1;
    const field_shape first = {POLYTILE_I64, 1, {g->n_vertices + 1}};
    const field_shape arcs = {POLYTILE_I32, 1, {n_arcs}};
    const field_shape vertices = {POLYTILE_I32, 1, {g->n_vertices}};
    TRY(field_create(s, "first", &first, &g->first));
    TRY(field_create(s, "target", &arcs, &g->target));
    TRY(field_create(s, "weight", &arcs, &g->weight));
    return field_create(s, "least", &vertices, &g->least);
}

static polytile_status refuse_option(session *s, const char *option, const char *path) {
    return session_fail(s, POLYTILE_INVALID, "%s is for generated graphs; leave it out with %s",
                        option, path);
}

static polytile_status take_file(session *s, graph *g) {
    const example_options *options = &s->options;
    g->source.path = options->graph;
    if (options->scale > 0)
        return refuse_option(s, "--scale", options->graph);
    if (options->degree > 0)
        return refuse_option(s, "--degree", options->graph);
    return dimacs_read_sizes(s, g->source.path, &g->n_vertices, &g->n_arcs);
}

static polytile_status take_generator(session *s, graph *g) {
    enum { DEFAULT_SCALE = 14, DEFAULT_DEGREE = 8, MOST_SCALE = 30 };
    const example_options *options = &s->options;
    const int64_t scale = options->scale > 0 ? options->scale : DEFAULT_SCALE;
    const int64_t degree = options->degree > 0 ? options->degree : DEFAULT_DEGREE;
    if (scale > MOST_SCALE)
        return session_fail(s, POLYTILE_INVALID,
                            "--scale %" PRId64 " makes 2^%" PRId64 " vertices; at most 2^%d", scale,
                            scale, MOST_SCALE);
    if (degree > INT64_MAX >> (MOST_SCALE + 4))
        return session_fail(s, POLYTILE_INVALID, "--degree %" PRId64 " makes too many arcs",
                            degree);
    g->source.scale = (int)scale;
    g->source.degree = degree;
    g->source.seed = (uint64_t)options->seed;
    g->n_vertices = INT64_C(1) << scale;
    g->n_arcs = g->source.generator->count_arcs(&g->source);
    return POLYTILE_OK;
}

static bool is_file(const char *name) {
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 3 && strcmp(name + length - 3, ".gr") == 0);
}

polytile_status graph_open(session *s, graph *g) {
    const char *name = s->options.graph != NULL ? s->options.graph : "rmat";
    *g = (graph){.source.generator = graph_find_generator(name)};
    if (g->source.generator == NULL && !is_file(name))
        return session_fail(s, POLYTILE_INVALID,
                            "--graph %s is no generator; there are rmat, uniform and grid, and "
                            "files whose names end with .gr",
                            name);
    TRY(g->source.generator == NULL ? take_file(s, g) : take_generator(s, g));
    TRY(create_arrays(s, g));
    return s->options.plan_only ? POLYTILE_OK : fill(s, g);
}
