#include "graph/map/net.h"

#include <math.h>
#include <stdlib.h>

void pti_net_free(pti_net *net) {
    free(net->ticks);
    free(net->fixed);
    free(net->order);
    free(net->scratch_bytes);
    free(net->array);
    free(net->flow);
    free(net->unit_memory);
    free(net->host);
    free(net->rate);
    free(net->latency);
    free(net->in_first);
    free(net->in_array);
    free(net->in_delay);
    free(net->out_first);
    free(net->out_array);
    free(net->is_tied);
    *net = (pti_net){0};
}

int pti_net_count_flows(const pti_net *net) {
    int n = 0;
    for (int a = 0; a < net->n_arrays; a++)
        n += net->array[a].n_flows;
    return n;
}

/** Turn counts, which stand one place further on, into where each list begins. */
static void sum_up(int64_t *first, int n) {
    for (int k = 0; k < n; k++)
        first[k + 1] += first[k];
}

/** Fill in, for each actor, the arrays that it reads and makes. */
static void fill_in(pti_net *net) {
    for (int a = 0; a < net->n_arrays; a++) {
        const pti_net_array *array = &net->array[a];
        if (array->producer >= 0)
            net->out_array[net->out_first[array->producer]++] = a;
        for (int f = array->first_flow; f < array->first_flow + array->n_flows; f++) {
            const int64_t at = net->in_first[net->flow[f].actor]++;
            net->in_array[at] = a;
            net->in_delay[at] = net->flow[f].delay;
        }
    }
    for (int a = net->n_actors; a > 0; a--) {
        net->in_first[a] = net->in_first[a - 1];
        net->out_first[a] = net->out_first[a - 1];
    }
    net->in_first[0] = net->out_first[0] = 0;
}

bool pti_net_index(pti_net *net) {
    const size_t n_actors = (size_t)net->n_actors + 2,
                 n_flows = (size_t)pti_net_count_flows(net) + 1;
    net->in_first = calloc(n_actors, sizeof *net->in_first);
    net->out_first = calloc(n_actors, sizeof *net->out_first);
    net->in_array = calloc(n_flows, sizeof *net->in_array);
    net->in_delay = calloc(n_flows, sizeof *net->in_delay);
    net->out_array = calloc((size_t)net->n_arrays + 1, sizeof *net->out_array);
    if (net->in_first == NULL || net->out_first == NULL || net->in_array == NULL ||
        net->in_delay == NULL || net->out_array == NULL)
        return false;
    for (int a = 0; a < net->n_arrays; a++) {
        const pti_net_array *array = &net->array[a];
        if (array->producer >= 0)
            net->out_first[array->producer + 1]++;
        for (int f = array->first_flow; f < array->first_flow + array->n_flows; f++) {
            net->in_first[net->flow[f].actor + 1]++;
            net->has_delays = net->has_delays || net->flow[f].delay > 0;
        }
    }
    sum_up(net->in_first, net->n_actors);
    sum_up(net->out_first, net->n_actors);
    fill_in(net);
    return true;
}

int pti_net_comes_from(const pti_net *net, int origin, int memory) {
    if (net->rate[origin * net->n_memories + memory] > 0)
        return origin;
    if (net->host[memory] != memory)
        return net->host[memory];
    return net->host[origin];
}

int64_t pti_net_transfer_ticks(const pti_net *net, int from, int to, int64_t n_bytes) {
    const int at = from * net->n_memories + to;
    return llround(net->latency[at] + (double)n_bytes / net->rate[at]);
}

int pti_net_origin(const pti_net *net, int array, const int *unit) {
    const pti_net_array *net_array =
        &net->array[net->array[array].producer >= 0 ? array : array - net->array[array].n_before];
    const int decides =
        net_array->producer >= 0 ? net_array->producer : net->flow[net_array->first_flow].actor;
    if (unit[decides] < 0)
        return -1;
    const int memory = net->unit_memory[unit[decides]];
    return net_array->producer >= 0 ? memory : net->host[memory];
}

int pti_net_taken_at(const pti_net *net, int array, const int *unit) {
    const int origin = pti_net_origin(net, array - net->array[array].n_before, unit);
    return origin < 0 ? -1 : net->host[origin];
}

pti_phase pti_net_phase(const pti_net *net, int resource) {
    const int link = resource - net->n_units;
    if (link < 0)
        return PTI_PHASE_WORK;
    const int from = link / net->n_memories, to = link % net->n_memories;
    return net->host[from] == from && net->host[to] == to ? PTI_PHASE_RANKS : PTI_PHASE_DEVICES;
}

void pti_expansion_free(pti_expansion *expansion) {
    pti_stream_tasks_free(&expansion->tasks);
    free(expansion->task);
    free(expansion->buffer);
    *expansion = (pti_expansion){0};
}

bool pti_expansion_is_state(const pti_expansion *expansion, int buffer) {
    return expansion->buffer[buffer].before >= 0;
}
