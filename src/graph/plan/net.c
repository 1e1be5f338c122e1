#include "graph/plan/plan.h"

#include "base/checked.h"
#include "partition/cost/predict.h"
#include <polytile/size.h>

#include <math.h>
#include <stdlib.h>

/* Seconds. */

/** A run touches what it touches as kernels of plans do; repeats touch it again. */
static double predict_run(const pti_actor *actor, const pti_machine_unit *unit) {
    return (double)actor->repeat *
           (unit->figures.launch_latency_s +
            pti_kernel_seconds(&unit->figures, actor->touched_bytes,
                               pti_actor_goes_through_once(actor, unit->is_on_host)
                                   ? actor->n_elements
                                   : actor->n_accesses));
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
        n_predicted += actor->seconds < 0;
        for (int u = 0; u < n_units; u++)
            planning->seconds[a * n_units + u] =
                actor->seconds >= 0 ? actor->seconds
                                    : predict_run(actor, &planning->machine->unit[u]);
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
    const double n_tasks = 2 + net->n_actors + (double)net->n_arrays * net->n_memories;
    double n_periods = 1 + 2 * n_turns * n_tasks;
    for (int f = 0; f < pti_net_count_flows(net); f++)
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
        sum_s += n_memories * (latest + slowest * (double)planning->graph->array[a].n_bytes);
    return exp2(floor(log2(sum_s > 0 ? most_ticks / sum_s : most_ticks)));
}

