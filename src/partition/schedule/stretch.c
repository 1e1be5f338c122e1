#include "partition/schedule/stretch.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** The prologue, a turn or the epilogue. */
typedef enum part_kind { PROLOGUE, TURN, EPILOGUE } part_kind;

/** A part of a schedule's lists, each from a position on. */
typedef struct part {
    part_kind kind;
    int64_t first_op, n_ops;
    int64_t first_placement, n_placements;
    int64_t n_waits;
} part;

/** A stretch under construction. */
typedef struct maker {
    const pti_schedule *from;
    const pti_period *period;
    pti_schedule *to;
    int64_t *n_filled;   /* of each launch: superblocks before the current part; owned */
    int64_t *carried_at; /* of each carried piece: its placement, where the current turn finds it */
    part turn, epilogue;
    int64_t turns;        /* by which what is copied moves */
    int64_t op_at;        /* in the stretch: the first operation of the current part */
    int64_t placement_at; /* its first placement that is not of a carried piece */
} maker;

/** Positions of a list, and how many follow it. */
typedef struct section {
    int64_t first, n;
} section;

/** Which positions of a list are of a part; the period has n from first on. */
static section section_of(part_kind kind, int64_t list_first, int64_t n_list, int64_t first,
                          int64_t n) {
    const int64_t end = first + n;
    return kind == PROLOGUE ? (section){list_first, first - list_first}
           : kind == TURN   ? (section){first, n}
                            : (section){end, list_first + n_list - end};
}

/** The superblocks that a part has of a launch. */
static section superblocks_of(const pti_schedule *schedule, part_kind kind, int l) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const pti_period_launch *turn = &schedule->period.launch[l];
    return section_of(kind, launch->first_superblock, launch->n_superblocks, turn->first_superblock,
                      turn->n_superblocks);
}

static part part_of_schedule(const pti_schedule *schedule, part_kind kind) {
    const pti_period *period = &schedule->period;
    const section ops = section_of(kind, 0, schedule->n_ops, period->first_op, period->n_ops);
    const section placements =
        section_of(kind, 0, schedule->n_placements, period->first_placement, period->n_placements);
    part made = {kind, ops.first, ops.n, placements.first, placements.n, 0};
    for (int64_t k = ops.first; k < ops.first + ops.n; k++)
        made.n_waits += schedule->op[k].n_waits;
    return made;
}

static const pti_shift *shift_of_placement(const maker *of, int64_t placement) {
    return &of->period->array[of->from->placement[placement].operand];
}

/** Where the stretch has a placement that the current part names. */
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

static const pti_shift *shift_of_op(const pti_schedule *schedule, const pti_period *period,
                                    const pti_op *op) {
    return op->kind == PTI_LAUNCH ? &period->launch[op->launch].threads
                                  : &period->array[schedule->placement[op->placement].operand];
}

/** The superblock of an operation in the stretch; a move may be for one before or after it. */
static int64_t superblock_in_stretch(const maker *of, const part *at, const pti_op *op) {
    const pti_schedule_launch *launch = &of->to->launch[op->launch];
    const section list = superblocks_of(of->from, at->kind, op->launch);
    const int64_t number = of->n_filled[op->launch] + op->superblock - list.first;
    return launch->first_superblock + pti_max(0, pti_min(number, launch->n_superblocks - 1));
}

