#include "partition/schedule/stretch.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** A part of a schedule's lists, each from a position on. */
typedef struct part {
    int64_t first_op, n_ops;
    int64_t first_superblock, n_superblocks;
    int64_t first_placement, n_placements;
    int64_t n_waits;
} part;

/** A stretch under construction. */
typedef struct maker {
    const pti_schedule *from;
    const pti_period *period;
    pti_schedule *to;
    int64_t *carried_at; /* of each carried piece: its placement, where the turn at hand finds it */
    part turn, epilogue;
    int64_t turns;        /* by which what is copied moves on */
    int64_t op_at;        /* in the stretch: the first operation of the part at hand */
    int64_t placement_at; /* its first placement that is not of a carried piece */
} maker;

static int64_t count_waits(const pti_schedule *schedule, int64_t first, int64_t n) {
    int64_t n_waits = 0;
    for (int64_t k = first; k < first + n; k++)
        n_waits += schedule->op[k].n_waits;
    return n_waits;
}

/** What a schedule's lists have from some positions up to others. */
static part part_between(const pti_schedule *schedule, const int64_t from[3],
                         const int64_t end[3]) {
    part made = {.first_op = from[0],
                 .n_ops = end[0] - from[0],
                 .first_superblock = from[1],
                 .n_superblocks = end[1] - from[1],
                 .first_placement = from[2],
                 .n_placements = end[2] - from[2]};
    made.n_waits = count_waits(schedule, made.first_op, made.n_ops);
    return made;
}

static part prologue_of(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    return part_between(
        schedule, (int64_t[]){0, 0, 0},
        (int64_t[]){period->first_op, period->first_superblock, period->first_placement});
}

static part turn_of(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    return part_between(
        schedule, (int64_t[]){period->first_op, period->first_superblock, period->first_placement},
        (int64_t[]){period->first_op + period->n_ops,
                    period->first_superblock + period->n_superblocks,
                    period->first_placement + period->n_placements});
}

static part epilogue_of(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    return part_between(
        schedule,
        (int64_t[]){period->first_op + period->n_ops,
                    period->first_superblock + period->n_superblocks,
                    period->first_placement + period->n_placements},
        (int64_t[]){schedule->n_ops, schedule->n_superblocks, schedule->n_placements});
}

static const pti_shift *shift_of_placement(const maker *of, int64_t placement) {
    return &of->period->array[of->from->placement[placement].operand];
}

/** Where the stretch has a placement that the part at hand names. */
static int64_t placement_in_stretch(const maker *of, const part *at, int64_t placement) {
    const int64_t k = placement - at->first_placement;
    if (placement < 0 || of->carried_at == NULL)
        return placement;
    return k < of->period->n_carried ? of->carried_at[k]
                                     : of->placement_at + k - of->period->n_carried;
}

static void add_placement(maker *of, int64_t placement) {
    pti_placement *made = &of->to->placement[of->to->n_placements++];
    *made = of->from->placement[placement];
    made->layout.hull =
        pti_box_moved(&made->layout.hull, shift_of_placement(of, placement), of->turns);
}

/** Add an operation with its waits; what is before the stretch is done. */
static void add_op(maker *of, const part *at, int64_t superblock_at, int64_t k) {
    const pti_op *op = &of->from->op[k];
    pti_op *made = &of->to->op[of->to->n_ops++];
    const pti_shift *shift =
        op->kind == PTI_LAUNCH ? &of->period->threads : shift_of_placement(of, op->placement);
    *made = *op;
    made->box = pti_box_moved(&op->box, shift, of->turns);
    made->superblock = pti_max(0, superblock_at + op->superblock - at->first_superblock);
    made->placement = placement_in_stretch(of, at, op->placement);
    made->source_placement = placement_in_stretch(of, at, op->source_placement);
    made->first_wait = of->to->n_waits;
    made->n_waits = 0;
    for (int w = 0; w < op->n_waits; w++) {
        const int64_t other = of->op_at + of->from->wait[op->first_wait + w] - at->first_op;
        if (other < 0)
            continue;
        of->to->wait[of->to->n_waits++] = other;
        made->n_waits++;
    }
}

/** Add superblocks with their placements. */
static void add_superblocks(maker *of, const part *at) {
    const int n_operands = of->from->launch[0].call.instance->n_operands;
    for (int64_t k = at->first_superblock; k < at->first_superblock + at->n_superblocks; k++) {
        const int64_t *placed = pti_schedule_placements(of->from, 0, k);
        int64_t *made = of->to->launch_placement + of->to->n_superblocks * n_operands;
        for (int o = 0; o < n_operands; o++)
            made[o] = placement_in_stretch(of, at, placed[o]);
        of->to->superblock[of->to->n_superblocks++] =
            pti_box_moved(&of->from->superblock[k], &of->period->threads, of->turns);
    }
}

