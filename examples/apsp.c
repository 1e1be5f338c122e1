/* Shortest paths from many sources in a graph with weights. */
#include "apsp_graph.h"
#include "apsp_kernels.h"
#include "common/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const example_spec spec = {
    .name = "apsp",
    .summary =
        "Finds the shortest paths from the first vertices of a directed graph to all others.",
    .extras = EXAMPLE_GRAPH,
    .uses_queue = true,
    .n_outputs = 1,
    .files = "files: --output the distances (i32, a row a source; 2147483647: there is no path)",
};

enum { N_ARRAYS = 5 };

/** What is to be found: the distances from the first vertices of a graph to all. */
typedef struct apsp_problem {
    graph graph;
    int64_t n_sources;
    polytile_array *distances; /* a row a source */
} apsp_problem;

/** Two ways to find it, each a thread a source. */
static const struct {
    const char *declaration;
    polytile_implementation (*implementation)(void);
} kernels[] = {
    [EXAMPLE_AUTO_KERNEL] = {APSP_BLOCK_DECLARATION, apsp_block_implementation},
    [EXAMPLE_BLOCK_KERNEL] = {APSP_BLOCK_DECLARATION, apsp_block_implementation},
    [EXAMPLE_CRAUSER_KERNEL] = {APSP_CRAUSER_DECLARATION, apsp_crauser_implementation},
};

static polytile_status choose_sources(session *s, apsp_problem *of) {
    enum { DEFAULT_SOURCES = 64 };
    const int64_t n_vertices = of->graph.n_vertices;
    of->n_sources = s->options.sources;
    if (of->n_sources == 0)
        of->n_sources = n_vertices < DEFAULT_SOURCES ? n_vertices : DEFAULT_SOURCES;
    if (of->n_sources <= n_vertices)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INVALID,
                        "--sources %" PRId64 " is more than the graph has vertices, %" PRId64,
                        of->n_sources, n_vertices);
}

static polytile_status open_problem(session *s, apsp_problem *of) {
    TRY(session_check_block(s, 1));
    TRY(graph_open(s, &of->graph));
    TRY(choose_sources(s, of));
    const field_shape shape = {POLYTILE_I32, 2, {of->n_sources, of->graph.n_vertices}};
    return field_create_output(s, 0, "dist", &shape, &of->distances);
}

/** One launch with a thread for each source. */
static polytile_status find_paths(session *s, const apsp_problem *of, result *r) {
    const graph *g = &of->graph;
    polytile_array *const arrays[N_ARRAYS] = {g->first, g->target, g->weight, g->least,
                                              of->distances};
    const polytile_implementation body = kernels[s->options.kernel].implementation();
    const polytile_parameter n = {.name = "n", .value = g->n_vertices};
    const polytile_domain sources = polytile_domain_from_extents(1, &of->n_sources);
    polytile_launch_options options = s->launch_options;
    polytile_kernel *kernel;
    polytile_plan *plan;
    options.n_parameters = 1;
    options.parameters = &n;
    TRY(polytile_kernel_create(s->ctx, kernels[s->options.kernel].declaration, &body, &kernel));
    TRY(polytile_plan_create(kernel, &sources, N_ARRAYS, arrays, &options, &plan));
    polytile_plan_get_summary(plan, &r->plan);
    const session_launch launch = {kernel, &sources, plan, N_ARRAYS, arrays, 1, &n, NULL};
    for (int64_t k = 0; !s->options.plan_only && k < s->options.repeat; ++k)
        TRY(session_run(s, &launch, r));
    return POLYTILE_OK;
}

/** The largest difference in a row; negative when memory runs out. */
static double compare_row(const apsp_problem *of, int64_t source, const int32_t *distance) {
    const int64_t n_vertices = of->graph.n_vertices;
    int32_t *expected = malloc((size_t)n_vertices * sizeof *expected);
    double worst = 0;
    if (expected == NULL || !paths_find_plainly(&of->graph, source, expected))
        worst = -1;
    for (int64_t v = 0; worst >= 0 && v < n_vertices; ++v)
        worst = fmax(worst, fabs((double)distance[v] - (double)expected[v]));
    free(expected);
    return worst;
}

static polytile_status check(session *s, const apsp_problem *of, result *r) {
    const int32_t *distances = polytile_array_get_data(of->distances);
    double worst = 0, least = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : worst) reduction(min : least)
    for (int64_t source = 0; source < of->n_sources; ++source) {
        const double row = compare_row(of, source, distances + source * of->graph.n_vertices);
        worst = fmax(worst, row);
        least = fmin(least, row);
    }
    r->checked = true;
    r->max_error = worst;
    return least < 0 ? session_fail(s, POLYTILE_NO_MEMORY, "no memory is left to check the result")
                     : POLYTILE_OK;
}

static polytile_status apsp(session *s, result *r) {
    apsp_problem of = {0};
    TRY(open_problem(s, &of));
    r->type = POLYTILE_I32;
    r->n_dims = 2;
    r->shape[0] = of.n_sources;
    r->shape[1] = of.graph.n_vertices;
    r->counts[0] = (result_count){"sources", of.n_sources};
    r->counts[1] = (result_count){"vertices", of.graph.n_vertices};
    r->counts[2] = (result_count){"arcs", of.graph.n_arcs};
    TRY(find_paths(s, &of, r));
    if (s->options.plan_only)
        return POLYTILE_OK;
    TRY(paths_check_sums(s, &of.graph, of.n_sources, polytile_array_get_data(of.distances)));
    return s->options.check ? check(s, &of, r) : POLYTILE_OK;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, apsp);
}
