#include "graph/read/graph.h"
#include "graph/read/value.h"

#include "access/declare/kernel.h"

#include <stdlib.h>
#include <string.h>

static const char edge_words[] = "as delay depth";

enum { MAX_DELAY = 1 << 10, MAX_DEPTH = 1 << 20 };

bool pti_operand_is_written(const polytile_kernel *kernel, int operand) {
    return polytile_kernel_get_array_role(kernel, operand) != POLYTILE_IN;
}

/** Return whether all accesses of an array start from the identity. */
static bool is_fresh(const polytile_declaration *declaration, const char *array) {
    const int at = pti_find_name(array, declaration->n_arrays, declaration->array_name);
    bool fresh = true;
    for (int a = 0; a < declaration->n_accesses; a++)
        if (declaration->access[a].array == at)
            fresh = fresh && declaration->access[a].fresh;
    return fresh;
}

bool pti_operand_is_read(const polytile_kernel *kernel, int operand) {
    const polytile_role role = polytile_kernel_get_array_role(kernel, operand);
    if (role == POLYTILE_OUT)
        return false;
    return !pti_role_reduces(role) ||
           !is_fresh(kernel->declaration, polytile_kernel_get_array_name(kernel, operand));
}

int pti_flow_delay(const polytile_graph *graph, const pti_flow *in) {
    return in->delay + graph->array[in->array].delay;
}

/** An edge with its ends found. */
typedef struct ends {
    polytile_graph *graph;
    const pti_dot_edge *edge;
    pti_actor *actor;
    pti_graph_array *array;
    int operand;
    bool goes_out; /* of the actor */
} ends;

static polytile_status fail_edge(const ends *of, size_t at, const char *message,
                                 const char *detail) {
    const pti_dot_node *node = of->graph->dot->node;
    return pti_dot_fail(of->graph->dot, at, "edge %s -> %s: %s%s", node[of->edge->from].name,
                        node[of->edge->to].name, message, detail);
}

/** Find which actor or array each node is: actors from 1, arrays from -1 downwards. */
static int *number_nodes(const polytile_graph *graph) {
    int *number = calloc((size_t)graph->dot->n_nodes + 1, sizeof *number);
    int actor = 0, array = 0;
    for (int64_t n = 0; number != NULL && n < graph->dot->n_nodes; n++) {
        const bool is_actor =
            actor < graph->n_actors && graph->actor[actor].name == graph->dot->node[n].name;
        number[n] = is_actor ? ++actor : -(++array);
    }
    return number;
}

static polytile_status find_ends_of_edge(ends *of, const int *number) {
    const int from = number[of->edge->from], to = number[of->edge->to];
    if ((from > 0) == (to > 0))
        return fail_edge(of, of->edge->at,
                         from > 0 ? "joins two actors; put an array between them"
                                  : "joins two arrays; put an actor between them",
                         "");
    of->goes_out = from > 0;
    of->actor = &of->graph->actor[(of->goes_out ? from : to) - 1];
    of->array = &of->graph->array[-(of->goes_out ? to : from) - 1];
    return POLYTILE_OK;
}

static polytile_status fail_operand(const ends *of, size_t at, const char *problem) {
    pti_text names = {0};
    for (int o = 0; o < of->actor->n_operands; o++)
        pti_text_add(&names, "%s%s", o == 0 ? "" : ", ",
                     polytile_kernel_get_array_name(of->actor->kernel, o));
    pti_text why = {0};
    pti_text_add(&why, "%s; the kernel of %s has %s", problem, of->actor->name,
                 names.data == NULL ? "no array" : names.data);
    polytile_status status = fail_edge(of, at, why.data == NULL ? problem : why.data, "");
    pti_text_free(&names);
    pti_text_free(&why);
    return status;
}

