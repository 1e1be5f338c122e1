#include "graph/read/graph.h"
#include "graph/read/value.h"

#include <polytile/text.h>
#include <stdlib.h>
#include <string.h>

static const char actor_words[] = "kernel domain params on seconds repeat";
static const char array_words[] = "type extents";

enum { MAX_REPEAT = 1000000 };

/* Arrays. */

static polytile_status read_extents(const polytile_graph *graph, const pti_dot_node *node,
                                    pti_graph_array *array) {
    const pti_dot_attribute *extents = pti_dot_find(&node->attributes, "extents");
    const pti_dot_attribute *type = pti_dot_find(&node->attributes, "type");
    if (extents == NULL || type == NULL)
        return pti_dot_fail(graph->dot, node->at,
                            "array %s has no %s; give both type= and extents=", node->name,
                            extents == NULL ? "extents" : "type");
    if (polytile_type_parse(type->value, &array->type) != POLYTILE_OK)
        return pti_dot_fail(graph->dot, type->value_at,
                            "array %s: there is no type '%s'; use i8 i16 i32 i64 u8 u16 u32 u64 "
                            "f16 f32 f64 or a number of bytes",
                            node->name, type->value);
    if (!pti_value_domain(extents->value, &array->domain))
        return pti_dot_fail(graph->dot, extents->value_at,
                            "array %s: extents '%s' are none; write 512x512, or 1:510,0:511 with "
                            "both ends included",
                            node->name, extents->value);
    return POLYTILE_OK;
}

static polytile_status read_array(polytile_graph *graph, const pti_dot_node *node) {
    polytile_context *ctx = graph->object.context;
    pti_graph_array *array = &graph->array[graph->n_arrays];
    polytile_status status;
    *array = (pti_graph_array){.name = node->name, .at = node->at, .producer = -1};
    PTI_TRY(pti_dot_check_names(graph->dot, &node->attributes, "an array", array_words));
    PTI_TRY(read_extents(graph, node, array));
    status =
        polytile_array_describe(ctx, node->name, array->type, &array->domain, &array->described);
    if (status == POLYTILE_NO_MEMORY)
        return status;
    if (status != POLYTILE_OK) {
        char why[PTI_ERROR_BYTES / 4];
        polytile_text_show(polytile_last_error(ctx), why, sizeof why);
        return pti_dot_fail(graph->dot, node->at, "%s", why);
    }
    array->n_bytes = array->described->n_bytes;
    graph->n_arrays++;
done:
    return status;
}

/* Actors. */

static polytile_status read_parameters(polytile_graph *graph, pti_actor *actor) {
    const pti_dot_attribute *params = pti_dot_find(actor->given, "params");
    if (params == NULL)
        return POLYTILE_OK;
    pti_dot *dot = graph->dot;
    const size_t length = strlen(params->value);
    char *names = malloc(length + 1);
    if (names == NULL)
        return pti_dot_fail_memory(graph->dot);
    const bool is_good =
        pti_value_parameters(params->value, names, &actor->n_parameters, actor->parameter);
    for (int p = 0; is_good && p < actor->n_parameters; p++) {
        actor->parameter[p].name = strdup(actor->parameter[p].name);
        if (actor->parameter[p].name == NULL) {
            actor->n_parameters = p;
            free(names);
            return pti_dot_fail_memory(graph->dot);
        }
    }
    free(names);
    if (!is_good)
        actor->n_parameters = 0;
    return is_good ? POLYTILE_OK
                   : pti_dot_fail(dot, params->value_at,
                                  "actor %s: parameters '%s' are none; write n=100,a=2.5",
                                  actor->name, params->value);
}

/** Read how long an actor runs, how often, and on which unit: seconds=, repeat= and on=. */
static polytile_status read_time_and_unit(const polytile_graph *graph, pti_actor *actor) {
    const pti_dot_attribute *seconds = pti_dot_find(actor->given, "seconds");
    const pti_dot_attribute *repeat = pti_dot_find(actor->given, "repeat");
    const pti_dot_attribute *on = pti_dot_find(actor->given, "on");
    actor->seconds = -1;
    actor->repeat = 1;
    if (seconds != NULL && (!pti_value_seconds(seconds->value, &actor->seconds) ||
                            actor->seconds > POLYTILE_GRAPH_MAX_SECONDS))
        return pti_dot_fail(graph->dot, seconds->value_at,
                            "actor %s: '%s' are no seconds from 0 to %g; write 0.003 or 3ms",
                            actor->name, seconds->value, (double)POLYTILE_GRAPH_MAX_SECONDS);
    if (repeat != NULL && !pti_value_integer(repeat->value, 1, MAX_REPEAT, &actor->repeat))
        return pti_dot_fail(graph->dot, repeat->value_at,
                            "actor %s: repeat is a number from 1 to %d, not '%s'", actor->name,
                            MAX_REPEAT, repeat->value);
    if (on != NULL && strcmp(on->value, "auto") != 0) {
        actor->on = on->value;
        actor->on_at = on->value_at;
    }
    return POLYTILE_OK;
}

