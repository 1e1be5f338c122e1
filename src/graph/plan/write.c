#include "graph/plan/plan.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was found becomes the plan, with names of its own. */

static __attribute__((format(printf, 2, 3))) const char *keep_formatted(polytile_graph_plan *plan,
                                                                        const char *format, ...) {
    va_list arguments;
    char *text = NULL;
    if (!PTI_GROW(plan->string, plan->n_strings, &plan->string_capacity))
        return NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text != NULL)
        plan->string[plan->n_strings++] = text;
    return text;
}

/** A plan while it is written down. */
typedef struct writer {
    pti_planning *of;
    polytile_graph_plan *plan;
    const pti_mapping *mapping;
    const pti_outcome *outcome;
    int *lane_of; /* of each resource; -1: none yet; owned */
    bool failed;
} writer;

static const char *keep_text(writer *to, const char *text) {
    const char *kept = keep_formatted(to->plan, "%s", text);
    to->failed = to->failed || kept == NULL;
    return kept;
}

/* Actors and arrays of all turns have one name. */

static const char *actor_name(const writer *to, int actor) {
    return to->of->graph->actor[actor % to->of->net.n_actors].name;
}

static const char *array_name(const writer *to, int array) {
    return to->of->graph->array[array % to->of->graph->n_arrays].name;
}

static double seconds_of(const writer *to, int64_t ticks) {
    return (double)ticks / to->of->ticks_per_s;
}

static const char *name_resource(writer *to, int resource) {
    const polytile_machine *machine = to->of->machine;
    const int link = resource - to->of->net.n_units, n = to->of->net.n_memories;
    if (resource < to->of->net.n_units)
        return keep_text(to, machine->unit[resource].name);
    const char *kept = keep_formatted(to->plan, "%s -> %s", machine->memory[link / n].name,
                                      machine->memory[link % n].name);
    to->failed = to->failed || kept == NULL;
    return kept;
}

/** Note a rate that was assumed, once. */
static void note_assumed(writer *to, int resource) {
    const int link = resource - to->of->net.n_units, n = to->of->net.n_memories;
    pti_machine_link found;
    bool is_assumed = false;
    if (link < 0)
        return;
    pti_machine_find_link(to->of->machine, link / n, link % n, &found, &is_assumed);
    if (is_assumed)
        pti_text_add(&to->plan->notes, "no link from %s to %s is given; %g GB/s is assumed\n",
                     to->of->machine->memory[link / n].name, to->of->machine->memory[link % n].name,
                     PTI_ASSUMED_BYTES_PER_S / 1e9);
}

/** Return the memory that a unit has for superblocks: all of its own. */
static int64_t cut_bytes_of(const writer *to, int unit) {
    const pti_planning *of = to->of;
    return of->may_cut && of->is_cut[unit]
               ? of->machine->memory[of->machine->unit[unit].memory].limit_bytes
               : 0;
}

/** Add what superblocks take of the memories of units that run them. */
static void add_cuts(const writer *to) {
    const pti_planning *of = to->of;
    for (int u = 0; of->may_cut && u < of->net.n_units; u++)
        if (of->is_cut[u])
            to->plan->memory[of->machine->unit[u].memory].n_bytes += of->cut_bytes[u];
}

static void write_actors(writer *to) {
    polytile_graph_plan *plan = to->plan;
    for (int a = 0; a < plan->n_actors; a++) {
        for (int turn = 0; turn < plan->n_turns; turn++) {
            const int unit = to->mapping->unit[a + turn * plan->n_actors];
            plan->turn[a * plan->n_turns + turn] =
                (pti_planned_turn){unit, to->of->seconds[a * to->of->net.n_units + unit]};
        }
        const pti_planned_turn *first = &plan->turn[a * plan->n_turns];
        const pti_actor *actor = &to->of->graph->actor[a];
        plan->actor[a] = (pti_planned_actor){keep_text(to, actor->name), first->unit,
                                             first->seconds, actor->part, actor->n_parts};
    }
    for (int u = 0; u < plan->n_units; u++)
        plan->unit[u] = (pti_planned_unit){keep_text(to, to->of->machine->unit[u].name),
                                           keep_text(to, to->of->machine->unit[u].device),
                                           to->of->machine->unit[u].rank,
                                           to->of->net.unit_memory[u], cut_bytes_of(to, u)};
    for (int a = 0; a < plan->n_arrays; a++)
        plan->array[a] = keep_text(to, to->of->graph->array[a].name);
}

