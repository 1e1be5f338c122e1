#include "partition/arena/turn.h"

#include "access/footprint/moved.h"

#include <stdlib.h>

static int count_states(const pti_arena_builder *of) {
    return of->arena.instance->n_operands * of->n_strips;
}

/** Return the cells of an operand; regions are cells of all operands. */
static int count_cells(const pti_arena *arena, int operand) {
    if (arena->is_kept[operand])
        return 1;
    return arena->division.by_cells ? arena->division.n_cells[operand]
                                    : arena->partition->n_buffers;
}

static int count_all_cells(const pti_arena *arena) {
    int n_cells = 0;
    for (int a = 0; a < arena->instance->n_operands; a++)
        n_cells += count_cells(arena, a);
    return n_cells;
}

static const pti_shift *shift_of_state(const pti_arena_builder *of, int state) {
    return &of->builder.schedule->period.array[state / of->n_strips];
}

/** Let an operand's piece be found at a placement of the turn's own, shifted by some turns. */
static void place_moved(pti_arena_builder *of, int state, int64_t turns) {
    pti_piece_state *at = &of->state[state];
    const pti_shift *shift = shift_of_state(of, state);
    if (of->builder.failed)
        return;
    at->placement = pti_builder_place_moved(&of->builder, at->placement, shift, turns);
    at->hull = pti_box_moved(&at->hull, shift, turns);
    pti_boxes_move(&at->valid, shift, turns);
    pti_boxes_move(&at->dirty, shift, turns);
}

/** Carry a resident piece into the period. */
static void carry_piece(pti_arena_builder *of, int state, pti_piece_mark *mark) {
    pti_period *period = &of->builder.schedule->period;
    pti_piece_state *at = &of->state[state];
    pti_carried *carried = &period->carried[period->n_carried];
    mark->carried = period->n_carried++;
    mark->placement = of->builder.schedule->placement[at->placement];
    carried->first = at->placement;
    pti_boxes_copy(&carried->valid, &at->valid);
    pti_boxes_copy(&carried->dirty, &at->dirty);
    of->builder.failed |= carried->valid.failed || carried->dirty.failed;
    place_moved(of, state, 0);
}

static void note_users(const pti_arena *arena, pti_last *users) {
    for (int a = 0; a < arena->instance->n_operands; a++)
        for (int c = 0; c < count_cells(arena, a); c++)
            *users++ = arena->operand_cells[a][c].users;
}

/** Memory for what the period and its turn hold; false when memory runs out. */
static bool allocate_turn(pti_arena_builder *of, pti_turn *turn) {
    const size_t n_states = (size_t)count_states(of);
    pti_period *period = &of->builder.schedule->period;
    turn->piece = calloc(n_states + 1, sizeof *turn->piece);
    turn->users = calloc((size_t)count_all_cells(&of->arena) + 1, sizeof *turn->users);
    period->array = calloc((size_t)of->arena.instance->n_operands + 1, sizeof *period->array);
    period->carried = calloc(n_states + 1, sizeof *period->carried);
    period->launch = calloc(2, sizeof *period->launch);
    period->n_launches = 1;
    return turn->piece != NULL && turn->users != NULL && period->array != NULL &&
           period->carried != NULL && period->launch != NULL;
}

/** Return the threads from the first superblock of a partition to its last. */
static polytile_domain turns_of(const pti_partition *partition) {
    const pti_repeat *repeat = &partition->repeat;
    polytile_domain threads = partition->superblock[repeat->first];
    for (int64_t k = repeat->first; k < repeat->first + repeat->n; k++) {
        const polytile_domain last =
            pti_box_moved(&partition->superblock[k], &repeat->shift, repeat->times - 1);
        threads = pti_box_bounding(&threads, &partition->superblock[k]);
        threads = pti_box_bounding(&threads, &last);
    }
    return threads;
}

void pti_turn_begin(pti_arena_builder *of, pti_turn *turn) {
    pti_schedule *schedule = of->builder.schedule;
    const pti_partition *partition = of->arena.partition;
    const polytile_domain threads = turns_of(partition);
    pti_period *period = &schedule->period;
    if (!allocate_turn(of, turn)) {
        of->builder.failed = true;
        return;
    }
    if (!pti_instance_find_shifts(of->arena.instance, &threads, &partition->repeat.shift,
                                  period->array))
        pti_builder_give_up(&of->builder);
    period->first_op = schedule->n_ops;
    period->first_kernel = partition->repeat.first;
    period->first_placement = schedule->n_placements;
    period->launch[0].first_superblock = partition->repeat.first;
    period->launch[0].threads = partition->repeat.shift;
    note_users(&of->arena, turn->users);
    for (int p = 0; p < count_states(of) && !of->builder.failed; p++) {
        turn->piece[p] = (pti_piece_mark){.state = of->state[p], .carried = -1};
        if (of->state[p].placement >= 0)
            carry_piece(of, p, &turn->piece[p]);
    }
}