/** Put the actor's name and place in front of an error of another room's. */
static polytile_status place_error(const polytile_graph *graph, const pti_actor *actor,
                                   polytile_status status) {
    size_t line = 1;
    for (size_t k = 0; k < actor->at; k++)
        line += graph->dot->text[k] == '\n';
    return pti_error_prefix(graph->object.context, status,
                            "%s: actor %s (line %zu): ", graph->dot->source, actor->name, line);
}

static polytile_status create_kernel(const polytile_graph *graph, pti_actor *actor) {
    const pti_dot_attribute *kernel = pti_dot_find(actor->given, "kernel");
    polytile_status status =
        polytile_kernel_create(graph->object.context, kernel->value, NULL, &actor->kernel);
    if (status == POLYTILE_OK)
        status = pti_graph_widen_lookups(actor);
    if (status != POLYTILE_OK)
        return place_error(graph, actor, status);
    actor->n_operands = polytile_kernel_get_n_arrays(actor->kernel);
    actor->in = calloc((size_t)actor->n_operands + 1, sizeof *actor->in);
    actor->out = calloc((size_t)actor->n_operands + 1, sizeof *actor->out);
    if (actor->in == NULL || actor->out == NULL)
        return pti_dot_fail_memory(graph->dot);
    for (int o = 0; o < actor->n_operands; o++)
        actor->in[o].array = actor->out[o].array = -1;
    return POLYTILE_OK;
}

static polytile_status read_actor(polytile_graph *graph, const pti_dot_node *node) {
    pti_actor *actor = &graph->actor[graph->n_actors++];
    polytile_status status;
    *actor = (pti_actor){.name = node->name, .at = node->at, .given = &node->attributes};
    PTI_TRY(pti_dot_check_names(graph->dot, &node->attributes, "an actor", actor_words));
    PTI_TRY(read_time_and_unit(graph, actor));
    PTI_TRY(read_parameters(graph, actor));
    PTI_TRY(create_kernel(graph, actor));
done:
    return status;
}

static polytile_status read_node(polytile_graph *graph, const pti_dot_node *node) {
    const bool has_kernel = pti_dot_find(&node->attributes, "kernel") != NULL;
    const bool has_type = pti_dot_find(&node->attributes, "type") != NULL ||
                          pti_dot_find(&node->attributes, "extents") != NULL;
    if (has_kernel && has_type)
        return pti_dot_fail(graph->dot, node->at,
                            "%s is an actor by kernel=, and an array by type= and extents=; leave "
                            "out what it is not",
                            node->name);
    if (!has_kernel && !has_type)
        return pti_dot_fail(graph->dot, node->at,
                            "%s is neither an actor, with kernel=, nor an array, with type= and "
                            "extents=",
                            node->name);
    return has_kernel ? read_actor(graph, node) : read_array(graph, node);
}

polytile_status pti_graph_read_nodes(polytile_graph *graph) {
    const size_t n_nodes = (size_t)graph->dot->n_nodes + 1;
    polytile_status status = POLYTILE_OK;
    graph->actor = calloc(n_nodes, sizeof *graph->actor);
    graph->array = calloc(n_nodes, sizeof *graph->array);
    graph->order = calloc(n_nodes, sizeof *graph->order);
    if (graph->actor == NULL || graph->array == NULL || graph->order == NULL)
        return pti_dot_fail_memory(graph->dot);
    for (int64_t n = 0; status == POLYTILE_OK && n < graph->dot->n_nodes; n++)
        status = read_node(graph, &graph->dot->node[n]);
    if (status == POLYTILE_OK && graph->n_actors == 0)
        return pti_fail(graph->object.context, POLYTILE_DECLARATION,
                        "%s: there is no actor; give a node a kernel=", graph->dot->source);
    return status;
}
