#include "partition/prove/period.h"

#include "base/checked.h"
#include "partition/prove/shape/shape.h"

#include <inttypes.h>

/** Numbers and their products with the turns stay below, so that sums of a few do not overflow. */
#define LIMIT (INT64_C(1) << 61)

static bool is_range(int64_t first, int64_t n, int64_t fewest, int64_t n_all) {
    return first >= 0 && n >= fewest && first <= n_all && n <= n_all - first;
}

/** A schedule with a period is one launch by itself, or several that stream. */
static bool check_kind(const pti_schedule *schedule, pti_text *why) {
    return (!schedule->in_place && schedule->n_before == 0 && schedule->n_after == 0 &&
            schedule->n_invalidations == 0 && schedule->n_tiles == 0 && schedule->columns.n == 0 &&
            schedule->n_launches > 0 && schedule->period.n_launches == schedule->n_launches) ||
           PTI_REJECT(why, "a period in what runs in place, or goes on from what is on the device");
}

/** Each launch has superblocks in each part. */
static bool check_launch_positions(const pti_schedule *schedule, int l, pti_text *why) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const pti_period_launch *turn = &schedule->period.launch[l];
    return (turn->first_superblock > launch->first_superblock &&
            is_range(turn->first_superblock - launch->first_superblock, turn->n_superblocks, 1,
                     launch->n_superblocks - 1)) ||
           PTI_REJECT(why, "launch %d has no superblocks before the period, in it, or after it", l);
}

static bool check_positions(const pti_schedule *schedule, pti_text *why) {
    const pti_period *period = &schedule->period;
    const int64_t n_carried = period->n_carried;
    int64_t n_all, n_kernels = 0, n_before = 0;
    bool holds =
        period->times >= 1 && n_carried >= 0 &&
        is_range(period->first_op, period->n_ops, 1, schedule->n_ops) &&
        is_range(period->first_placement, period->n_placements, n_carried,
                 schedule->n_placements) &&
        n_carried <= schedule->n_placements - period->first_placement - period->n_placements &&
        !pti_mul_overflows(period->times, period->n_kernels, &n_all);
    if (!holds)
        return PTI_REJECT(why, "the period is no part of the lists, or comes %" PRId64 " times",
                          period->times);
    for (int l = 0; l < schedule->n_launches; l++) {
        if (!check_launch_positions(schedule, l, why))
            return false;
        n_kernels += period->launch[l].n_superblocks;
        n_before += period->launch[l].first_superblock - schedule->launch[l].first_superblock;
    }
    return (n_kernels == period->n_kernels && n_before == period->first_kernel) ||
           PTI_REJECT(why, "the period has %" PRId64 " superblocks, not %" PRId64, n_kernels,
                      period->n_kernels);
}

/** Return whether a position is of the part of a list that has another one: the prologue, the
 * period or the epilogue. */
static bool is_of_part(int64_t first, int64_t n, int64_t n_all, int part, int64_t position) {
    const int64_t from = part == 0 ? 0 : part == 1 ? first : first + n;
    const int64_t end = part == 0 ? first : part == 1 ? first + n : n_all;
    return position >= from && position < end;
}

static bool has_placement(const pti_schedule *schedule, int part, int64_t placement) {
    const pti_period *period = &schedule->period;
    return is_of_part(period->first_placement, period->n_placements, schedule->n_placements, part,
                      placement) &&
           schedule->placement[placement].operand >= 0 &&
           schedule->placement[placement].operand < schedule->instance->n_operands;
}

static int part_of_position(int64_t first, int64_t n, int64_t position) {
    return position < first ? 0 : position < first + n ? 1 : 2;
}

/** The part that has a superblock of a launch; -1: it is not the launch's. */
static int part_of_superblock(const pti_schedule *schedule, int l, int64_t superblock) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const pti_period_launch *turn = &schedule->period.launch[l];
    const int64_t number = superblock - launch->first_superblock;
    return number < 0 || number >= launch->n_superblocks
               ? -1
               : part_of_position(turn->first_superblock, turn->n_superblocks, superblock);
}

/** Return whether what an operation moves lies in its placement, or what it launches among the
 * threads. */
static bool has_box(const pti_schedule *schedule, const pti_op *op) {
    return pti_check_box_inside(&op->box, op->kind == PTI_LAUNCH
                                              ? &schedule->launch[op->launch].call.instance->threads
                                              : &schedule->placement[op->placement].layout.hull);
}

/** An operation's placements, box and waits are of its part, or are waits for what comes before it.
 * What stretches have, pti_check_ops() looks at. */