static void write_channels(writer *to) {
    polytile_graph_plan *plan = to->plan;
    const pti_outcome *outcome = to->outcome;
    for (int b = 0; b < plan->n_channels; b++) {
        const pti_buffer_note *note = &outcome->expansion.buffer[b];
        const bool is_order = note->array < 0 && note->actor < 0;
        const char *name = is_order ? keep_text(to, "the order of tasks")
                           : note->array >= 0
                               ? keep_text(to, array_name(to, note->array))
                               : keep_formatted(plan, "%s (scratch)", actor_name(to, note->actor));
        to->failed = to->failed || name == NULL;
        plan->channel[b] = (pti_channel){
            .array = name,
            .memory = note->memory,
            .n_bytes = pti_mul_saturated(outcome->expansion.tasks.buffer[b].frame_bytes,
                                         outcome->schedule.capacity[b]),
            .capacity = outcome->schedule.capacity[b],
            .colour = outcome->stored[b].colour,
            .offset_bytes = outcome->stored[b].offset_bytes,
            .turn = outcome->stored[b].turn,
            .is_order = is_order};
    }
    for (int m = 0; m < plan->n_memories; m++)
        plan->memory[m] = (pti_planned_memory){keep_text(to, to->of->machine->memory[m].name),
                                               outcome->memory_bytes[m],
                                               outcome->memory_bytes[m],
                                               to->of->machine->memory[m].limit_bytes,
                                               to->of->machine->memory[m].is_host,
                                               to->of->machine->memory[m].rank};
    add_cuts(to);
}

static int find_lane(writer *to, int resource) {
    polytile_graph_plan *plan = to->plan;
    if (to->lane_of[resource] >= 0)
        return to->lane_of[resource];
    plan->lane[plan->n_lanes] =
        (pti_lane){name_resource(to, resource), resource < to->of->net.n_units, 0};
    note_assumed(to, resource);
    return to->lane_of[resource] = plan->n_lanes++;
}

static void write_tasks(writer *to) {
    polytile_graph_plan *plan = to->plan;
    const pti_stream_tasks *tasks = &to->outcome->expansion.tasks;
    for (int u = 0; u < to->of->net.n_units; u++)
        find_lane(to, u);
    for (int t = 0; t < tasks->n_tasks && !to->failed; t++) {
        const pti_task_note *note = &to->outcome->expansion.task[t];
        if (tasks->task[t].resource < 0)
            continue;
        const int lane = find_lane(to, tasks->task[t].resource);
        const double seconds = seconds_of(to, tasks->task[t].ticks);
        const bool fires = note->kind == PTI_TASK_FIRE;
        plan->lane[lane].busy_s += seconds / plan->n_turns;
        plan->task[plan->n_tasks++] =
            (pti_planned_task){.name = fires ? plan->actor[note->actor % plan->n_actors].name
                                             : plan->array[note->array % plan->n_arrays],
                               .lane = lane,
                               .unit = fires ? to->mapping->unit[note->actor] : -1,
                               .start_s = seconds_of(to, to->outcome->schedule.start[t]),
                               .seconds = seconds};
    }
}

static void write_bound(writer *to) {
    polytile_graph_plan *plan = to->plan;
    const pti_period_bound *bound = &to->outcome->bound;
    const pti_task_note *note = bound->task < 0 ? NULL : &to->outcome->expansion.task[bound->task];
    plan->bound_s = seconds_of(to, bound->ticks) / plan->n_turns;
    if (bound->kind == PTI_BOUND_CYCLE)
        plan->bound = keep_formatted(plan, "cycle through %s",
                                     note->kind == PTI_TASK_FIRE ? actor_name(to, note->actor)
                                     : note->array >= 0          ? array_name(to, note->array)
                                                                 : "the program's push or pull");
    else if (bound->resource < 0)
        plan->bound = keep_formatted(plan, "no work");
    else
        plan->bound = keep_formatted(plan, "%s %s",
                                     bound->resource < to->of->net.n_units ? "work of" : "link",
                                     plan->lane[to->lane_of[bound->resource]].name);
    to->failed = to->failed || plan->bound == NULL;
}

static void write_figures(writer *to) {
    static const char *const objectives[] = {"period", "latency", "memory"};
    polytile_graph_plan *plan = to->plan;
    const pti_outcome *outcome = to->outcome;
    plan->period_s = seconds_of(to, outcome->schedule.period) / plan->n_turns;
    plan->latency_s = seconds_of(to, outcome->latency);
    plan->frames_in_flight =
        pti_max(1, pti_ceil_div(outcome->latency * plan->n_turns, outcome->schedule.period));
    plan->mapping_is_exact = to->mapping->is_exact;
    plan->channels_are_least = outcome->schedule.is_least;
    plan->strategy = to->of->strategy;
    plan->objective = objectives[to->of->objective];
    plan->overlap = to->of->overlap;
    plan->name = keep_text(to, to->of->graph->dot->source);
    plan->dot = pti_dot_hold(to->of->graph->dot);
}