/** Add a part of the lists, moved on by so many turns. */
static void add_part(maker *of, const part *at, int64_t turns) {
    const int64_t superblock_at = of->to->n_superblocks;
    const int64_t n_carried = of->carried_at == NULL ? 0 : of->period->n_carried;
    of->turns = turns;
    of->op_at = of->to->n_ops;
    of->placement_at = of->to->n_placements;
    for (int64_t p = n_carried; p < at->n_placements; p++)
        add_placement(of, at->first_placement + p);
    add_superblocks(of, at);
    for (int64_t k = at->first_op; k < at->first_op + at->n_ops; k++)
        add_op(of, at, superblock_at, k);
}

/** Hand the carried pieces on to the next turn. */
static bool carry_on(maker *of) {
    const size_t n = (size_t)of->period->n_carried;
    int64_t *next = malloc((n + 1) * sizeof *next);
    for (size_t k = 0; next != NULL && k < n; k++)
        next[k] = placement_in_stretch(of, &of->turn, of->period->carried[k].left);
    if (next != NULL)
        memcpy(of->carried_at, next, n * sizeof *next);
    free(next);
    return next != NULL;
}

/** List what is held at placements, after some turns; false when memory runs out. */
static bool hold_carried(const maker *of, const int64_t *at, int64_t turns, pti_holding **holdings,
                         int *n_holdings) {
    const pti_period *period = of->period;
    bool failed = false;
    *holdings = calloc((size_t)period->n_carried + 1, sizeof **holdings);
    for (int k = 0; *holdings != NULL && k < period->n_carried; k++, ++*n_holdings) {
        pti_holding *made = &(*holdings)[k];
        const pti_carried *carried = &period->carried[k];
        const pti_shift *shift = shift_of_placement(of, period->first_placement + k);
        made->placement = at == NULL ? carried->first : at[k];
        pti_boxes_copy(&made->valid, &carried->valid);
        pti_boxes_copy(&made->dirty, &carried->dirty);
        pti_boxes_move(&made->valid, shift, turns);
        pti_boxes_move(&made->dirty, shift, turns);
        failed |= made->valid.failed || made->dirty.failed;
    }
    return *holdings != NULL && !failed;
}

static void find_carried(maker *of, int64_t turns) {
    of->turns = turns;
    for (int k = 0; k < of->period->n_carried; k++) {
        of->carried_at[k] = of->to->n_placements;
        add_placement(of, of->period->first_placement + k);
    }
}

static bool make_turns(maker *of, const pti_stretch *stretch) {
    of->carried_at = malloc(((size_t)of->period->n_carried + 1) * sizeof *of->carried_at);
    if (of->carried_at == NULL)
        return false;
    find_carried(of, stretch->first_turn);
    bool made =
        hold_carried(of, of->carried_at, stretch->first_turn, &of->to->before, &of->to->n_before);
    for (int64_t t = stretch->first_turn; made && t < stretch->end_turn; t++) {
        add_part(of, &of->turn, t);
        made = carry_on(of);
    }
    if (stretch->is_last)
        add_part(of, &of->epilogue, 0);
    else
        made = made && hold_carried(of, of->carried_at, stretch->end_turn, &of->to->after,
                                    &of->to->n_after);
    free(of->carried_at);
    return made;
}

static bool make_prologue(maker *of, const part *prologue) {
    add_part(of, prologue, 0);
    return hold_carried(of, NULL, 0, &of->to->after, &of->to->n_after);
}

/** Allocate lists that are long enough for parts of a stretch. */
static pti_schedule *new_stretch(const pti_schedule *from, int64_t n_turns, const part *turn,
                                 const part *other) {
    const int n_operands = from->launch[0].call.instance->n_operands;
    const size_t n_ops = (size_t)(n_turns * turn->n_ops + other->n_ops + 1);
    const size_t n_waits = (size_t)(n_turns * turn->n_waits + other->n_waits + 1);
    const size_t n_superblocks = (size_t)(n_turns * turn->n_superblocks + other->n_superblocks + 1);
    const size_t n_placements =
        (size_t)(from->period.n_carried + n_turns * turn->n_placements + other->n_placements + 1);
    pti_schedule *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (pti_schedule){.instance = from->instance,
                           .n_launches = 1,
                           .limit_bytes = from->limit_bytes,
                           .arena_bytes = from->arena_bytes,
                           .n_lanes = from->n_lanes};
    made->launch = calloc(2, sizeof *made->launch);
    made->launch_array = calloc((size_t)n_operands + 1, sizeof *made->launch_array);
    made->op = malloc(n_ops * sizeof *made->op);
    made->wait = malloc(n_waits * sizeof *made->wait);
    made->superblock = malloc(n_superblocks * sizeof *made->superblock);
    made->placement = malloc(n_placements * sizeof *made->placement);
    made->launch_placement =
        malloc(n_superblocks * ((size_t)n_operands + 1) * sizeof *made->launch_placement);
    if (made->launch != NULL && made->launch_array != NULL && made->op != NULL &&
        made->wait != NULL && made->superblock != NULL && made->placement != NULL &&
        made->launch_placement != NULL)
        return made;
    pti_schedule_free(made);
    return NULL;
}