/** Each firing has a tick, so that what reads a frame is never at the moment when it is made. */
static void fill_in_units(pti_planning *planning) {
    pti_net *net = &planning->net;
    planning->ticks_per_s = choose_ticks(planning);
    for (int k = 0; k < net->n_actors * net->n_units; k++)
        net->ticks[k] = llround(fmax(1, planning->seconds[k] * planning->ticks_per_s));
    for (int u = 0; u < net->n_units; u++)
        net->unit_memory[u] = planning->machine->unit[u].memory;
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

/* Arrays. */

/** Copy an array's readers, in the actors' order. */
static void copy_flows(pti_planning *planning, int array, int *n_flows) {
    const polytile_graph *graph = planning->graph;
    pti_net_array *to = &planning->net.array[array];
    to->first_flow = *n_flows;
    for (int a = 0; a < graph->n_actors; a++)
        for (int o = 0; o < graph->actor[a].n_operands; o++) {
            const pti_flow *in = &graph->actor[a].in[o];
            if (in->array == array)
                planning->net.flow[(*n_flows)++] = (pti_net_flow){a, pti_flow_delay(graph, in)};
        }
    to->n_flows = *n_flows - to->first_flow;
}

/** As copy_flows() for all arrays, in one walk over the actors. */
static void fill_in_arrays(pti_planning *planning) {
    int n_flows = 0;
    for (int a = 0; a < planning->net.n_arrays; a++) {
        const pti_graph_array *array = &planning->graph->array[a];
        planning->net.array[a] = (pti_net_array){
            .n_bytes = array->n_bytes, .producer = array->producer, .depth = array->depth};
        copy_flows(planning, a, &n_flows);
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
    size_t n_flows = 1;
    for (int a = 0; a < planning->graph->n_actors; a++)
        n_flows += (size_t)planning->graph->actor[a].n_operands;
    net->ticks = calloc(n_actors * n_units, sizeof *net->ticks);
    net->fixed = calloc(n_actors, sizeof *net->fixed);
    net->order = calloc(n_actors, sizeof *net->order);
    net->scratch_bytes = calloc(n_actors, sizeof *net->scratch_bytes);
    net->array = calloc((size_t)net->n_arrays + 1, sizeof *net->array);
    net->flow = calloc(n_flows, sizeof *net->flow);
    net->unit_memory = calloc(n_units, sizeof *net->unit_memory);
    net->host = calloc(n_memories, sizeof *net->host);
    net->rate = calloc(n_memories * n_memories, sizeof *net->rate);
    net->latency = calloc(n_memories * n_memories, sizeof *net->latency);
    planning->allowed = calloc(PTI_MAX_TURNS * n_actors * n_units, sizeof *planning->allowed);
    return net->ticks != NULL && net->fixed != NULL && net->order != NULL &&
           net->scratch_bytes != NULL && net->array != NULL && net->flow != NULL &&
           net->unit_memory != NULL && net->host != NULL && net->rate != NULL &&
           net->latency != NULL && planning->allowed != NULL;
}

polytile_status pti_planning_find_net(pti_planning *planning) {
    polytile_status status;
    planning->net.n_actors = planning->graph->n_actors;
    planning->net.n_arrays = planning->graph->n_arrays;
    planning->net.n_units = planning->machine->n_units;
    planning->net.n_memories = planning->machine->n_memories;
    planning->net.is_synchronous = !planning->overlap;
    if (!allocate_net(planning))
        return pti_planning_fail_memory(planning);
    fill_in_arrays(planning);
    fill_in_actors(planning);
    PTI_TRY(pti_planning_read_units(planning));
    PTI_TRY(find_seconds(planning));
    fill_in_units(planning);
    if (!pti_net_index(&planning->net))
        return pti_planning_fail_memory(planning);
done:
    return status;
}

/* What a frame of one actor needs. */

/** Visit the distinct arrays of an actor; returns their bytes, and writes them down where a text is
 * given. */
static int64_t frame_bytes(const pti_planning *planning, int actor, pti_text *names) {
    const pti_actor *at = &planning->graph->actor[actor];
    char size[32];
    int64_t n_bytes = at->scratch_bytes;
    for (int k = 0; k < 2 * at->n_operands; k++) {
        const int array = k < at->n_operands ? at->in[k].array : at->out[k - at->n_operands].array;
        bool is_new = array >= 0;
        for (int e = 0; is_new && e < k; e++)
            is_new =
                array != (e < at->n_operands ? at->in[e].array : at->out[e - at->n_operands].array);
        if (!is_new)
            continue;
        n_bytes = pti_add_saturated(n_bytes, planning->graph->array[array].n_bytes);
        if (names != NULL)
            pti_text_add(names, "%s%s %s", names->length == 0 ? "" : ", ",
                         planning->graph->array[array].name,
                         polytile_size_format(planning->graph->array[array].n_bytes, size));
    }
    if (names != NULL && at->scratch_bytes > 0)
        pti_text_add(names, ", scratch %s", polytile_size_format(at->scratch_bytes, size));
    return n_bytes;
}

/** Return whether on= leaves an actor a unit. */
static bool may_be_on(const pti_planning *planning, int actor, int unit) {
    bool may = planning->n_on[actor] == 0;
    for (int k = 0; k < planning->n_on[actor]; k++)
        may = may || planning->on[actor * PTI_MAX_TURNS + k] == unit;
    return may;
}

/** Return the unit of the largest memory that an actor may use, of those where it does not fit. */
static int find_short_unit(const pti_planning *planning, int actor) {
    const int n_units = planning->net.n_units;
    int best = -1;
    for (int u = 0; u < n_units; u++) {
        const pti_machine_memory *memory = &planning->machine->memory[planning->net.unit_memory[u]];
        if (may_be_on(planning, actor, u) && !planning->allowed[actor * n_units + u] &&
            (best < 0 ||
             memory->limit_bytes >
                 planning->machine->memory[planning->net.unit_memory[best]].limit_bytes))
            best = u;
    }
    return best;
}

/** Say what an actor needs, and what the largest memory that it may use has. */
static polytile_status refuse_actor(const pti_planning *planning, int actor) {
    pti_text names = {0};
    char needed[32], limit[32];
    const int64_t n_bytes = frame_bytes(planning, actor, &names);
    const int best = find_short_unit(planning, actor);
    polytile_status status = pti_fail(
        planning->ctx, POLYTILE_NO_FIT,
        "%s: one frame of actor %s needs %s (%s); %s is limited to %s; give it a larger memory, or "
        "cut the frames",
        planning->graph->dot->source, planning->graph->actor[actor].name,
        polytile_size_format(n_bytes, needed), names.data == NULL ? "" : names.data,
        best < 0 ? "no unit" : planning->machine->unit[best].name,
        polytile_size_format(
            best < 0 ? 0 : planning->machine->memory[planning->net.unit_memory[best]].limit_bytes,
            limit));
    pti_text_free(&names);
    return status;
}

/** An actor without on= needs a unit that it fits, one with on= fits each of these. */
static bool fits_units(const pti_planning *planning, int actor) {
    const int n_units = planning->net.n_units;
    int n_good = 0, n_bad = 0;
    for (int u = 0; u < n_units; u++) {
        n_good += may_be_on(planning, actor, u) && planning->allowed[actor * n_units + u];
        n_bad += may_be_on(planning, actor, u) && !planning->allowed[actor * n_units + u];
    }
    return n_good > 0 && (planning->n_on[actor] == 0 || n_bad == 0);
}

polytile_status pti_planning_check_actors(pti_planning *planning) {
    const int n_units = planning->net.n_units, n_actors = planning->net.n_actors;
    for (int a = 0; a < n_actors; a++) {
        const int64_t n_bytes = frame_bytes(planning, a, NULL);
        for (int u = 0; u < n_units; u++) {
            const int64_t limit =
                planning->machine->memory[planning->net.unit_memory[u]].limit_bytes;
            for (int turn = 0; turn < PTI_MAX_TURNS; turn++)
                planning->allowed[(a + turn * n_actors) * n_units + u] =
                    limit == 0 || n_bytes <= limit;
        }
        if (!fits_units(planning, a))
            return refuse_actor(planning, a);
    }
    return POLYTILE_OK;
}
