#include "graph/plan/plan.h"

#include "base/checked.h"
#include "graph/schedule/place.h"
#include <polytile/size.h>

#include <stdlib.h>

/* One mapping. */

static bool fits_memories(const pti_planning *planning, const pti_outcome *outcome) {
    bool does = true;
    for (int m = 0; m < planning->net.n_memories; m++)
        does = does && (planning->machine->memory[m].limit_bytes == 0 ||
                        outcome->memory_bytes[m] <= planning->machine->memory[m].limit_bytes);
    return does;
}

/** Return the time from the begin of a turn's first task to the end of its last one. */
static int64_t latency_of_turn(const pti_outcome *outcome, int turn) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int t = 0; t < tasks->n_tasks; t++) {
        if (tasks->task[t].turn != turn)
            continue;
        first = pti_min(first, outcome->schedule.start[t]);
        last = pti_max(last, outcome->schedule.start[t] + tasks->task[t].ticks);
    }
    return first > last ? 0 : last - first;
}

/** Measure latency and bytes of what was planned. */
static void measure_outcome(const pti_planning *planning, pti_outcome *outcome) {
    outcome->latency = 0;
    for (int turn = 0; turn < pti_n_turns(&outcome->expansion.tasks); turn++)
        outcome->latency = pti_max(outcome->latency, latency_of_turn(outcome, turn));
    outcome->n_bytes = 0;
    for (int m = 0; m < planning->net.n_memories; m++)
        outcome->n_bytes = pti_add_saturated(outcome->n_bytes, outcome->memory_bytes[m]);
}

static pti_score score_of(const pti_outcome *outcome) {
    return (pti_score){outcome->schedule.period, outcome->latency, outcome->n_bytes};
}

static polytile_status expand_mapping(pti_planning *planning, int *unit, pti_outcome *outcome) {
    *outcome = (pti_outcome){.unit = unit};
    if (!pti_expand(pti_planned_net(planning), unit, &outcome->expansion) ||
        !pti_period_bound_find(&outcome->expansion.tasks, &outcome->bound))
        return pti_planning_fail_memory(planning);
    return POLYTILE_OK;
}

/** Let places for frames that several tasks make be taken as late as those begin: then they are
 * others' before. */
static void begin_late(pti_outcome *outcome) {
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    pti_periodic *schedule = &outcome->schedule;
    for (int b = 0; b < tasks->n_buffers; b++) {
        const int producer = tasks->buffer[b].producer;
        if (outcome->expansion.task[producer].kind != PTI_TASK_BEGIN)
            continue;
        schedule->start[producer] = pti_place_latest(tasks, schedule, producer);
        if (tasks->buffer[b].depth == 0)
            schedule->capacity[b] =
                pti_buffer_capacity(tasks, b, schedule->period, schedule->start);
    }
}

/** Schedule a mapping with a period; 0: a frame after the other. *found: whether there is one. */
static polytile_status schedule_mapping(pti_planning *planning, int *unit, int64_t period,
                                        pti_outcome *outcome, bool *found) {
    polytile_status status;
    PTI_TRY(expand_mapping(planning, unit, outcome));
    const pti_stream_tasks *tasks = &outcome->expansion.tasks;
    const pti_found how = period == 0 ? pti_periodic_find_serial(tasks, &outcome->schedule)
                                      : pti_periodic_find(tasks, period, &outcome->schedule);
    *found = how == PTI_FOUND;
    if (how == PTI_FOUND_NO_MEMORY)
        return pti_planning_fail_memory(planning);
    if (*found)
        begin_late(outcome);
    if (*found)
        PTI_TRY(pti_planning_store(planning, outcome));
    if (*found)
        measure_outcome(planning, outcome);
done:
    return status;
}

/** Keep the better of two outcomes, of which the new one may not fit, and free the other one.
 * Returns whether the new one is kept. */
static bool keep_better(const pti_planning *planning, pti_outcome *best, bool *has_best,
                        pti_outcome *made, bool found) {
    const bool is_good = found && fits_memories(planning, made);
    const pti_score a = is_good ? score_of(made) : (pti_score){0};
    const pti_score b = *has_best ? score_of(best) : (pti_score){0};
    if (!is_good || (*has_best && !pti_score_is_better(planning->objective, &a, &b))) {
        pti_outcome_free(made);
        return false;
    }
    pti_outcome_free(best);
    *best = *made;
    *made = (pti_outcome){0};
    *has_best = true;
    return true;
}

/** Periods that are tried, over the bound, up to that of a frame after the other. */
static const double stretches[] = {1, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8};
enum { N_STRETCHES = sizeof stretches / sizeof *stretches, N_BISECTIONS = 6 };

/** A mapping whose periods are tried. */
typedef struct trial {
    pti_planning *of;
    int *unit;
    pti_outcome *best;
    bool *has_best;
    bool is_better; /* what was tried last is the best */
} trial;

