#include "graph/plan/plan.h"

#include "partition/cost/predict.h"

#include <math.h>
#include <stdlib.h>

/* Seconds. */

double pti_planning_predict(const pti_actor *actor, const pti_machine_unit *unit) {
    return (double)actor->repeat *
           (unit->figures.launch_latency_s +
            pti_kernel_seconds(&unit->figures, actor->touched_bytes,
                               pti_actor_goes_through_once(actor, unit->is_on_host)
                                   ? actor->n_elements
                                   : actor->n_accesses));
}

/** Return what an actor takes on a unit, in superblocks where that runs them. */
static double predict_actor(const pti_planning *planning, int actor, int unit) {
    const int at = actor * planning->machine->n_units + unit;
    const pti_actor *of = &planning->graph->actor[actor];
    if (of->seconds >= 0)
        return of->seconds;
    return planning->may_cut && planning->is_cut[unit]
               ? fmax(0, planning->cut_s[at])
               : pti_planning_predict(of, &planning->machine->unit[unit]);
}

/** Find how long each actor takes on each unit: as given, or predicted. */
static polytile_status find_seconds(pti_planning *planning) {
    const int n_units = planning->machine->n_units;
    int n_predicted = 0;
    planning->seconds =
        calloc((size_t)planning->net.n_actors * (size_t)n_units + 1, sizeof *planning->seconds);
    if (planning->seconds == NULL)
        return pti_planning_fail_memory(planning);
    for (int a = 0; a < planning->net.n_actors; a++) {
        const pti_actor *actor = &planning->graph->actor[a];
        n_predicted += actor->seconds < 0 && actor->part == 0;
        for (int u = 0; u < n_units; u++)
            planning->seconds[a * n_units + u] = predict_actor(planning, a, u);
        if (actor->seconds < 0 && actor->bound_by == 0 && actor->takes_planes)
            pti_text_add(&planning->plan->notes,
                         "actor %s is predicted as if it went through its arrays once; give "
                         "seconds= if each thread goes through all of them\n",
                         actor->name);
    }
    if (n_predicted > 0 && !planning->machine->is_measured)
        pti_text_add(&planning->plan->notes,
                     "the seconds of %d actor%s are predicted with the figures of one NVIDIA H200; "
                     "give seconds=, or --profile\n",
                     n_predicted, n_predicted == 1 ? "" : "s");
    return POLYTILE_OK;
}

/** Return the ticks that all tasks of a frame may come to, so that starts stay below the most
 * ticks: a period is at most twice all tasks of a round, and no task starts later than two periods
 * for each of them, and one for each frame of a delay. */
static double choose_most_ticks(const pti_planning *planning) {
    const pti_net *net = &planning->net;
    const double n_turns = planning->in_turn ? PTI_MAX_TURNS : planning->n_turns;
    const double n_tasks = 2 + net->n_actors + (double)net->n_arrays * net->n_memories +
                           (net->n_arrays > planning->graph->n_arrays
                                ? (double)planning->graph->n_arrays * net->n_memories
                                : 0);
    const int n_flows = pti_net_count_flows(net);
    double n_periods = 1 + 2 * n_turns * n_tasks;
    for (int f = 0; f < n_flows; f++)
        n_periods += net->flow[f].delay + n_turns;
    return fmin(0x1p48, (double)PTI_MOST_TICKS / (4 * n_turns * n_periods));
}

/** Ticks are a power of two of a second, so that seconds such as 0.25 are whole. */
static double choose_ticks(const pti_planning *planning) {
    const double most_ticks = choose_most_ticks(planning);
    double sum_s = 0, slowest = 0, latest = 0;
    for (int a = 0; a < planning->net.n_actors; a++) {
        double most_s = 0;
        for (int u = 0; u < planning->net.n_units; u++)
            most_s = fmax(most_s, planning->seconds[a * planning->net.n_units + u]);
        sum_s += most_s;
    }
    const int n_memories = planning->machine->n_memories;
    for (int from = 0; from < n_memories; from++)
        for (int to = 0; to < n_memories; to++) {
            pti_machine_link link;
            bool is_assumed;
            if (!pti_machine_find_link(planning->machine, from, to, &link, &is_assumed))
                continue;
            slowest = fmax(slowest, 1 / link.bytes_per_s);
            latest = fmax(latest, link.latency_s);
        }
    for (int a = 0; a < planning->net.n_arrays; a++)
        sum_s += n_memories * (latest + slowest * (double)planning->net.array[a].n_bytes);
    return exp2(floor(log2(sum_s > 0 ? most_ticks / sum_s : most_ticks)));
}