static bool check_op_of_part(const pti_schedule *schedule, int64_t i, pti_text *why) {
    const pti_period *period = &schedule->period;
    const pti_op *op = &schedule->op[i];
    const int part = part_of_position(period->first_op, period->n_ops, i);
    bool holds = op->launch >= 0 && op->launch < schedule->n_launches && op->superblock >= 0 &&
                 op->superblock < schedule->n_superblocks && op->n_waits >= 0 &&
                 op->first_wait >= 0 && op->n_waits <= schedule->n_waits &&
                 op->first_wait <= schedule->n_waits - op->n_waits && op->kind >= PTI_UPLOAD &&
                 op->kind <= PTI_DOWNLOAD;
    for (int w = 0; holds && w < op->n_waits; w++)
        holds = schedule->wait[op->first_wait + w] >= 0 && schedule->wait[op->first_wait + w] < i;
    holds = holds &&
            (op->kind == PTI_LAUNCH ? op->placement == -1
                                    : has_placement(schedule, part, op->placement)) &&
            (op->kind != PTI_COPY ? op->source_placement == -1
                                  : has_placement(schedule, part, op->source_placement));
    if (holds && op->kind == PTI_LAUNCH)
        holds = part_of_superblock(schedule, op->launch, op->superblock) == part;
    return (holds && has_box(schedule, op)) ||
           PTI_REJECT(why,
                      "operation %" PRId64 ": its placements, box, waits or superblock are not of "
                      "its part of the schedule",
                      i);
}

static bool check_superblock(const pti_schedule *schedule, int l, int64_t k, pti_text *why) {
    const pti_instance *instance = schedule->launch[l].call.instance;
    const int64_t *placed = pti_schedule_placements(schedule, l, k);
    bool holds = pti_check_box_inside(&schedule->superblock[k], &instance->threads);
    for (int o = 0; holds && o < instance->n_operands; o++)
        holds = placed[o] == -1 ||
                has_placement(schedule, part_of_superblock(schedule, l, k), placed[o]);
    return holds || PTI_REJECT(why,
                               "superblock %" PRId64
                               ": it is no box of the launch domain, or its placements are not of "
                               "its part of the schedule",
                               k);
}

static bool check_superblocks_of(const pti_schedule *schedule, int l, pti_text *why) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const int64_t end = launch->first_superblock + launch->n_superblocks;
    bool holds = true;
    for (int64_t k = launch->first_superblock; k < end && holds; k++)
        holds = check_superblock(schedule, l, k, why);
    return holds;
}

/** Return whether turns move a box on by no more than can be counted. */
static bool may_move(const pti_shift *shift, int n_dims, int64_t times) {
    bool may = true;
    for (int d = 0; d < n_dims; d++) {
        int64_t by = 0;
        may = may && !pti_mul_overflows(times, shift->by[d], &by) && by < LIMIT && by > -LIMIT;
    }
    return may;
}

/** Placements are boxes of arrays, and turns move what arrays have by no more than can be
 * counted. */
static bool check_placements(const pti_schedule *schedule, pti_text *why) {
    const pti_period *period = &schedule->period;
    bool holds = true;
    for (int64_t p = 0; p < schedule->n_placements && holds; p++) {
        const pti_placement *placement = &schedule->placement[p];
        const int part = part_of_position(period->first_placement, period->n_placements, p);
        holds = (has_placement(schedule, part, p) &&
                 pti_check_box_inside(&placement->layout.hull,
                                      &schedule->instance->operand[placement->operand].domain)) ||
                PTI_REJECT(why, "placement %" PRId64 " is no box of an array", p);
    }
    for (int a = 0; a < schedule->instance->n_operands && holds; a++) {
        const pti_operand *array = &schedule->instance->operand[a];
        holds = may_move(&period->array[a], array->domain.n_dims, period->times) ||
                PTI_REJECT(why, "turns move %s by more than can be counted", array->name);
    }
    return holds;
}

/** The turn's placements lie in their arrays, the first time and the last: so they do in all turns
 * between. */
static bool check_moved_placement(const pti_schedule *schedule, int64_t p, pti_text *why) {
    const pti_period *period = &schedule->period;
    const int o = schedule->placement[p].operand;
    const polytile_domain *array = &schedule->instance->operand[o].domain;
    const polytile_domain *hull = &schedule->placement[p].layout.hull;
    const polytile_domain last = pti_box_moved(hull, &period->array[o], period->times - 1);
    return pti_check_box_inside(&last, array) ||
           PTI_REJECT(why, "placement %" PRId64 " of %s leaves its array in some turn", p,
                      schedule->instance->operand[o].name);
}