/* For pictures. */

static void write_edges(writer *to) {
    polytile_graph_plan *plan = to->plan;
    const polytile_graph *graph = to->of->graph;
    for (int a = 0; a < graph->n_actors; a++)
        for (int o = 0; o < graph->actor[a].n_operands; o++) {
            const pti_flow *in = &graph->actor[a].in[o], *out = &graph->actor[a].out[o];
            if (in->array >= 0)
                plan->edge[plan->n_edges++] =
                    (pti_drawn_edge){a, in->array, false, pti_flow_delay(graph, in)};
            if (out->array >= 0)
                plan->edge[plan->n_edges++] = (pti_drawn_edge){a, out->array, true, 0};
        }
    for (int k = 0; k < graph->n_actors; k++) {
        const int actor = graph->order[k];
        for (int o = 0; o < graph->actor[actor].n_operands; o++) {
            const pti_flow *in = &graph->actor[actor].in[o];
            const int before = in->array < 0 || pti_flow_delay(graph, in) > 0
                                   ? -1
                                   : graph->array[in->array].producer;
            if (before >= 0 && plan->level[before] + 1 > plan->level[actor])
                plan->level[actor] = plan->level[before] + 1;
        }
    }
}

/** Allocate the lists of a plan. False when memory runs out. */
static bool allocate_lists(writer *to) {
    polytile_graph_plan *plan = to->plan;
    const pti_stream_tasks *tasks = &to->outcome->expansion.tasks;
    size_t n_edges = 1;
    for (int a = 0; a < to->of->graph->n_actors; a++)
        n_edges += 2 * (size_t)to->of->graph->actor[a].n_operands;
    plan->n_actors = to->of->net.n_actors;
    plan->n_arrays = to->of->graph->n_arrays;
    plan->n_units = to->of->net.n_units;
    plan->n_memories = to->of->net.n_memories;
    plan->n_channels = tasks->n_buffers;
    plan->n_turns = pti_n_turns(tasks);
    plan->actor = calloc((size_t)plan->n_actors + 1, sizeof *plan->actor);
    plan->turn = calloc((size_t)(plan->n_actors * plan->n_turns) + 1, sizeof *plan->turn);
    plan->level = calloc((size_t)plan->n_actors + 1, sizeof *plan->level);
    plan->array = calloc((size_t)plan->n_arrays + 1, sizeof *plan->array);
    plan->unit = calloc((size_t)plan->n_units + 1, sizeof *plan->unit);
    plan->memory = calloc((size_t)plan->n_memories + 1, sizeof *plan->memory);
    plan->channel = calloc((size_t)plan->n_channels + 1, sizeof *plan->channel);
    plan->edge = calloc(n_edges, sizeof *plan->edge);
    plan->lane = calloc((size_t)tasks->n_resources + 1, sizeof *plan->lane);
    plan->task = calloc((size_t)tasks->n_tasks + 1, sizeof *plan->task);
    to->lane_of = malloc(((size_t)tasks->n_resources + 1) * sizeof *to->lane_of);
    for (int r = 0; to->lane_of != NULL && r < tasks->n_resources; r++)
        to->lane_of[r] = -1;
    return plan->actor != NULL && plan->turn != NULL && plan->level != NULL &&
           plan->array != NULL && plan->unit != NULL && plan->memory != NULL &&
           plan->channel != NULL && plan->edge != NULL && plan->lane != NULL &&
           plan->task != NULL && to->lane_of != NULL;
}

polytile_status pti_planning_write(pti_planning *planning, const pti_mapping *mapping,
                                   const pti_outcome *outcome) {
    writer to = {.of = planning, .plan = planning->plan, .mapping = mapping, .outcome = outcome};
    to.failed = !allocate_lists(&to);
    if (!to.failed) {
        write_actors(&to);
        write_channels(&to);
        write_edges(&to);
        write_tasks(&to);
    }
    if (!to.failed)
        write_bound(&to);
    if (!to.failed)
        write_figures(&to);
    free(to.lane_of);
    return to.failed || planning->plan->notes.failed
               ? pti_fail_memory(planning->ctx, "a graph's plan", PTI_UNKNOWN_BYTES)
               : POLYTILE_OK;
}

void pti_planning_hand_over(pti_planning *planning, pti_outcome *outcome) {
    planning->plan->graph_serial = planning->graph->object.serial;
    planning->plan->expansion = outcome->expansion;
    planning->plan->schedule = outcome->schedule;
    outcome->expansion = (pti_expansion){0};
    outcome->schedule = (pti_periodic){0};
}
