#include "graph/plan/plan.h"

#include "base/checked.h"

#include <stdlib.h>

/* The arrays of a graph as the net has them: in pieces where actors' parts need or leave some rows
 * of one. */

/** An operand of an actor that reads an array, or writes it. */
typedef struct use {
    int actor;
    bool is_read;
    const pti_flow *flow;
    int next; /* use of the same array, in the actors' order; -1: none */
} use;

/** The pieces of all arrays while they are listed. */
typedef struct cutter {
    const polytile_graph *graph;
    use *use;       /* owned */
    int *first_use; /* of each array, -1: none; owned */
    int64_t *cut;   /* where rows of an array begin that differ from those before; owned */
    int n_cuts;
    pti_net *to; /* without lists: pieces and readers are counted */
    int n_arrays;
    int n_flows;
} cutter;

static void add_cut(cutter *of, const polytile_range *whole, int64_t row) {
    int at = of->n_cuts;
    if (row <= whole->lo || row > whole->hi)
        return;
    while (at > 0 && of->cut[at - 1] > row)
        at--;
    if (at > 0 && of->cut[at - 1] == row)
        return;
    for (int k = of->n_cuts++; k > at; k--)
        of->cut[k] = of->cut[k - 1];
    of->cut[at] = row;
}

static int count_uses(const polytile_graph *graph) {
    int n = 0;
    for (int a = 0; a < graph->n_actors; a++)
        n += 2 * graph->actor[a].n_operands;
    return n;
}

/** List the uses of each array, the last ones first, each before those that are listed. */
static void list_uses(cutter *of) {
    const polytile_graph *graph = of->graph;
    int n = 0;
    for (int a = 0; a < graph->n_arrays; a++)
        of->first_use[a] = -1;
    for (int a = graph->n_actors - 1; a >= 0; a--)
        for (int k = 2 * graph->actor[a].n_operands - 1; k >= 0; k--) {
            const bool is_read = k % 2 == 0;
            const pti_actor *actor = &graph->actor[a];
            const pti_flow *flow = is_read ? &actor->in[k / 2] : &actor->out[k / 2];
            if (flow->array < 0)
                continue;
            of->use[n] = (use){a, is_read, flow, of->first_use[flow->array]};
            of->first_use[flow->array] = n++;
        }
}

/** Find where one of an array's pieces ends and the next one begins. */
static void find_cuts(cutter *of, int array) {
    const polytile_range *whole = &of->graph->array[array].domain.range[0];
    of->n_cuts = 0;
    for (int k = of->first_use[array]; k >= 0; k = of->use[k].next) {
        const pti_flow *flow = of->use[k].flow;
        if (!flow->has_rows)
            continue;
        add_cut(of, whole, flow->rows.lo);
        add_cut(of, whole, flow->rows.hi + 1);
    }
}

static bool has_row(const polytile_graph *graph, const pti_flow *flow, int array, int64_t row) {
    if (flow->array != array)
        return false;
    const polytile_range rows = pti_flow_rows(graph, flow);
    return row >= rows.lo && row <= rows.hi;
}

/** Return the actor that makes a row; -1: the program feeds it. */
static int find_producer(const polytile_graph *graph, int array, int64_t row) {
    const int first = graph->array[array].producer;
    const int n_parts = first < 0 ? 0 : graph->actor[first].n_parts;
    for (int a = first; a < first + n_parts; a++)
        for (int o = 0; o < graph->actor[a].n_operands; o++)
            if (has_row(graph, &graph->actor[a].out[o], array, row))
                return a;
    return first;
}

static void add_flow(cutter *of, pti_net_flow flow) {
    if (of->to != NULL)
        of->to->flow[of->n_flows] = flow;
    of->n_flows++;
}

/** Add the readers of a piece, in the actors' order. What nobody needs goes to the first reader of
 * the array. */
static void add_flows(cutter *of, int array, int64_t row) {
    const polytile_graph *graph = of->graph;
    const int n_before = of->n_flows;
    pti_net_flow first = {-1, 0};
    for (int k = of->first_use[array]; k >= 0; k = of->use[k].next) {
        const use *each = &of->use[k];
        if (!each->is_read)
            continue;
        const pti_net_flow flow = {each->actor, pti_flow_delay(graph, each->flow)};
        if (has_row(graph, each->flow, array, row))
            add_flow(of, flow);
        first = first.actor < 0 ? flow : first;
    }
    if (of->n_flows == n_before && first.actor >= 0)
        add_flow(of, first);
}

static void add_pieces(cutter *of, int number) {
    const pti_graph_array *array = &of->graph->array[number];
    const polytile_range *whole = &array->domain.range[0];
    const int64_t row_bytes = pti_graph_row_bytes(array);
    find_cuts(of, number);
    for (int k = 0; k <= of->n_cuts; k++) {
        const int64_t row = k == 0 ? whole->lo : of->cut[k - 1];
        const int64_t end = k == of->n_cuts ? whole->hi + 1 : of->cut[k];
        const int first_flow = of->n_flows;
        add_flows(of, number, row);
        if (of->to != NULL)
            of->to->array[of->n_arrays] = (pti_net_array){
                .n_bytes = of->n_cuts == 0 ? array->n_bytes : (end - row) * row_bytes,
                .n_before = k,
                .offset_bytes = (row - whole->lo) * row_bytes,
                .producer = find_producer(of->graph, number, row),
                .first_flow = first_flow,
                .n_flows = of->n_flows - first_flow,
                .depth = array->depth};
        of->n_arrays++;
    }
}

static void add_all_pieces(cutter *of) {
    of->n_arrays = of->n_flows = 0;
    for (int a = 0; a < of->graph->n_arrays; a++)
        add_pieces(of, a);
}

static bool allocate_uses(cutter *of) {
    const size_t n_uses = (size_t)count_uses(of->graph) + 1;
    of->use = calloc(n_uses, sizeof *of->use);
    of->first_use = calloc((size_t)of->graph->n_arrays + 1, sizeof *of->first_use);
    of->cut = calloc(2 * n_uses, sizeof *of->cut);
    return of->use != NULL && of->first_use != NULL && of->cut != NULL;
}

/** Count pieces and readers, then list them. Returns false when memory runs out. */
static bool find_pieces(cutter *of, pti_net *net) {
    add_all_pieces(of);
    net->n_arrays = of->n_arrays;
    net->array = calloc((size_t)of->n_arrays + 1, sizeof *net->array);
    net->flow = calloc((size_t)of->n_flows + 1, sizeof *net->flow);
    of->to = net;
    if (net->array == NULL || net->flow == NULL)
        return false;
    add_all_pieces(of);
    return true;
}

polytile_status pti_planning_find_arrays(pti_planning *planning) {
    cutter of = {.graph = planning->graph};
    bool has_memory = allocate_uses(&of);
    if (has_memory)
        list_uses(&of);
    has_memory = has_memory && find_pieces(&of, &planning->net);
    free(of.use);
    free(of.first_use);
    free(of.cut);
    return has_memory ? POLYTILE_OK : pti_planning_fail_memory(planning);
}