static bool check_lists(const pti_schedule *schedule, pti_text *why) {
    const pti_period *period = &schedule->period;
    bool holds = check_placements(schedule, why);
    for (int l = 0; l < schedule->n_launches && holds; l++)
        holds = check_superblocks_of(schedule, l, why);
    for (int64_t i = 0; i < schedule->n_ops && holds; i++)
        holds = check_op_of_part(schedule, i, why);
    for (int64_t p = 0; p < period->n_placements && holds; p++)
        holds = check_moved_placement(schedule, period->first_placement + p, why);
    return holds;
}

polytile_domain pti_around_superblocks(const pti_schedule *schedule, int64_t first, int64_t n) {
    polytile_domain around = schedule->superblock[first];
    for (int64_t k = first + 1; k < first + n; k++)
        around = pti_box_bounding(&around, &schedule->superblock[k]);
    return around;
}

int pti_axis_of_shift(const pti_shift *shift, int n_dims) {
    int axis = -1, n_moved = 0;
    for (int d = 0; d < n_dims; d++) {
        n_moved += shift->by[d] != 0;
        axis = shift->by[d] > 0 ? d : axis;
    }
    return n_moved == 1 ? axis : -1;
}

polytile_domain pti_threads_of_part(const pti_schedule *schedule, int l, int part) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const pti_period_launch *turn = &schedule->period.launch[l];
    const int64_t end = turn->first_superblock + turn->n_superblocks;
    const int64_t first[] = {launch->first_superblock, turn->first_superblock, end,
                             launch->first_superblock + launch->n_superblocks};
    return pti_around_superblocks(schedule, first[part], first[part + 1] - first[part]);
}

static bool is_whole_beside(const polytile_domain *box, const polytile_domain *all, int axis) {
    bool is = true;
    for (int d = 0; d < all->n_dims; d++)
        is = is && (d == axis ||
                    (box->range[d].lo == all->range[d].lo && box->range[d].hi == all->range[d].hi));
    return is;
}

/** The prologue, all turns and the epilogue of a launch follow one another along one index. turns:
 * the threads of all turns. */
static bool check_cover(const pti_schedule *schedule, int l, polytile_domain *turns,
                        pti_text *why) {
    const pti_instance *instance = schedule->launch[l].call.instance;
    const pti_shift *shift = &schedule->period.launch[l].threads;
    const int64_t times = schedule->period.times;
    const polytile_domain *all = &instance->threads;
    const polytile_domain before = pti_threads_of_part(schedule, l, 0);
    const polytile_domain turn = pti_threads_of_part(schedule, l, 1);
    const polytile_domain after = pti_threads_of_part(schedule, l, 2);
    const int axis = pti_axis_of_shift(shift, instance->n_indices);
    if (axis < 0 || !may_move(shift, all->n_dims, times))
        return PTI_REJECT(why, "the turns of the period do not move on along one index");
    const int64_t by = shift->by[axis];
    const polytile_range first = turn.range[axis];
    *turns = turn;
    turns->range[axis].hi = first.hi + (times - 1) * by;
    const bool follow = before.range[axis].lo == all->range[axis].lo &&
                        before.range[axis].hi + 1 == first.lo && first.hi - first.lo + 1 == by &&
                        turns->range[axis].hi + 1 == after.range[axis].lo &&
                        after.range[axis].hi == all->range[axis].hi;
    return (follow && is_whole_beside(&before, all, axis) && is_whole_beside(&turn, all, axis) &&
            is_whole_beside(&after, all, axis)) ||
           PTI_REJECT(why,
                      "%" PRId64 " turns of %" PRId64 " threads along %s do not follow from the "
                      "prologue to the epilogue, whole along all other indices",
                      times, by, instance->index_name[axis]);
}

/** How far an expression is after one turn. */
static int64_t moved_by(const pti_affine *affine, const pti_shift *threads, int n_indices) {
    int64_t by = 0;
    for (int k = 0; k < n_indices; k++)
        by += affine->index[k] * threads->by[k];
    return by;
}

/** The value of an expression at the corner of a box where it is least, or largest. */
int64_t pti_value_at_corner(const pti_affine *affine, const polytile_domain *threads,
                            bool largest) {
    int64_t value = affine->constant;
    for (int k = 0; k < threads->n_dims; k++) {
        const bool at_hi = largest == (affine->index[k] > 0);
        value += affine->index[k] * (at_hi ? threads->range[k].hi : threads->range[k].lo);
    }
    return value;
}