/** Let a stretch be a part of its schedule's launch. */
static void name_launch(const pti_schedule *from, pti_schedule *made) {
    const pti_call *call = &from->launch[0].call;
    memcpy(made->launch_array, call->array,
           (size_t)call->instance->n_operands * sizeof *made->launch_array);
    made->launch[0] = (pti_schedule_launch){.call = {call->instance, made->launch_array},
                                            .n_superblocks = made->n_superblocks};
    made->n_launch_placements = made->n_superblocks * call->instance->n_operands;
}

pti_schedule *pti_stretch_make(const pti_schedule *schedule, const pti_stretch *stretch) {
    static const part nothing;
    const part prologue = prologue_of(schedule);
    maker of = {.from = schedule,
                .period = &schedule->period,
                .turn = turn_of(schedule),
                .epilogue = epilogue_of(schedule)};
    const part *other = stretch->is_prologue ? &prologue
                        : stretch->is_last   ? &of.epilogue
                                             : &nothing;
    of.to = new_stretch(schedule, stretch->end_turn - stretch->first_turn, &of.turn, other);
    if (of.to == NULL)
        return NULL;
    const bool made =
        stretch->is_prologue ? make_prologue(&of, &prologue) : make_turns(&of, stretch);
    name_launch(schedule, of.to);
    if (made)
        return of.to;
    pti_schedule_free(of.to);
    return NULL;
}

int64_t pti_stretch_turns(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    const int64_t most = pti_max(1, PTI_STRETCH_SUPERBLOCKS / pti_max(1, period->n_superblocks));
    return period->times / pti_ceil_div(period->times, most);
}

pti_stretch_walk pti_stretch_walk_begin(const pti_schedule *schedule) {
    return (pti_stretch_walk){.schedule = schedule};
}

/** The stretch after one. */
static pti_stretch stretch_after(const pti_stretch_walk *walk) {
    const int64_t first = walk->stretch.end_turn, times = walk->schedule->period.times;
    const int64_t end = first + pti_stretch_turns(walk->schedule);
    if (walk->n_stretches == 0)
        return (pti_stretch){.is_prologue = true};
    if (end > times)
        return (pti_stretch){.first_turn = first, .end_turn = times, .is_last = true};
    return (pti_stretch){.first_turn = first, .end_turn = end};
}

static void move_holdings(const pti_schedule *made, pti_holding *holdings, int n_holdings,
                          const pti_shift *arrays, int64_t turns) {
    for (int k = 0; k < n_holdings; k++) {
        const pti_shift *shift = &arrays[made->placement[holdings[k].placement].operand];
        pti_boxes_move(&holdings[k].valid, shift, turns);
        pti_boxes_move(&holdings[k].dirty, shift, turns);
    }
}

/** Move a stretch of turns on, which is the one after it then. */
static void move_stretch(const pti_period *period, pti_schedule *made, int64_t turns) {
    for (int64_t k = 0; k < made->n_ops; k++) {
        pti_op *op = &made->op[k];
        const pti_shift *shift = op->kind == PTI_LAUNCH
                                     ? &period->threads
                                     : &period->array[made->placement[op->placement].operand];
        op->box = pti_box_moved(&op->box, shift, turns);
    }
    for (int64_t k = 0; k < made->n_superblocks; k++)
        made->superblock[k] = pti_box_moved(&made->superblock[k], &period->threads, turns);
    for (int64_t p = 0; p < made->n_placements; p++) {
        polytile_domain *hull = &made->placement[p].layout.hull;
        *hull = pti_box_moved(hull, &period->array[made->placement[p].operand], turns);
    }
    move_holdings(made, made->before, made->n_before, period->array, turns);
    move_holdings(made, made->after, made->n_after, period->array, turns);
}

/** Make the stretch after the one at hand, or make that one of it. */
static void make_next(pti_stretch_walk *walk) {
    const pti_stretch before = walk->stretch;
    const bool is_of_turns = walk->made != NULL && !before.is_prologue;
    walk->stretch = stretch_after(walk);
    if (is_of_turns && !walk->stretch.is_last) {
        move_stretch(&walk->schedule->period, walk->made, before.end_turn - before.first_turn);
        return;
    }
    pti_schedule_free(walk->made);
    walk->made = pti_stretch_make(walk->schedule, &walk->stretch);
    walk->failed = walk->made == NULL;
}

const pti_schedule *pti_stretch_walk_next(pti_stretch_walk *walk) {
    const bool is_flat = walk->schedule->period.times == 0;
    const bool is_over = is_flat ? walk->n_stretches > 0 : walk->stretch.is_last;
    if (walk->made != NULL)
        walk->n_kernels_before += walk->made->n_superblocks;
    if (is_over || walk->failed)
        return NULL;
    if (!is_flat)
        make_next(walk);
    walk->n_stretches++;
    return is_flat ? walk->schedule : walk->made;
}

void pti_stretch_walk_end(pti_stretch_walk *walk) {
    pti_schedule_free(walk->made);
    walk->made = NULL;
}
