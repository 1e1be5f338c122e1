#include "graph/map/net.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

static size_t n_resources(const pti_net *net) {
    return (size_t)net->n_units + (size_t)net->n_memories * (size_t)net->n_memories;
}

bool pti_scorer_begin(pti_scorer *scorer, const pti_net *net) {
    scorer->net = net;
    scorer->work = calloc(n_resources(net) + 1, sizeof *scorer->work);
    scorer->ready =
        calloc((size_t)net->n_arrays * (size_t)net->n_memories + 1, sizeof *scorer->ready);
    return scorer->work != NULL && scorer->ready != NULL;
}

void pti_scorer_end(pti_scorer *scorer) {
    free(scorer->work);
    free(scorer->ready);
}

bool pti_score_is_better(pti_map_objective objective, const pti_score *a, const pti_score *b) {
    const int64_t of_a[][3] = {{a->period, a->latency, a->n_bytes},
                               {a->latency, a->period, a->n_bytes},
                               {a->n_bytes, a->period, a->latency}};
    const int64_t of_b[][3] = {{b->period, b->latency, b->n_bytes},
                               {b->latency, b->period, b->n_bytes},
                               {b->n_bytes, b->period, b->latency}};
    for (int k = 0; k < 3; k++)
        if (of_a[objective][k] != of_b[objective][k])
            return of_a[objective][k] < of_b[objective][k];
    return false;
}

static void add_work(pti_scorer *scorer, int resource, int64_t ticks, pti_score *score) {
    scorer->work[resource] += ticks;
    score->period = pti_max(score->period, scorer->work[resource]);
}

static int64_t *ready_in(const pti_scorer *scorer, int array, int memory) {
    return &scorer->ready[(int64_t)array * scorer->net->n_memories + memory];
}

static void make_frame(pti_scorer *scorer, int array, int memory, int64_t at, pti_score *score) {
    *ready_in(scorer, array, memory) = at;
    score->n_bytes = pti_add_saturated(score->n_bytes, scorer->net->array[array].n_bytes);
    score->latency = pti_max(score->latency, at);
}

/** Bring a frame to a memory, if it is not there; returns when it is. At most three transfers. */
static int64_t bring_frame(pti_scorer *scorer, int array, int origin, int memory,
                           pti_score *score) {
    const pti_net *net = scorer->net;
    int way[4], n = 0;
    while (*ready_in(scorer, array, memory) < 0 && n < 4) {
        way[n++] = memory;
        memory = pti_net_comes_from(net, origin, memory);
    }
    int64_t at = *ready_in(scorer, array, memory);
    while (n-- > 0) {
        const int64_t ticks =
            pti_net_transfer_ticks(net, memory, way[n], net->array[array].n_bytes);
        add_work(scorer, pti_net_link_resource(net, memory, way[n]), ticks, score);
        at += ticks;
        memory = way[n];
        make_frame(scorer, array, memory, at, score);
    }
    return at;
}

/** Fire an actor once its frames are there. */
static void fire_actor(pti_scorer *scorer, const int *unit, int actor, pti_score *score) {
    const pti_net *net = scorer->net;
    const int memory = net->unit_memory[unit[actor]];
    const int64_t ticks = net->ticks[actor * net->n_units + unit[actor]];
    int64_t at = 0;
    for (int64_t k = net->in_first[actor]; k < net->in_first[actor + 1]; k++) {
        const int array = net->in_array[k], origin = pti_net_origin(net, array, unit);
        if (net->in_delay[k] == 0 && origin >= 0)
            at = pti_max(at, bring_frame(scorer, array, origin, memory, score));
    }
    add_work(scorer, unit[actor], ticks, score);
    score->n_bytes = pti_add_saturated(score->n_bytes, net->scratch_bytes[actor]);
    score->latency = pti_max(score->latency, at + ticks);
    for (int64_t k = net->out_first[actor]; k < net->out_first[actor + 1]; k++) {
        const int array = net->out_array[k];
        make_frame(scorer, array, memory, at + ticks, score);
        const int taken_at =
            net->array[array].n_flows > 0 ? -1 : pti_net_taken_at(net, array, unit);
        if (taken_at >= 0)
            bring_frame(scorer, array, memory, taken_at, score);
    }
}

/** Bring what is read with a delay, which holds up nobody. */
static void bring_delayed(pti_scorer *scorer, const int *unit, int actor, pti_score *score) {
    const pti_net *net = scorer->net;
    const int64_t latency = score->latency;
    for (int64_t k = net->in_first[actor]; k < net->in_first[actor + 1]; k++) {
        const int array = net->in_array[k], origin = pti_net_origin(net, array, unit);
        if (net->in_delay[k] > 0 && origin >= 0)
            bring_frame(scorer, array, origin, net->unit_memory[unit[actor]], score);
    }
    score->latency = latency;
}

/** The longest of each phase, one after the other. */
static int64_t cycle_of(const pti_scorer *scorer) {
    int64_t most[PTI_N_PHASES] = {0};
    for (int r = 0; r < (int)n_resources(scorer->net); r++) {
        const pti_phase phase = pti_net_phase(scorer->net, r);
        most[phase] = pti_max(most[phase], scorer->work[r]);
    }
    return pti_max(1, most[PTI_PHASE_RANKS] + most[PTI_PHASE_DEVICES] + most[PTI_PHASE_WORK]);
}

pti_score pti_score_mapping(pti_scorer *scorer, const int *unit) {
    const pti_net *net = scorer->net;
    pti_score score = {.period = 1};
    memset(scorer->work, 0, n_resources(net) * sizeof *scorer->work);
    memset(scorer->ready, -1,
           (size_t)net->n_arrays * (size_t)net->n_memories * sizeof *scorer->ready);
    for (int a = 0; a < net->n_arrays; a++) {
        const int origin = net->array[a].producer < 0 ? pti_net_origin(net, a, unit) : -1;
        if (origin >= 0)
            make_frame(scorer, a, origin, 0, &score);
    }
    for (int k = 0; k < net->n_actors; k++)
        if (unit[net->order[k]] >= 0)
            fire_actor(scorer, unit, net->order[k], &score);
    for (int a = 0; net->has_delays && a < net->n_actors; a++)
        if (unit[a] >= 0)
            bring_delayed(scorer, unit, a, &score);
    if (net->is_synchronous)
        score.period = cycle_of(scorer);
    return score;
}