/** A section moves by its array's shift, and is clipped nowhere where it moves. */
static bool check_section_moves(const pti_schedule *schedule, int l, const pti_section *section,
                                const polytile_domain *turns, pti_text *why) {
    const pti_call *call = &schedule->launch[l].call;
    const pti_operand *operand = &call->instance->operand[section->operand];
    const polytile_domain *array = section->within.n_dims > 0 ? &section->within : &operand->domain;
    const pti_shift *shift = &schedule->period.array[call->array[section->operand]];
    bool holds = section->edges == 0 && !section->is_moved && section->indirection == NULL &&
                 section->n_dims == operand->domain.n_dims;
    for (int d = 0; d < section->n_dims && holds; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        const pti_shift *threads = &schedule->period.launch[l].threads;
        const bool is_inside =
            pti_value_at_corner(&subscript->lo, turns, false) >= array->range[d].lo &&
            pti_value_at_corner(&subscript->hi, turns, true) <= array->range[d].hi;
        holds = moved_by(&subscript->lo, threads, turns->n_dims) == shift->by[d] &&
                moved_by(&subscript->hi, threads, turns->n_dims) == shift->by[d] &&
                (shift->by[d] == 0 || (is_inside && array->range[d].step == 1));
    }
    return holds || PTI_REJECT(why,
                               "what turns of the period touch of %s does not move on by the same "
                               "from turn to turn",
                               operand->name);
}

/** Return whether it depends on nothing but sections what an operand's elements are. */
static bool check_plain_operand(const pti_operand *of, pti_text *why) {
    bool is_plain = !of->reduces && !of->fresh && !of->is_scratch && !of->partial;
    for (int d = 0; d < of->domain.n_dims; d++)
        is_plain = is_plain && of->shear[d].slope == 0;
    return is_plain ||
           PTI_REJECT(why, "%s is reduced into, scratch, sheared or written in part, in a period",
                      of->name);
}

static bool check_motion(const pti_schedule *schedule, int l, const polytile_domain *turns,
                         pti_text *why) {
    const pti_instance *instance = schedule->launch[l].call.instance;
    bool holds = (!instance->is_team && instance->inspection == NULL && instance->n_further == 0 &&
                  instance->slabs == NULL) ||
                 PTI_REJECT(why, "a period of threads that do not all touch the same, moved on");
    for (int o = 0; o < instance->n_operands && holds; o++)
        holds = check_plain_operand(&instance->operand[o], why);
    for (int s = 0; s < instance->n_sections && holds; s++)
        holds = check_section_moves(schedule, l, &instance->section[s], turns, why);
    return holds;
}

/** Return whether a placement is another one after some turns. */
static bool is_moved(const pti_schedule *schedule, int64_t from, int64_t to, int64_t turns) {
    const pti_placement *a = &schedule->placement[from], *b = &schedule->placement[to];
    const polytile_domain moved =
        pti_box_moved(&a->layout.hull, &schedule->period.array[a->operand], turns);
    bool is = a->operand == b->operand && a->offset_bytes == b->offset_bytes &&
              a->layout.size_bytes == b->layout.size_bytes &&
              moved.n_dims == b->layout.hull.n_dims && pti_box_equals(&moved, &b->layout.hull);
    for (int d = 0; d < moved.n_dims; d++)
        is = is && a->layout.stride_bytes[d] == b->layout.stride_bytes[d];
    return is;
}

static bool lie_in_hull(const pti_boxes *set, const polytile_domain *hull) {
    bool are = true;
    for (int k = 0; k < set->n_boxes && are; k++)
        are = pti_check_box_inside(&set->box[k], hull);
    return are;
}

static bool check_carried(const pti_schedule *schedule, pti_text *why) {
    const pti_period *period = &schedule->period;
    bool holds = true;
    for (int k = 0; k < period->n_carried && holds; k++) {
        const pti_carried *carried = &period->carried[k];
        const int64_t found = period->first_placement + k;
        const int64_t at_end = period->first_placement + period->n_placements + k;
        holds =
            (has_placement(schedule, 0, carried->first) &&
             has_placement(schedule, 1, carried->left) &&
             is_moved(schedule, carried->first, found, 0) &&
             is_moved(schedule, found, carried->left, 1) &&
             is_moved(schedule, found, at_end, period->times) &&
             lie_in_hull(&carried->valid, &schedule->placement[found].layout.hull) &&
             lie_in_hull(&carried->dirty, &schedule->placement[found].layout.hull)) ||
            PTI_REJECT(why,
                       "the piece of %s in placement %" PRId64
                       " is not found where it was left, moved on",
                       schedule->instance->operand[schedule->placement[found].operand].name, found);
    }
    return holds;
}

bool pti_check_period(const pti_schedule *schedule, pti_text *why) {
    bool holds = check_kind(schedule, why) && pti_check_launches(schedule, why) &&
                 pti_check_ranges(schedule, why) && check_positions(schedule, why) &&
                 check_lists(schedule, why);
    for (int l = 0; l < schedule->n_launches && holds; l++) {
        polytile_domain turns;
        holds = check_cover(schedule, l, &turns, why) && check_motion(schedule, l, &turns, why);
    }
    return holds && check_carried(schedule, why);
}