static polytile_status try_period(trial *on, int64_t period) {
    polytile_status status;
    pti_outcome made = {0};
    bool found = false;
    PTI_TRY(schedule_mapping(on->of, on->unit, period, &made, &found));
    on->is_better = keep_better(on->of, on->best, on->has_best, &made, found);
done:
    pti_outcome_free(&made);
    return status;
}

/** Shorten a period that fits towards one that does not. */
static polytile_status shorten_period(trial *on, int64_t too_short, int64_t period) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < N_BISECTIONS && period - too_short > 1; k++) {
        const int64_t middle = too_short + (period - too_short) / 2;
        PTI_TRY(try_period(on, middle));
        if (on->is_better)
            period = middle;
        else
            too_short = middle;
    }
done:
    return status;
}

static int64_t serial_period(const pti_stream_tasks *tasks) {
    int64_t period = 0;
    for (int t = 0; t < tasks->n_tasks; t++)
        period += tasks->task[t].ticks;
    return period;
}

/** Try the bound, and longer periods where that does not fit, or another objective asks for it. */
static polytile_status try_periods(trial *on, int64_t bound, int64_t serial) {
    const bool is_period = on->of->objective == PTI_OBJECTIVE_PERIOD;
    polytile_status status = POLYTILE_OK;
    int64_t before = bound;
    for (int k = 0; k <= N_STRETCHES; k++) {
        const int64_t stretched =
            k < N_STRETCHES ? (int64_t)((double)bound * stretches[k]) : serial;
        const bool is_last = stretched >= serial && k > 0;
        PTI_TRY(try_period(on, is_last ? 0 : stretched));
        if (is_period && on->is_better)
            return k == 0 ? POLYTILE_OK : shorten_period(on, before, on->best->schedule.period);
        if (is_last)
            break;
        before = stretched;
    }
done:
    return status;
}

static polytile_status try_overlapped(pti_planning *planning, int *unit, pti_outcome *best,
                                      bool *has_best) {
    polytile_status status;
    pti_outcome made = {0};
    trial on = {.of = planning, .unit = unit, .best = best, .has_best = has_best};
    PTI_TRY(expand_mapping(planning, unit, &made));
    const int64_t bound = made.bound.ticks, serial = serial_period(&made.expansion.tasks);
    PTI_TRY(try_periods(&on, bound, serial));
done:
    pti_outcome_free(&made);
    return status;
}

static polytile_status try_mapping(pti_planning *planning, int *unit, pti_outcome *best,
                                   bool *has_best) {
    polytile_status status;
    pti_outcome made = {0};
    if (planning->overlap && planning->strategy->may_overlap)
        return try_overlapped(planning, unit, best, has_best);
    PTI_TRY(expand_mapping(planning, unit, &made));
    PTI_TRY(planning->strategy->schedule(planning, &made));
    measure_outcome(planning, &made);
    keep_better(planning, best, has_best, &made, true);
done:
    pti_outcome_free(&made);
    return status;
}

/* Other mappings, where the best one does not fit. */

/** Say which memory is short, with a frame after the other. */
static polytile_status say_which_memory_is_short(pti_planning *planning, int *unit) {
    polytile_status status;
    pti_outcome made = {0};
    bool found = false;
    char needed[32], limit[32];
    PTI_TRY(schedule_mapping(planning, unit, 0, &made, &found));
    if (!found) {
        status =
            pti_fail(planning->ctx, POLYTILE_DECLARATION,
                     "%s: no schedule keeps to the depths that are given; leave depth= out, or "
                     "raise it",
                     planning->graph->dot->source);
        goto done;
    }
    int short_of = 0;
    for (int m = 0; m < planning->net.n_memories; m++)
        if (planning->machine->memory[m].limit_bytes > 0 &&
            made.memory_bytes[m] > planning->machine->memory[m].limit_bytes)
            short_of = m;
    const pti_machine_memory *memory = &planning->machine->memory[short_of];
    status = pti_fail(planning->ctx, POLYTILE_NO_FIT,
                      "%s: with a frame after the other, the channels on %s still need %s; it is "
                      "limited to %s; give it a larger memory, or cut the frames, or let units run "
                      "them in superblocks",
                      planning->graph->dot->source, memory->name,
                      polytile_size_format(made.memory_bytes[short_of], needed),
                      polytile_size_format(memory->limit_bytes, limit));
done:
    pti_outcome_free(&made);
    return status;
}

/** Replace a mapping by another one, if there is a better outcome with that. */
static polytile_status try_other(pti_planning *planning, int *other, pti_mapping *mapping,
                                 pti_outcome *best, bool *has_best) {
    polytile_status status;
    const pti_score before = *has_best ? score_of(best) : (pti_score){0};
    const bool had_best = *has_best;
    PTI_TRY(try_mapping(planning, other, best, has_best));
    const pti_score after = *has_best ? score_of(best) : (pti_score){0};
    if (*has_best && (!had_best || pti_score_is_better(planning->objective, &after, &before))) {
        for (int a = 0; a < pti_planned_net(planning)->n_actors; a++)
            mapping->unit[a] = other[a];
        mapping->is_exact = false;
        best->unit = mapping->unit;
    }
done:
    return status;
}