/** Add an operation with its waits; what is before the stretch is done. */
static void add_op(maker *of, const part *at, int64_t k) {
    const pti_op *op = &of->from->op[k];
    pti_op *made = &of->to->op[of->to->n_ops++];
    *made = *op;
    made->box = pti_box_moved(&op->box, shift_of_op(of->from, of->period, op), of->turns);
    made->superblock = superblock_in_stretch(of, at, op);
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

/** Add superblocks of a launch with their placements. */
static void add_superblocks(maker *of, const part *at, int l) {
    const section list = superblocks_of(of->from, at->kind, l);
    const int n_operands = of->from->launch[l].call.instance->n_operands;
    int64_t next = of->to->launch[l].first_superblock + of->n_filled[l];
    for (int64_t k = list.first; k < list.first + list.n; k++, next++) {
        const int64_t *placed = pti_schedule_placements(of->from, l, k);
        int64_t *made = pti_schedule_placements(of->to, l, next);
        for (int o = 0; o < n_operands; o++)
            made[o] = placement_in_stretch(of, at, placed[o]);
        of->to->superblock[next] =
            pti_box_moved(&of->from->superblock[k], &of->period->launch[l].threads, of->turns);
    }
}

/** Add a part of the lists, shifted by `turns` turns. */
static void add_part(maker *of, const part *at, int64_t turns) {
    const int64_t n_carried = of->carried_at == NULL ? 0 : of->period->n_carried;
    of->turns = turns;
    of->op_at = of->to->n_ops;
    of->placement_at = of->to->n_placements;
    for (int64_t p = n_carried; p < at->n_placements; p++)
        add_placement(of, at->first_placement + p);
    for (int l = 0; l < of->from->n_launches; l++)
        add_superblocks(of, at, l);
    for (int64_t k = at->first_op; k < at->first_op + at->n_ops; k++)
        add_op(of, at, k);
    for (int l = 0; l < of->from->n_launches; l++)
        of->n_filled[l] += superblocks_of(of->from, at->kind, l).n;
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

/** Name the launches of a stretch, with as many superblocks as it has of each. */
static bool name_launches(const pti_schedule *from, int64_t n_turns, part_kind other,
                          pti_schedule *made) {
    int n_operands = 0;
    made->launch = calloc((size_t)from->n_launches + 1, sizeof *made->launch);
    for (int l = 0; made->launch != NULL && l < from->n_launches; l++) {
        pti_schedule_launch *launch = &made->launch[l];
        const int64_t n_of_turns = n_turns * superblocks_of(from, TURN, l).n;
        *launch = from->launch[l];
        launch->first_superblock = made->n_superblocks;
        launch->first_placement = made->n_launch_placements;
        launch->n_superblocks = n_of_turns + (other == TURN ? 0 : superblocks_of(from, other, l).n);
        made->n_superblocks += launch->n_superblocks;
        made->n_launch_placements += launch->n_superblocks * launch->call.instance->n_operands;
        n_operands += launch->call.instance->n_operands;
    }
    made->launch_array = calloc((size_t)n_operands + 1, sizeof *made->launch_array);
    if (made->launch == NULL || made->launch_array == NULL)
        return false;
    memcpy(made->launch_array, from->launch_array, (size_t)n_operands * sizeof *made->launch_array);
    for (int l = 0; l < from->n_launches; l++)
        made->launch[l].call.array =
            made->launch_array + (from->launch[l].call.array - from->launch_array);
    return true;
}

/** What is known of the arrays; that nobody wrote elements is known before the prologue alone. */
static bool name_states(const pti_schedule *from, bool is_prologue, pti_schedule *made) {
    const size_t n_arrays = (size_t)from->instance->n_operands;
    bool failed = false;
    if (from->dropped != NULL) {
        made->dropped = calloc(n_arrays + 1, sizeof *made->dropped);
        failed = made->dropped == NULL;
        if (!failed)
            memcpy(made->dropped, from->dropped, n_arrays * sizeof *made->dropped);
    }
    if (from->unwritten != NULL && is_prologue) {
        made->unwritten = calloc(n_arrays + 1, sizeof *made->unwritten);
        failed = failed || made->unwritten == NULL;
        for (size_t a = 0; a < n_arrays && made->unwritten != NULL; a++) {
            pti_boxes_copy(&made->unwritten[a], &from->unwritten[a]);
            failed = failed || made->unwritten[a].failed;
        }
    }
    return !failed;
}

/** Allocate lists that are long enough for turns, and the operations of another part. */
static bool allocate_stretch_lists(const maker *of, int64_t n_turns, const part *other) {
    pti_schedule *made = of->to;
    const part *turn = &of->turn;
    const size_t n_ops = (size_t)(n_turns * turn->n_ops + other->n_ops + 1);
    const size_t n_waits = (size_t)(n_turns * turn->n_waits + other->n_waits + 1);
    const size_t n_placements =
        (size_t)(of->period->n_carried + n_turns * turn->n_placements + other->n_placements + 1);
    const size_t n_superblocks = (size_t)made->n_superblocks + 1;
    const size_t n_launch_placements = (size_t)made->n_launch_placements + 1;
    made->op = malloc(n_ops * sizeof *made->op);
    made->wait = malloc(n_waits * sizeof *made->wait);
    made->superblock = malloc(n_superblocks * sizeof *made->superblock);
    made->placement = malloc(n_placements * sizeof *made->placement);
    made->launch_placement = malloc(n_launch_placements * sizeof *made->launch_placement);
    return made->op != NULL && made->wait != NULL && made->superblock != NULL &&
           made->placement != NULL && made->launch_placement != NULL;
}

static bool make_parts(maker *of, const pti_stretch *stretch) {
    static const part nothing = {.kind = TURN};
    const part prologue = part_of_schedule(of->from, PROLOGUE);
    const part *other = stretch->is_prologue ? &prologue
                        : stretch->is_last   ? &of->epilogue
                                             : &nothing;
    const int64_t n_turns = stretch->end_turn - stretch->first_turn;
    if (of->n_filled == NULL || !name_launches(of->from, n_turns, other->kind, of->to) ||
        !name_states(of->from, stretch->is_prologue, of->to) ||
        !allocate_stretch_lists(of, n_turns, other))
        return false;
    return stretch->is_prologue ? make_prologue(of, &prologue) : make_turns(of, stretch);
}

pti_schedule *pti_stretch_make(const pti_schedule *schedule, const pti_stretch *stretch) {
    maker of = {.from = schedule,
                .period = &schedule->period,
                .to = calloc(1, sizeof *of.to),
                .n_filled = calloc((size_t)schedule->n_launches + 1, sizeof *of.n_filled),
                .turn = part_of_schedule(schedule, TURN),
                .epilogue = part_of_schedule(schedule, EPILOGUE)};
    if (of.to != NULL)
        *of.to = (pti_schedule){.instance = schedule->instance,
                                .n_launches = schedule->n_launches,
                                .limit_bytes = schedule->limit_bytes,
                                .arena_bytes = schedule->arena_bytes,
                                .n_lanes = schedule->n_lanes};
    const bool made = of.to != NULL && make_parts(&of, stretch);
    free(of.n_filled);
    if (made)
        return of.to;
    pti_schedule_free(of.to);
    return NULL;
}

int64_t pti_stretch_turns(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    if (schedule->n_launches > 1)
        return 1;
    const int64_t most = pti_max(1, PTI_STRETCH_SUPERBLOCKS / pti_max(1, period->n_kernels));
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
        op->box = pti_box_moved(&op->box, shift_of_op(made, period, op), turns);
    }
    for (int l = 0; l < made->n_launches; l++) {
        polytile_domain *threads = &made->superblock[made->launch[l].first_superblock];
        for (int64_t k = 0; k < made->launch[l].n_superblocks; k++)
            threads[k] = pti_box_moved(&threads[k], &period->launch[l].threads, turns);
    }
    for (int64_t p = 0; p < made->n_placements; p++) {
        polytile_domain *hull = &made->placement[p].layout.hull;
        *hull = pti_box_moved(hull, &period->array[made->placement[p].operand], turns);
    }
    move_holdings(made, made->before, made->n_before, period->array, turns);
    move_holdings(made, made->after, made->n_after, period->array, turns);
}

/** Make the stretch after the current one, or make that one of it. */
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
