#include "partition/prove/period.h"

#include "base/checked.h"

#include <stdlib.h>

void pti_stretch_states_free(pti_stretch_state *states, int n_arrays) {
    for (int a = 0; states != NULL && a < n_arrays; a++) {
        pti_boxes_free(&states[a].unwritten);
        pti_boxes_free(&states[a].lost);
    }
    free(states);
}

static int axis_of_array(const pti_schedule *schedule, int array) {
    return pti_axis_of_shift(&schedule->period.array[array],
                             schedule->instance->operand[array].domain.n_dims);
}

static void extend_rows(polytile_range *rows, int64_t lo, int64_t hi) {
    rows->lo = pti_min(rows->lo, lo);
    rows->hi = pti_max(rows->hi, hi);
}

/** Extend rows by all that a launch's threads touch, ends of the array aside. */
static void extend_by_launch(const pti_call *call, int array, int axis,
                             const polytile_domain *threads, polytile_range *rows) {
    for (int s = 0; s < call->instance->n_sections; s++) {
        const pti_section *section = &call->instance->section[s];
        const pti_subscript *along = &section->subscript[axis];
        if (call->array[section->operand] == array)
            extend_rows(rows, pti_value_at_corner(&along->lo, threads, false),
                        pti_value_at_corner(&along->hi, threads, true));
    }
}

/** Where a flat schedule uses an array, or holds something of it before. */
static polytile_range find_used_rows(const pti_schedule *schedule, int array, int axis) {
    polytile_range rows = {INT64_MAX, INT64_MIN, 1};
    for (int64_t k = 0; k < schedule->n_ops && axis >= 0; k++) {
        const pti_op *op = &schedule->op[k];
        if (op->kind == PTI_LAUNCH)
            extend_by_launch(&schedule->launch[op->launch].call, array, axis, &op->box, &rows);
        else if (schedule->placement[op->placement].operand == array)
            extend_rows(&rows, op->box.range[axis].lo, op->box.range[axis].hi);
    }
    for (int k = 0; k < schedule->n_before && axis >= 0; k++) {
        const pti_holding *holding = &schedule->before[k];
        const bool is_of_array = schedule->placement[holding->placement].operand == array;
        for (int b = 0; b < holding->valid.n_boxes && is_of_array; b++)
            extend_rows(&rows, holding->valid.box[b].range[axis].lo,
                        holding->valid.box[b].range[axis].hi);
    }
    return rows;
}

/** What is newer than the host's and goes on nowhere is lost, of arrays that are dropped. */
static void take_state(const pti_replay *replay, int array, pti_stretch_state *state) {
    const pti_operand_state *known = &replay->operand[array];
    pti_boxes_copy(&state->unwritten, &known->unwritten);
    pti_boxes_copy(&state->lost, &known->lost);
    for (int64_t r = known->first_resident; r >= 0; r = replay->resident[r].next)
        pti_boxes_unite(&state->lost, &replay->resident[r].content[PTI_DIRTY], pti_boxes_attach);
}

pti_stretch_state *pti_array_states_of(const pti_replay *replay, const pti_period *period) {
    const int n_arrays = replay->instance->n_operands;
    pti_stretch_state *states = calloc((size_t)n_arrays + 1, sizeof *states);
    bool failed = states == NULL;
    for (int a = 0; a < n_arrays && !failed; a++) {
        const int n_dims = replay->instance->operand[a].domain.n_dims;
        take_state(replay, a, &states[a]);
        states[a].rows =
            find_used_rows(replay->schedule, a, pti_axis_of_shift(&period->array[a], n_dims));
        failed = states[a].unwritten.failed || states[a].lost.failed;
    }
    if (!failed)
        return states;
    pti_stretch_states_free(states, n_arrays);
    return NULL;
}

bool pti_array_states_give(const pti_stretch_state *states, pti_schedule *stretch) {
    const int n_arrays = stretch->instance->n_operands;
    bool failed = false;
    stretch->unwritten = calloc((size_t)n_arrays + 1, sizeof *stretch->unwritten);
    for (int a = 0; stretch->unwritten != NULL && a < n_arrays; a++) {
        pti_boxes_copy(&stretch->unwritten[a], &states[a].unwritten);
        failed = failed || stretch->unwritten[a].failed;
    }
    return stretch->unwritten != NULL && !failed;
}

/** n stretches of turns, which move what is known of an array on along an axis. */
typedef struct state_step {
    const polytile_domain *array;
    int axis;
    int64_t by, n;       /* a stretch moves by; how many there are */
    polytile_range rows; /* of the first */
} state_step;