/** Return whether the last operations that have to do with something are those of the turn before,
 * shifted, from position `first` on; or were done before that turn. */
static bool last_moves(const pti_period *period, const pti_last *before, const pti_last *after,
                       int64_t first) {
    bool moves = true;
    for (int s = 0; s < PTI_MAX_STREAMS; s++) {
        const int64_t old = pti_last_on(before, s), now = pti_last_on(after, s);
        const bool is_done = now == old && old < period->first_op - period->n_ops;
        moves = moves && (is_done || (now == old + period->n_ops && now >= first));
    }
    return moves;
}

static bool placement_moves(const pti_placement *before, const pti_placement *after,
                            const pti_shift *shift) {
    const polytile_domain moved = pti_box_moved(&before->layout.hull, shift, 1);
    bool moves = before->operand == after->operand && before->offset_bytes == after->offset_bytes &&
                 before->layout.size_bytes == after->layout.size_bytes &&
                 pti_box_equals(&moved, &after->layout.hull);
    for (int d = 0; d < moved.n_dims; d++)
        moves = moves && before->layout.stride_bytes[d] == after->layout.stride_bytes[d];
    return moves;
}

/** Return whether a turn leaves an operand's piece as it found it, shifted. `before` may differ by
 * a turn: launches on the piece have waited for it, so those that follow in their stream need not.
 */
static bool piece_moves(const pti_arena_builder *of, int state, const pti_piece_mark *mark) {
    const pti_schedule *schedule = of->builder.schedule;
    const pti_piece_state *at = &of->state[state];
    const pti_shift *shift = shift_of_state(of, state);
    if (mark->carried < 0 || at->placement < 0)
        return mark->carried < 0 && at->placement < 0 && at->cell == mark->state.cell;
    const pti_period *period = &schedule->period;
    const pti_carried *carried = &period->carried[mark->carried];
    return at->cell == mark->state.cell &&
           placement_moves(&mark->placement, &schedule->placement[at->placement], shift) &&
           pti_boxes_are_moved(&at->valid, &carried->valid, shift) &&
           pti_boxes_are_moved(&at->dirty, &carried->dirty, shift) &&
           last_moves(period, &mark->state.writers, &at->writers, period->first_op) &&
           last_moves(period, &mark->state.before, &at->before, period->first_op - period->n_ops);
}

static bool users_move(const pti_arena_builder *of, const pti_last *users) {
    const pti_arena *arena = &of->arena;
    const pti_period *period = &of->builder.schedule->period;
    bool move = true;
    for (int a = 0; a < arena->instance->n_operands; a++)
        for (int c = 0; c < count_cells(arena, a); c++)
            move =
                last_moves(period, users++, &arena->operand_cells[a][c].users, period->first_op) &&
                move;
    return move;
}

static bool state_moves(const pti_arena_builder *of, const pti_turn *turn) {
    const pti_period *period = &of->builder.schedule->period;
    bool moves = period->first_op >= period->n_ops && users_move(of, turn->users);
    for (int p = 0; p < count_states(of) && moves; p++)
        moves = piece_moves(of, p, &turn->piece[p]);
    return moves;
}

void pti_turn_end(pti_arena_builder *of, pti_turn *turn) {
    pti_schedule *schedule = of->builder.schedule;
    const pti_repeat *repeat = &of->arena.partition->repeat;
    pti_period *period = &schedule->period;
    period->n_ops = schedule->n_ops - period->first_op;
    period->n_kernels = repeat->n;
    if (period->launch != NULL)
        period->launch[0].n_superblocks = repeat->n;
    period->n_placements = schedule->n_placements - period->first_placement;
    if (!of->builder.failed && !state_moves(of, turn))
        pti_builder_give_up(&of->builder);
    for (int p = 0; p < count_states(of) && !of->builder.failed; p++) {
        if (turn->piece[p].carried < 0)
            continue;
        period->carried[turn->piece[p].carried].left = of->state[p].placement;
        place_moved(of, p, repeat->times - 1);
    }
    period->times = repeat->times;
}

void pti_turn_free(pti_turn *turn) {
    free(turn->piece);
    free(turn->users);
}

/** Drop an operation's waits for what comes before another one. */
static void forget_before(pti_schedule *schedule, pti_op *op, int64_t first) {
    int64_t *wait = &schedule->wait[op->first_wait];
    int n_kept = 0;
    for (int w = 0; w < op->n_waits; w++)
        if (wait[w] >= first)
            wait[n_kept++] = wait[w];
    op->n_waits = n_kept;
}

void pti_turn_forget_done(pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    const int64_t end = period->first_op + period->n_ops;
    for (int64_t k = period->first_op; period->times > 0 && k < schedule->n_ops; k++)
        forget_before(schedule, &schedule->op[k],
                      k < end ? period->first_op - period->n_ops : period->first_op);
}
