#include "access/kernel.h"
#include "graph/read/graph.h"

#include <string.h>

/* What actors run, and the names of ports. */

/** Actors are bound by the kernel's name, or better by their own. */
enum { BY_KERNEL = 1, BY_NAME = 2 };

static int match_name(const pti_actor *actor, const char *name) {
    if (strcmp(actor->name, name) == 0)
        return BY_NAME;
    return strcmp(polytile_kernel_get_name(actor->kernel), name) == 0 ? BY_KERNEL : 0;
}

polytile_status polytile_graph_bind(polytile_graph *graph, const char *name,
                                    const polytile_implementation *implementation) {
    polytile_status status = POLYTILE_OK;
    bool is_known = false;
    PTI_ENTER(graph, graph->object.context, "graph");
    if (name == NULL || implementation == NULL)
        return pti_fail(graph->object.context, POLYTILE_INVALID,
                        "%s: binding needs the name of an actor or a kernel, and an implementation",
                        graph->dot->source);
    for (int a = 0; a < graph->n_actors; a++) {
        pti_actor *actor = &graph->actor[a];
        const int by = match_name(actor, name);
        is_known = is_known || by > 0;
        if (by == 0 || by < actor->bound_by)
            continue;
        PTI_TRY(pti_kernel_bind(actor->kernel, implementation));
        actor->bound_by = by;
    }
    if (!is_known)
        status =
            pti_fail(graph->object.context, POLYTILE_INVALID,
                     "%s: there is neither an actor nor a kernel \"%s\"", graph->dot->source, name);
    return status;
done:
    return pti_error_prefix(graph->object.context, status, "%s: ", graph->dot->source);
}

bool pti_actor_goes_through_once(const pti_actor *actor, bool is_on_host) {
    const polytile_implementation *bound = &actor->kernel->implementation;
    if (actor->bound_by == 0)
        return actor->takes_planes;
    return (is_on_host ? bound->host_launcher : bound->cuda_launcher) != NULL;
}

/** Return the name of the n-th port that is fed, or taken. */
static const char *name_port(const polytile_graph *graph, bool is_taken, int n) {
    for (int a = 0; graph != NULL && n >= 0 && a < graph->n_arrays; a++) {
        const pti_graph_array *array = &graph->array[a];
        if ((is_taken ? array->n_readers == 0 : array->producer < 0) && n-- == 0)
            return array->name;
    }
    return NULL;
}

const char *polytile_graph_get_input_name(const polytile_graph *graph, int input) {
    return name_port(graph, false, input);
}

const char *polytile_graph_get_output_name(const polytile_graph *graph, int output) {
    return name_port(graph, true, output);
}