/** Try the mapping of the fewest bytes, and all free actors on each unit. */
static polytile_status try_others(pti_planning *planning, pti_mapping *mapping, pti_outcome *best,
                                  bool *has_best) {
    polytile_status status;
    pti_mapping small = {0};
    const pti_net *net = pti_planned_net(planning);
    const pti_found found = pti_mapping_find(net, PTI_OBJECTIVE_MEMORY, planning->allowed, &small);
    if (found == PTI_FOUND_NO_MEMORY)
        return pti_planning_fail_memory(planning);
    PTI_TRY(try_other(planning, small.unit, mapping, best, has_best));
    for (int u = 0; u < net->n_units; u++) {
        bool is_allowed = true;
        for (int a = 0; a < net->n_actors; a++) {
            small.unit[a] = net->fixed[a] >= 0 ? net->fixed[a] : u;
            is_allowed = is_allowed && planning->allowed[a * net->n_units + small.unit[a]];
        }
        if (is_allowed)
            PTI_TRY(try_other(planning, small.unit, mapping, best, has_best));
    }
    if (!*has_best)
        status = say_which_memory_is_short(planning, mapping->unit);
done:
    free(small.unit);
    return status;
}

/* Turns. */

/** Find the best mapping and schedule for the turns that are taken. */
static polytile_status choose_of_turns(pti_planning *planning, pti_mapping *mapping,
                                       pti_outcome *outcome) {
    polytile_status status;
    bool has_best = false;
    const pti_found found = pti_mapping_find(pti_planned_net(planning), planning->objective,
                                             planning->allowed, mapping);
    if (found != PTI_FOUND)
        return pti_planning_fail_memory(planning);
    PTI_TRY(try_mapping(planning, mapping->unit, outcome, &has_best));
    if (!has_best)
        PTI_TRY(try_others(planning, mapping, outcome, &has_best));
done:
    return status;
}

/** Return whether frames come faster, with rounds of several turns each. */
static bool is_faster(const pti_outcome *a, const pti_outcome *b) {
    return a->schedule.period * pti_n_turns(&b->expansion.tasks) <
           b->schedule.period * pti_n_turns(&a->expansion.tasks);
}

/** Plan with n_turns turns, and keep that if frames come faster. */
static polytile_status try_turns(pti_planning *planning, int n_turns, pti_mapping *mapping,
                                 pti_outcome *outcome) {
    polytile_status status;
    pti_planning with = *planning;
    pti_mapping mapped = {0};
    pti_outcome made = {0};
    with.round = (pti_net){0};
    PTI_TRY(pti_planning_take_turns(&with, n_turns));
    status = choose_of_turns(&with, &mapped, &made);
    if (status == POLYTILE_OK && is_faster(&made, outcome)) {
        const pti_net round = planning->round;
        const pti_mapping before_mapping = *mapping;
        const pti_outcome before = *outcome;
        planning->round = with.round;
        *mapping = mapped;
        mapping->is_exact = false;
        *outcome = made;
        with.round = round;
        mapped = before_mapping;
        made = before;
    }
    if (status == POLYTILE_NO_FIT) {
        pti_clear_error(planning->ctx);
        status = POLYTILE_OK;
    }
done:
    pti_outcome_free(&made);
    free(mapped.unit);
    pti_net_free(&with.round);
    return status;
}

/** Turns that are tried. */
enum { MOST_TURNS = 8 };

polytile_status pti_planning_choose(pti_planning *planning, pti_mapping *mapping,
                                    pti_outcome *outcome) {
    polytile_status status;
    PTI_TRY(pti_planning_take_turns(planning, planning->n_turns));
    PTI_TRY(choose_of_turns(planning, mapping, outcome));
    for (int n = 2;
         planning->in_turn && planning->objective == PTI_OBJECTIVE_PERIOD &&
         n <= pti_min(planning->net.n_units, MOST_TURNS) && n * planning->n_turns <= PTI_MAX_TURNS;
         n++)
        PTI_TRY(try_turns(planning, n * planning->n_turns, mapping, outcome));
    if (planning->strategy->is_sound &&
        pti_periodic_find_fault(&outcome->expansion.tasks, &outcome->schedule) != NULL)
        status = pti_fail(planning->ctx, POLYTILE_INTERNAL, "%s: the schedule is wrong: %s",
                          planning->graph->dot->source,
                          pti_periodic_find_fault(&outcome->expansion.tasks, &outcome->schedule));
done:
    return status;
}