static void clip_rows(const state_step *step, pti_boxes *set, int64_t lo, int64_t hi) {
    polytile_domain clip = *step->array;
    clip.range[step->axis].lo = pti_max(clip.range[step->axis].lo, lo);
    clip.range[step->axis].hi = pti_min(clip.range[step->axis].hi, hi);
    if (clip.range[step->axis].lo > clip.range[step->axis].hi)
        pti_boxes_clear(set);
    else
        pti_boxes_clip(set, &clip);
}

static void shift_rows(const state_step *step, pti_boxes *set, int64_t by) {
    pti_shift shift = {{0}};
    shift.by[step->axis] = by;
    pti_boxes_move(set, &shift, 1);
}

/** Where later stretches come for the first time a set is the same in all rows. */
static bool is_even_ahead(const state_step *step, const pti_boxes *set) {
    const int64_t lo = step->rows.hi + 1, hi = step->rows.hi + (step->n - 1) * step->by;
    bool is = true;
    for (int k = 0; k < set->n_boxes && lo <= hi; k++) {
        const polytile_range *range = &set->box[k].range[step->axis];
        const bool is_apart = range->hi < lo || range->lo > hi;
        is = is && (is_apart || (range->lo <= lo && range->hi >= hi && range->step == 1));
    }
    return is;
}

/** The first stretch leads from a set to the same shifted, where the second one is. */
static bool does_move(const state_step *step, const pti_boxes *before, const pti_boxes *after) {
    pti_boxes from = {0}, to = {0};
    pti_boxes_copy(&from, before);
    pti_boxes_copy(&to, after);
    clip_rows(step, &from, step->rows.lo, step->rows.hi);
    shift_rows(step, &from, step->by);
    clip_rows(step, &to, step->rows.lo + step->by, step->rows.hi + step->by);
    const bool does = pti_boxes_are_equal(&from, &to) && !from.failed && !to.failed;
    pti_boxes_free(&from);
    pti_boxes_free(&to);
    return does;
}

/** What is known after the last stretch: what the first one left, shifted, and ahead of that what
 * was there from the beginning. */
static bool go_to_last(const state_step *step, const pti_boxes *before, pti_boxes *after) {
    const int64_t by = (step->n - 1) * step->by;
    pti_boxes ahead = {0};
    pti_boxes_copy(&ahead, before);
    clip_rows(step, &ahead, step->rows.hi + by + 1, INT64_MAX);
    clip_rows(step, after, step->rows.lo, step->rows.hi);
    shift_rows(step, after, by);
    pti_boxes_unite(after, &ahead, pti_boxes_attach);
    const bool done = !ahead.failed && !after->failed;
    pti_boxes_free(&ahead);
    return done;
}

static bool check_set(const state_step *step, const pti_boxes *before, pti_boxes *after) {
    if (step->axis < 0 || step->rows.lo > step->rows.hi)
        return pti_boxes_are_equal(before, after);
    return is_even_ahead(step, before) && does_move(step, before, after) &&
           go_to_last(step, before, after);
}

bool pti_check_states_move(const pti_schedule *schedule, int64_t n_turns, int64_t n,
                           const pti_stretch_state *before, pti_stretch_state *after,
                           pti_text *why) {
    bool holds = true;
    for (int a = 0; a < schedule->instance->n_operands && holds && n > 1; a++) {
        const int axis = axis_of_array(schedule, a);
        const state_step step = {&schedule->instance->operand[a].domain, axis,
                                 axis < 0 ? 0 : n_turns * schedule->period.array[a].by[axis], n,
                                 after[a].rows};
        holds = (check_set(&step, &before[a].unwritten, &after[a].unwritten) &&
                 check_set(&step, &before[a].lost, &after[a].lost)) ||
                PTI_REJECT(why, "what nobody wrote of %s, or is lost, does not move on with turns",
                           schedule->instance->operand[a].name);
    }
    return holds;
}

bool pti_check_last_rows(const pti_schedule *schedule, int64_t turns,
                         const pti_stretch_state *before, const pti_stretch_state *last,
                         pti_text *why) {
    bool holds = true;
    for (int a = 0; a < schedule->instance->n_operands && holds; a++) {
        const int axis = axis_of_array(schedule, a);
        holds = axis < 0 || last[a].rows.lo > last[a].rows.hi ||
                before[a].rows.lo > before[a].rows.hi ||
                last[a].rows.lo >= before[a].rows.lo + turns * schedule->period.array[a].by[axis] ||
                PTI_REJECT(why, "the epilogue goes back to rows of %s that turns have left behind",
                           schedule->instance->operand[a].name);
    }
    return holds;
}