static polytile_status find_operand(ends *of) {
    const pti_dot_attribute *as = pti_dot_find(&of->edge->attributes, "as");
    if (as == NULL)
        return fail_operand(of, of->edge->at, "has no as=, the name in the declaration");
    for (of->operand = 0; of->operand < of->actor->n_operands; of->operand++)
        if (strcmp(polytile_kernel_get_array_name(of->actor->kernel, of->operand), as->value) == 0)
            return POLYTILE_OK;
    pti_text problem = {0};
    pti_text_add(&problem, "as=%.60s is no name of the declaration", as->value);
    polytile_status status =
        fail_operand(of, as->value_at, problem.data == NULL ? "as= is no such name" : problem.data);
    pti_text_free(&problem);
    return status;
}

static polytile_status check_direction(const ends *of) {
    const polytile_kernel *kernel = of->actor->kernel;
    const char *name = polytile_kernel_get_array_name(kernel, of->operand);
    if (of->goes_out && !pti_operand_is_written(kernel, of->operand))
        return fail_edge(of, of->edge->at, "goes out of an operand that is only read: ", name);
    if (!of->goes_out && !pti_operand_is_read(kernel, of->operand))
        return fail_edge(of, of->edge->at, "goes into an operand that is only written: ", name);
    return POLYTILE_OK;
}

static polytile_status read_depth(const ends *of) {
    const pti_dot_attribute *depth = pti_dot_find(&of->edge->attributes, "depth");
    int64_t frames;
    if (depth == NULL)
        return POLYTILE_OK;
    if (!pti_value_integer(depth->value, 1, MAX_DEPTH, &frames))
        return fail_edge(of, depth->value_at, "a depth is a number of frames, at least 1, not ",
                         depth->value);
    if (of->array->depth != 0 && of->array->depth != frames)
        return fail_edge(of, depth->value_at,
                         "another edge gives another depth to the same array: ", of->array->name);
    of->array->depth = frames;
    return POLYTILE_OK;
}

static polytile_status read_delay(const ends *of, int *delay) {
    const pti_dot_attribute *given = pti_dot_find(&of->edge->attributes, "delay");
    int64_t frames = 0;
    if (given != NULL && !pti_value_integer(given->value, 0, MAX_DELAY, &frames))
        return fail_edge(of, given->value_at, "a delay is a number of frames, 0 to 1024, not ",
                         given->value);
    *delay = (int)frames;
    return POLYTILE_OK;
}

static polytile_status add_flow(const ends *of, int delay) {
    pti_flow *flow = &(of->goes_out ? of->actor->out : of->actor->in)[of->operand];
    if (flow->array >= 0)
        return fail_edge(of, of->edge->at,
                         of->goes_out ? "the operand has an edge out already: "
                                      : "the operand has an edge in already: ",
                         polytile_kernel_get_array_name(of->actor->kernel, of->operand));
    *flow = (pti_flow){.array = (int)(of->array - of->graph->array),
                       .delay = of->goes_out ? 0 : delay,
                       .at = of->edge->at};
    if (!of->goes_out) {
        of->array->n_readers++;
        return POLYTILE_OK;
    }
    if (of->array->producer >= 0)
        return fail_edge(of, of->edge->at, "the array has two producers; the other is ",
                         of->graph->actor[of->array->producer].name);
    of->array->producer = (int)(of->actor - of->graph->actor);
    of->array->delay = delay;
    return POLYTILE_OK;
}

static polytile_status read_edge(ends *of, const int *number) {
    polytile_status status;
    int delay = 0;
    PTI_TRY(pti_dot_check_names(of->graph->dot, &of->edge->attributes, "an edge", edge_words));
    PTI_TRY(find_ends_of_edge(of, number));
    PTI_TRY(find_operand(of));
    PTI_TRY(check_direction(of));
    PTI_TRY(read_depth(of));
    PTI_TRY(read_delay(of, &delay));
    PTI_TRY(add_flow(of, delay));
done:
    return status;
}

polytile_status pti_graph_read_edges(polytile_graph *graph) {
    polytile_status status = POLYTILE_OK;
    int *number = number_nodes(graph);
    if (number == NULL)
        return pti_dot_fail_memory(graph->dot);
    for (int64_t e = 0; status == POLYTILE_OK && e < graph->dot->n_edges; e++) {
        ends of = {.graph = graph, .edge = &graph->dot->edge[e]};
        status = read_edge(&of, number);
    }
    free(number);
    return status;
}
