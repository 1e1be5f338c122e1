#include "graph/read/graph.h"

#include <stdlib.h>
#include <string.h>

static void free_actor(pti_actor *actor) {
    for (int p = 0; p < actor->n_parameters; p++)
        free((void *)(uintptr_t)actor->parameter[p].name);
    polytile_kernel_destroy(actor->kernel);
    polytile_kernel_destroy(actor->looks_up);
    free(actor->in);
    free(actor->out);
}

static void destroy_graph(pti_object *object) {
    polytile_graph *graph = (polytile_graph *)object;
    for (int a = 0; graph->actor != NULL && a < graph->n_actors; a++)
        free_actor(&graph->actor[a]);
    for (int a = 0; graph->array != NULL && a < graph->n_arrays; a++)
        polytile_array_destroy(graph->array[a].described);
    free(graph->actor);
    free(graph->array);
    free(graph->order);
    pti_dot_free(graph->dot);
    free(graph);
}

/** Make a graph of a text, which it takes over. */
static polytile_status create_graph(polytile_context *ctx, pti_dot *dot, polytile_graph **graph) {
    polytile_status status;
    polytile_graph *made = calloc(1, sizeof *made);
    pti_error failed = {0};
    if (made == NULL) {
        pti_dot_free(dot);
        return pti_fail_memory(ctx, "a graph", sizeof *made);
    }
    made->object.context = ctx;
    made->dot = dot;
    PTI_TRY(pti_graph_read_nodes(made));
    PTI_TRY(pti_graph_read_edges(made));
    PTI_TRY(pti_graph_check(made));
    PTI_TRY(pti_graph_complete_actors(made));
    pti_object_adopt(ctx, &made->object, destroy_graph);
    *graph = made;
    return POLYTILE_OK;
done:
    pti_error_keep(&failed, ctx, status);
    destroy_graph(&made->object);
    return pti_error_restore(ctx, &failed);
}

static polytile_status refuse_arguments(polytile_context *ctx) {
    return pti_fail(ctx, POLYTILE_INVALID, "reading a graph needs its text and a place for it");
}

polytile_status polytile_graph_read(polytile_context *ctx, const char *path,
                                    polytile_graph **graph) {
    pti_dot *dot = NULL;
    if (graph != NULL)
        *graph = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (path == NULL || graph == NULL)
        return refuse_arguments(ctx);
    polytile_status status = pti_dot_read(ctx, path, &dot);
    return status == POLYTILE_OK ? create_graph(ctx, dot, graph) : status;
}

polytile_status polytile_graph_parse(polytile_context *ctx, const char *text,
                                     polytile_graph **graph) {
    pti_dot *dot = NULL;
    if (graph != NULL)
        *graph = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (text == NULL || graph == NULL)
        return refuse_arguments(ctx);
    polytile_status status = pti_dot_parse(ctx, "graph", text, &dot);
    return status == POLYTILE_OK ? create_graph(ctx, dot, graph) : status;
}

void polytile_graph_destroy(polytile_graph *graph) {
    pti_object_release(graph == NULL ? NULL : &graph->object);
}

/** Return an actor by its name; NULL: there is none. */
static pti_actor *find_actor(polytile_graph *graph, const char *name) {
    for (int a = 0; name != NULL && a < graph->n_actors; a++)
        if (strcmp(graph->actor[a].name, name) == 0)
            return &graph->actor[a];
    return NULL;
}

polytile_status polytile_graph_set_seconds(polytile_graph *graph, const char *actor,
                                           double seconds) {
    PTI_ENTER(graph, graph->object.context, "graph");
    polytile_context *ctx = graph->object.context;
    pti_actor *of = find_actor(graph, actor);
    if (of == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: there is no actor \"%s\"", graph->dot->source,
                        actor == NULL ? "" : actor);
    if (!(seconds >= 0 && seconds <= POLYTILE_GRAPH_MAX_SECONDS))
        return pti_fail(ctx, POLYTILE_INVALID, "%s: actor %s cannot take %g seconds; give 0 to %g",
                        graph->dot->source, actor, seconds, (double)POLYTILE_GRAPH_MAX_SECONDS);
    of->seconds = seconds;
    return POLYTILE_OK;
}