/** Return where the frames of a unit lie. */
static int memory_of_frames(const pti_planning *planning, int unit) {
    const int own = planning->machine->unit[unit].memory;
    return planning->may_cut && planning->is_cut[unit] ? planning->machine->host[own] : own;
}

/** Each firing has a tick, so that what reads a frame is never at the moment when it is made. */
static void fill_in_units(pti_planning *planning) {
    pti_net *net = &planning->net;
    planning->ticks_per_s = choose_ticks(planning);
    for (int k = 0; k < net->n_actors * net->n_units; k++)
        net->ticks[k] = llround(fmax(1, planning->seconds[k] * planning->ticks_per_s));
    for (int u = 0; u < net->n_units; u++)
        net->unit_memory[u] = memory_of_frames(planning, u);
    for (int m = 0; m < net->n_memories; m++)
        net->host[m] = planning->machine->host[m];
    for (int from = 0; from < net->n_memories; from++)
        for (int to = 0; to < net->n_memories; to++) {
            pti_machine_link link;
            bool is_assumed;
            const int at = from * net->n_memories + to;
            if (!pti_machine_find_link(planning->machine, from, to, &link, &is_assumed))
                continue;
            net->rate[at] = link.bytes_per_s / planning->ticks_per_s;
            net->latency[at] = link.latency_s * planning->ticks_per_s;
        }
}

static void fill_in_actors(pti_planning *planning) {
    for (int a = 0; a < planning->net.n_actors; a++) {
        planning->net.order[a] = planning->graph->order[a];
        planning->net.scratch_bytes[a] = planning->graph->actor[a].scratch_bytes;
    }
}

static bool allocate_net(pti_planning *planning) {
    pti_net *net = &planning->net;
    const size_t n_actors = (size_t)net->n_actors + 1, n_units = (size_t)net->n_units + 1;
    const size_t n_memories = (size_t)net->n_memories + 1;
    net->ticks = calloc(n_actors * n_units, sizeof *net->ticks);
    net->fixed = calloc(n_actors, sizeof *net->fixed);
    net->order = calloc(n_actors, sizeof *net->order);
    net->scratch_bytes = calloc(n_actors, sizeof *net->scratch_bytes);
    net->unit_memory = calloc(n_units, sizeof *net->unit_memory);
    net->host = calloc(n_memories, sizeof *net->host);
    net->rate = calloc(n_memories * n_memories, sizeof *net->rate);
    net->latency = calloc(n_memories * n_memories, sizeof *net->latency);
    planning->allowed = calloc(PTI_MAX_TURNS * n_actors * n_units, sizeof *planning->allowed);
    return net->ticks != NULL && net->fixed != NULL && net->order != NULL &&
           net->scratch_bytes != NULL && net->unit_memory != NULL && net->host != NULL &&
           net->rate != NULL && net->latency != NULL && planning->allowed != NULL;
}

polytile_status pti_planning_find_net(pti_planning *planning) {
    polytile_status status;
    planning->net.n_actors = planning->graph->n_actors;
    planning->net.n_units = planning->machine->n_units;
    planning->net.n_memories = planning->machine->n_memories;
    planning->net.is_synchronous = !planning->overlap;
    if (!allocate_net(planning))
        return pti_planning_fail_memory(planning);
    PTI_TRY(pti_planning_find_arrays(planning));
    fill_in_actors(planning);
    PTI_TRY(pti_planning_read_units(planning));
    PTI_TRY(pti_planning_cut_frames(planning));
    PTI_TRY(find_seconds(planning));
    fill_in_units(planning);
    if (!pti_net_index(&planning->net))
        return pti_planning_fail_memory(planning);
done:
    return status;
}
