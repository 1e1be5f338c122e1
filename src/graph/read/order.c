#include "graph/read/graph.h"

#include <stdlib.h>

/* The order of actors within a frame, and what stands against one. */

/** How far a depth-first search is with an actor. */
typedef enum visit_state { NOT_SEEN, OPEN, DONE } visit_state;

/** A depth-first search for an order of the actors. */
typedef struct order_search {
    polytile_graph *graph;
    unsigned char *state; /* a visit_state of each actor; owned */
    int *stack;           /* open actors, each waiting for the next; owned */
    int *operand;         /* of each of them, that is looked at next; owned */
    int depth;
    int n_ordered;
} order_search;

/** Name the actors that wait for each other, from the one that is met again. */
static polytile_status refuse_cycle(const order_search *of, int again) {
    const polytile_graph *graph = of->graph;
    pti_text names = {0};
    int first = 0;
    while (of->stack[first] != again)
        first++;
    pti_text_add(&names, "%s", graph->actor[again].name);
    for (int k = of->depth - 1; k >= first; k--)
        pti_text_add(&names, " -> %s", graph->actor[of->stack[k]].name);
    polytile_status status =
        pti_dot_fail(graph->dot, graph->actor[again].at,
                     "these actors wait for each other within a frame: %.600s; give an edge of the "
                     "cycle delay=1, for what the frame before left",
                     names.data == NULL ? "" : names.data);
    pti_text_free(&names);
    return status;
}

/** The actor whose frame an operand reads without delay; -1: none. */
static int awaited_by(const polytile_graph *graph, const pti_flow *in) {
    if (in->array < 0 || pti_flow_delay(graph, in) > 0)
        return -1;
    return graph->array[in->array].producer;
}

static void open_actor(order_search *of, int actor) {
    of->state[actor] = OPEN;
    of->stack[of->depth] = actor;
    of->operand[of->depth++] = 0;
}

/** Go on from the actor opened last: to one that it waits for, or it is done. */
static polytile_status visit_next_actor(order_search *of) {
    const int actor = of->stack[of->depth - 1];
    const pti_actor *at = &of->graph->actor[actor];
    int *operand = &of->operand[of->depth - 1];
    if (*operand == at->n_operands) {
        of->state[actor] = DONE;
        of->graph->order[of->n_ordered++] = actor;
        of->depth--;
        return POLYTILE_OK;
    }
    const int awaited = awaited_by(of->graph, &at->in[(*operand)++]);
    if (awaited >= 0 && of->state[awaited] == OPEN)
        return refuse_cycle(of, awaited);
    if (awaited >= 0 && of->state[awaited] == NOT_SEEN)
        open_actor(of, awaited);
    return POLYTILE_OK;
}

static polytile_status find_order(order_search *of) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < of->graph->n_actors; a++) {
        if (of->state[a] == NOT_SEEN)
            open_actor(of, a);
        while (of->depth > 0)
            PTI_TRY(visit_next_actor(of));
    }
done:
    return status;
}

/** Refuse arrays that nothing joins, and a delay that nobody sees. */
static polytile_status check_joined_arrays(const polytile_graph *graph) {
    for (int a = 0; a < graph->n_arrays; a++) {
        const pti_graph_array *array = &graph->array[a];
        if (array->producer < 0 && array->n_readers == 0)
            return pti_dot_fail(graph->dot, array->at, "array %s has no edge", array->name);
        if (array->delay > 0 && array->n_readers == 0)
            return pti_dot_fail(graph->dot, array->at,
                                "array %s leaves the graph, so a delay on the edge to it changes "
                                "nothing; leave it out",
                                array->name);
    }
    return POLYTILE_OK;
}

polytile_status pti_graph_check(polytile_graph *graph) {
    const size_t n = (size_t)graph->n_actors + 1;
    order_search of = {.graph = graph,
                       .state = calloc(n, sizeof *of.state),
                       .stack = calloc(n, sizeof *of.stack),
                       .operand = calloc(n, sizeof *of.operand)};
    polytile_status status;
    if (of.state == NULL || of.stack == NULL || of.operand == NULL)
        PTI_TRY(pti_dot_fail_memory(graph->dot));
    PTI_TRY(check_joined_arrays(graph));
    PTI_TRY(find_order(&of));
done:
    free(of.state);
    free(of.stack);
    free(of.operand);
    return status;
}
