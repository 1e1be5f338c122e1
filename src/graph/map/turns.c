#include "graph/map/net.h"

#include <stdlib.h>

/* Rounds of several frames, written out: then each turn may have units of its own, and all that
 * works on frames works on rounds. */

static void unroll_actors(const pti_net *net, int n_turns, pti_net *to) {
    for (int k = 0; k < n_turns * net->n_actors; k++) {
        const int turn = k / net->n_actors, actor = k % net->n_actors;
        for (int u = 0; u < net->n_units; u++)
            to->ticks[k * net->n_units + u] = net->ticks[actor * net->n_units + u];
        to->fixed[k] = net->fixed[actor];
        to->order[k] = net->order[actor] + turn * net->n_actors;
        to->scratch_bytes[k] = net->scratch_bytes[actor];
        to->is_tied[k] = turn > 0;
    }
}

/** A reader that is some frames behind is of another turn, and of the round as many frames back. */
static pti_net_flow unroll_flow(const pti_net *net, int n_turns, int turn, pti_net_flow flow) {
    const int later = turn + flow.delay;
    return (pti_net_flow){flow.actor + later % n_turns * net->n_actors, later / n_turns};
}

/** The frames of a given depth go round the turns; each has one at least. */
static int64_t depth_of_turn(int64_t depth, int n_turns, int turn) {
    const int64_t frames = (depth + n_turns - 1 - turn) / n_turns;
    return depth == 0 ? 0 : frames > 1 ? frames : 1;
}

static void unroll_arrays(const pti_net *net, int n_turns, pti_net *to) {
    int n_flows = 0;
    for (int k = 0; k < n_turns * net->n_arrays; k++) {
        const int turn = k / net->n_arrays;
        const pti_net_array *array = &net->array[k % net->n_arrays];
        to->array[k] = *array;
        to->array[k].first_flow = n_flows;
        to->array[k].depth = depth_of_turn(array->depth, n_turns, turn);
        if (array->producer >= 0)
            to->array[k].producer = array->producer + turn * net->n_actors;
        for (int f = array->first_flow; f < array->first_flow + array->n_flows; f++)
            to->flow[n_flows++] = unroll_flow(net, n_turns, turn, net->flow[f]);
    }
}

static void copy_machine(const pti_net *net, pti_net *to) {
    for (int u = 0; u < net->n_units; u++)
        to->unit_memory[u] = net->unit_memory[u];
    for (int m = 0; m < net->n_memories; m++)
        to->host[m] = net->host[m];
    for (int k = 0; k < net->n_memories * net->n_memories; k++) {
        to->rate[k] = net->rate[k];
        to->latency[k] = net->latency[k];
    }
}

static bool allocate_unrolled(pti_net *to, size_t n_flows) {
    const size_t n_actors = (size_t)to->n_actors + 1, n_memories = (size_t)to->n_memories;
    to->ticks = calloc(n_actors * (size_t)to->n_units, sizeof *to->ticks);
    to->fixed = calloc(n_actors, sizeof *to->fixed);
    to->order = calloc(n_actors, sizeof *to->order);
    to->scratch_bytes = calloc(n_actors, sizeof *to->scratch_bytes);
    to->is_tied = calloc(n_actors, sizeof *to->is_tied);
    to->array = calloc((size_t)to->n_arrays + 1, sizeof *to->array);
    to->flow = calloc(n_flows + 1, sizeof *to->flow);
    to->unit_memory = calloc((size_t)to->n_units + 1, sizeof *to->unit_memory);
    to->host = calloc(n_memories + 1, sizeof *to->host);
    to->rate = calloc(n_memories * n_memories + 1, sizeof *to->rate);
    to->latency = calloc(n_memories * n_memories + 1, sizeof *to->latency);
    return to->ticks != NULL && to->fixed != NULL && to->order != NULL &&
           to->scratch_bytes != NULL && to->is_tied != NULL && to->array != NULL &&
           to->flow != NULL && to->unit_memory != NULL && to->host != NULL && to->rate != NULL &&
           to->latency != NULL;
}

bool pti_net_unroll(const pti_net *net, int n_turns, pti_net *unrolled) {
    *unrolled = (pti_net){.n_actors = n_turns * net->n_actors,
                          .n_units = net->n_units,
                          .n_memories = net->n_memories,
                          .n_arrays = n_turns * net->n_arrays,
                          .n_turns = n_turns,
                          .is_synchronous = net->is_synchronous};
    bool is_made = allocate_unrolled(unrolled, (size_t)n_turns * (size_t)pti_net_count_flows(net));
    if (is_made) {
        unroll_actors(net, n_turns, unrolled);
        unroll_arrays(net, n_turns, unrolled);
        copy_machine(net, unrolled);
        is_made = pti_net_index(unrolled);
    }
    if (!is_made)
        pti_net_free(unrolled);
    return is_made;
}
