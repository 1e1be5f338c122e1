#include "partition/prove/shape/shape.h"

#include "access/set/overlapping_copy.h"
#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>

bool pti_check_box_inside(const polytile_domain *box, const polytile_domain *domain) {
    if (box->n_dims != domain->n_dims)
        return false;
    for (int d = 0; d < domain->n_dims; d++) {
        polytile_range inner = box->range[d], outer = domain->range[d];
        if (inner.lo < outer.lo || inner.hi > outer.hi || inner.lo > inner.hi || inner.step < 1 ||
            (inner.step > 1 && (inner.hi - inner.lo) % inner.step != 0) ||
            (outer.step != 1 && !pti_range_contains(outer, inner)))
            return false;
    }
    return true;
}

static bool reject_placement(const pti_schedule *schedule, int64_t p, const char *reason,
                             pti_text *why) {
    return PTI_REJECT(why, "placement %" PRId64 " of %s %s", p,
                      schedule->instance->operand[schedule->placement[p].operand].name, reason);
}

/**
 * The bytes from a layout's first to its last, -1 if two elements share some or if it exceeds 64
 * bits: from the nearest neighbours outwards, the next dimension must step over all before it.
 */
static int64_t layout_span(const pti_memory_layout *layout, int64_t element_bytes) {
    int64_t pitch[POLYTILE_MAX_DIMS], span = element_bytes;
    bool done[POLYTILE_MAX_DIMS] = {false};
    int n_left = 0;
    for (int d = 0; d < layout->hull.n_dims; d++) {
        done[d] = pti_range_count(layout->hull.range[d]) == 1;
        n_left += !done[d];
        pitch[d] = pti_mul_wrapped(layout->hull.range[d].step, layout->stride_bytes[d]);
    }
    for (; n_left > 0; n_left--) {
        int nearest = -1;
        for (int d = 0; d < layout->hull.n_dims; d++)
            if (!done[d] && (nearest < 0 || pitch[d] < pitch[nearest]))
                nearest = d;
        int64_t reach;
        if (pitch[nearest] < span ||
            pti_mul_overflows(pitch[nearest], pti_range_count(layout->hull.range[nearest]) - 1,
                              &reach) ||
            pti_add_overflows(span, reach, &span))
            return -1;
        done[nearest] = true;
    }
    return span;
}

/** Where a box lies in its placement, counted from the hull's first element. */
static polytile_domain shift_to_zero(const pti_memory_layout *layout, const polytile_domain *box) {
    polytile_domain shifted = *box;
    for (int d = 0; d < box->n_dims; d++) {
        shifted.range[d].lo -= layout->hull.range[d].lo;
        shifted.range[d].hi -= layout->hull.range[d].lo;
    }
    return shifted;
}

/** One layout that holds all elements of two that lie at the same place and differ in extents only;
 * false if there is none. */
static bool join_layouts(const pti_placement *a, const pti_placement *b, int64_t element_bytes,
                         pti_memory_layout *joint) {
    *joint = a->layout;
    if (a->offset_bytes != b->offset_bytes)
        return false;
    for (int d = 0; d < joint->hull.n_dims; d++) {
        polytile_range of_a = a->layout.hull.range[d], of_b = b->layout.hull.range[d];
        int64_t reach = pti_max(of_a.hi - of_a.lo, of_b.hi - of_b.lo);
        joint->hull.range[d] = (polytile_range){0, reach, reach > 0 ? of_a.step : 1};
        if (reach > 0 &&
            (of_a.step != of_b.step || a->layout.stride_bytes[d] != b->layout.stride_bytes[d]))
            return false;
    }
    return layout_span(joint, element_bytes) >= 0;
}

static int64_t corner_offset(const pti_placement *placement, const polytile_domain *box,
                             bool last) {
    const pti_memory_layout *layout = &placement->layout;
    int64_t offset = placement->offset_bytes;
    for (int d = 0; d < box->n_dims; d++)
        offset +=
            pti_mul_wrapped((last ? box->range[d].hi : box->range[d].lo) - layout->hull.range[d].lo,
                            layout->stride_bytes[d]);
    return offset;
}

bool pti_check_copy_apart(const pti_placement *source, const pti_placement *target,
                          const polytile_domain *box, int64_t element_bytes) {
    if (corner_offset(source, box, true) + element_bytes <= corner_offset(target, box, false) ||
        corner_offset(target, box, true) + element_bytes <= corner_offset(source, box, false))
        return true;
    pti_memory_layout joint;
    polytile_domain from = shift_to_zero(&source->layout, box), common;
    polytile_domain to = shift_to_zero(&target->layout, box);
    return join_layouts(source, target, element_bytes, &joint) &&
           !pti_box_intersect(&from, &to, &common);
}

bool pti_check_copy_overlaps(const pti_placement *source, const pti_placement *target,
                             const polytile_domain *box, int64_t element_bytes) {
    pti_memory_layout joint;
    pti_overlapping_copy slices;
    return join_layouts(source, target, element_bytes, &joint) &&
           pti_overlapping_begin(&source->layout, &target->layout, box, &slices);
}

static bool is_whole_array(const pti_placement *placement, const pti_operand *operand) {
    const pti_memory_layout *layout = &placement->layout;
    int64_t stride = operand->element_bytes;
    for (int d = operand->domain.n_dims - 1; d >= 0; d--) {
        polytile_range whole = operand->domain.range[d];
        if (layout->hull.range[d].lo != whole.lo || layout->hull.range[d].hi != whole.hi ||
            (whole.hi > whole.lo &&
             (layout->hull.range[d].step != 1 || layout->stride_bytes[d] != stride)))
            return false;
        stride *= pti_range_count(whole);
    }
    return true;
}

static bool check_placement(const pti_schedule *schedule, int64_t p, pti_text *why) {
    const pti_placement *placement = &schedule->placement[p];
    if (placement->operand < 0 || placement->operand >= schedule->instance->n_operands)
        return PTI_REJECT(why, "placement %" PRId64 " is of array %d, which there is not", p,
                          placement->operand);
    const pti_operand *operand = &schedule->instance->operand[placement->operand];
    if (!pti_check_box_inside(&placement->layout.hull, &operand->domain))
        return reject_placement(schedule, p, "is no box of the array", why);
    int64_t span = layout_span(&placement->layout, operand->element_bytes), end;
    if (span < 0)
        return reject_placement(schedule, p, "has elements that share bytes", why);
    if (placement->layout.size_bytes < span)
        return reject_placement(schedule, p, "is larger than its size says", why);
    if (schedule->in_place)
        return is_whole_array(placement, operand) ||
               reject_placement(schedule, p, "is not the whole array in place", why);
    if (placement->offset_bytes < 0 ||
        pti_add_overflows(placement->offset_bytes, placement->layout.size_bytes, &end) ||
        end > schedule->arena_bytes)
        return reject_placement(schedule, p, "does not lie in the arena", why);
    return true;
}

static int compare_places(const void *a, const void *b) {
    const pti_placement *const one = *(const pti_placement *const *)a,
                               *const other = *(const pti_placement *const *)b;
    return one->offset_bytes != other->offset_bytes ? (one->offset_bytes > other->offset_bytes) -
                                                          (one->offset_bytes < other->offset_bytes)
                                                    : (one > other) - (one < other);
}

static int64_t end_of(const pti_placement *placement) {
    return placement->offset_bytes + placement->layout.size_bytes;
}

/** Check placements in order of offset. If one overlaps earlier ones of the other kind, it overlaps
 * the one of them that ends last. */
static bool check_aside_in_order(const pti_schedule *schedule,
                                 const pti_placement *const *placement, pti_text *why) {
    const pti_placement *last[2] = {NULL, NULL}; /* of those that are not aside, and of those that
                                                    are: the one that ends last */
    for (int64_t k = 0; k < schedule->n_placements; k++) {
        const pti_placement *is = placement[k], *other = last[!is->is_aside];
        if (other != NULL && pti_placements_overlap(is, other))
            return reject_placement(schedule, (is->is_aside ? is : other) - schedule->placement,
                                    "is aside, where another one lies", why);
        if (last[is->is_aside] == NULL || end_of(is) > end_of(last[is->is_aside]))
            last[is->is_aside] = is;
    }
    return true;
}

static bool has_aside(const pti_schedule *schedule) {
    bool has = false;
    for (int64_t p = 0; p < schedule->n_placements && !has; p++)
        has = schedule->placement[p].is_aside;
    return has;
}

/** Memory aside is that of no other placement, so that operations there change nothing else. */
static bool check_aside_apart(const pti_schedule *schedule, pti_text *why) {
    if (!has_aside(schedule))
        return true;
    const pti_placement **placement = malloc((size_t)schedule->n_placements * sizeof *placement);
    if (placement == NULL) {
        why->failed = true;
        return false;
    }
    for (int64_t p = 0; p < schedule->n_placements; p++)
        placement[p] = &schedule->placement[p];
    qsort(placement, (size_t)schedule->n_placements, sizeof *placement, compare_places);
    const bool is_apart = check_aside_in_order(schedule, placement, why);
    free(placement);
    return is_apart;
}

static bool check_placements_of(const pti_schedule *schedule, int l, int64_t superblock,
                                pti_text *why) {
    const pti_call *call = &schedule->launch[l].call;
    const int64_t *placed = pti_schedule_placements(schedule, l, superblock);
    for (int o = 0; o < call->instance->n_operands; o++)
        if (placed[o] < -1 || placed[o] >= schedule->n_placements ||
            (placed[o] >= 0 && (schedule->placement[placed[o]].operand != call->array[o] ||
                                schedule->placement[placed[o]].is_aside)))
            return PTI_REJECT(
                why,
                "superblock %" PRId64 " uses placement %" PRId64 " for %s, which is none of it",
                superblock, placed[o], schedule->instance->operand[call->array[o]].name);
    return true;
}

static bool check_launch_placements(const pti_schedule *schedule, pti_text *why) {
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        for (int64_t k = 0; k < launch->n_superblocks; k++)
            if (!check_placements_of(schedule, l, launch->first_superblock + k, why))
                return false;
    }
    return true;
}

bool pti_check_placements(const pti_schedule *schedule, pti_text *why) {
    if (schedule->arena_bytes < 0 || schedule->limit_bytes < 0 ||
        (schedule->limit_bytes > 0 && schedule->arena_bytes > schedule->limit_bytes))
        return PTI_REJECT(why, "the arena of %" PRId64 " B exceeds the limit of %" PRId64 " B",
                          schedule->arena_bytes, schedule->limit_bytes);
    for (int64_t p = 0; p < schedule->n_placements; p++)
        if (!check_placement(schedule, p, why))
            return false;
    return check_aside_apart(schedule, why) && check_launch_placements(schedule, why);
}

static bool reject_op(int64_t i, const char *reason, pti_text *why) {
    return PTI_REJECT(why, "operation %" PRId64 " %s", i, reason);
}

static bool check_waits(const pti_schedule *schedule, int64_t i, pti_text *why) {
    const pti_op *op = &schedule->op[i];
    if (op->n_waits < 0 || op->first_wait < 0 || op->n_waits > schedule->n_waits ||
        op->first_wait > schedule->n_waits - op->n_waits)
        return reject_op(i, "has waits that are not in the list", why);
    for (int64_t w = op->first_wait; w < op->first_wait + op->n_waits; w++)
        if (schedule->wait[w] < 0 || schedule->wait[w] >= i)
            return reject_op(i, "waits for an operation that does not come before it", why);
    return true;
}

/** Waits that no operation has are for operations, too: the list is gone through as a whole. */
static bool check_wait_list(const pti_schedule *schedule, pti_text *why) {
    for (int64_t w = 0; w < schedule->n_waits; w++)
        if (schedule->wait[w] < 0 || schedule->wait[w] >= schedule->n_ops)
            return PTI_REJECT(why, "wait %" PRId64 " is for operation %" PRId64 " of %" PRId64, w,
                              schedule->wait[w], schedule->n_ops);
    return true;
}

/** Without any launch there is no superblock either, and all operations are of number 0. */
static bool check_superblock_of(const pti_schedule *schedule, int64_t i, pti_text *why) {
    const pti_op *op = &schedule->op[i];
    if (op->launch < 0 || op->launch >= pti_max(schedule->n_launches, op->kind != PTI_LAUNCH))
        return reject_op(i, "is of no launch", why);
    if (op->superblock < 0 || op->superblock >= pti_max(schedule->n_superblocks, 1))
        return reject_op(i, "is of no superblock", why);
    const pti_schedule_launch *launch = pti_schedule_launch_of(schedule, op);
    if (launch != NULL && (op->superblock < launch->first_superblock ||
                           op->superblock - launch->first_superblock >= launch->n_superblocks))
        return reject_op(i, "is of another launch's superblock", why);
    return true;
}

/** Return whether a box of unknown origin is another that is well formed. */
static bool is_same_box(const polytile_domain *box, const polytile_domain *known) {
    bool same = box->n_dims == known->n_dims;
    for (int d = 0; same && d < known->n_dims; d++) {
        const polytile_range *range = &box->range[d], *other = &known->range[d];
        same = range->lo == other->lo && range->hi == other->hi &&
               (range->step == other->step || (range->lo == range->hi && range->step >= 1));
    }
    return same;
}

/** The superblocks of a launch run in their order; n_done: how many of each launch did. */
static bool check_superblock_order(const pti_schedule *schedule, int64_t i, int64_t *n_done,
                                   pti_text *why) {
    const pti_op *op = &schedule->op[i];
    int64_t k = schedule->launch[op->launch].first_superblock + n_done[op->launch]++;
    if (op->superblock != k || k >= schedule->n_superblocks)
        return PTI_REJECT(why,
                          "operation %" PRId64 " launches a superblock out of order or again: "
                          "%" PRId64 " of launch %d, whose next is %" PRId64,
                          i, op->superblock, op->launch, k);
    if (!is_same_box(&op->box, &schedule->superblock[k]))
        return reject_op(i, "launches other threads than its superblock's", why);
    return true;
}

/** Return whether a box of sheared indices has no element that its array lacks. */
static bool is_in_sheared_array(const pti_operand *operand, const polytile_domain *box) {
    bool is = true;
    for (int d = 0; d < box->n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope == 0)
            continue;
        const int64_t first = shear->slope * box->range[shear->along].lo,
                      last = shear->slope * box->range[shear->along].hi;
        is = is && box->range[d].lo + pti_min(first, last) >= operand->whole.range[d].lo &&
             box->range[d].hi + pti_max(first, last) <= operand->whole.range[d].hi;
    }
    return is;
}

static bool check_transfer(const pti_schedule *schedule, int64_t i, pti_text *why) {
    const pti_op *op = &schedule->op[i];
    if (op->placement < 0 || op->placement >= schedule->n_placements)
        return reject_op(i, "has no placement", why);
    const pti_placement *placement = &schedule->placement[op->placement];
    if (!pti_check_box_inside(&op->box, &placement->layout.hull))
        return reject_op(i, "moves a box that is not in its placement", why);
    if (placement->is_aside && op->kind != PTI_COPY)
        return reject_op(i, "moves between the host and memory aside", why);
    int64_t bytes = 0;
    if (pti_mul_overflows(pti_box_count(&op->box),
                          schedule->instance->operand[placement->operand].element_bytes, &bytes) ||
        op->bytes != bytes)
        return reject_op(i, "counts other bytes than its box has", why);
    if (op->kind != PTI_COPY && op->kind != PTI_FILL &&
        !is_in_sheared_array(&schedule->instance->operand[placement->operand], &op->box))
        return reject_op(i, "moves elements that the array does not have", why);
    if (op->kind != PTI_COPY)
        return true;
    if (op->source_placement < 0 || op->source_placement >= schedule->n_placements ||
        op->source_placement == op->placement)
        return reject_op(i, "copies from no other placement", why);
    const pti_placement *source = &schedule->placement[op->source_placement];
    if (source->is_aside != placement->is_aside)
        return reject_op(i, "copies between memory aside and other memory", why);
    if (source->operand != placement->operand ||
        !pti_check_box_inside(&op->box, &source->layout.hull))
        return reject_op(i, "copies a box that is not in its source", why);
    return true;
}

static bool check_op(const pti_schedule *schedule, int64_t i, int64_t *n_done, pti_text *why) {
    const pti_op *op = &schedule->op[i];
    if ((int)op->kind < PTI_UPLOAD || op->kind > PTI_DOWNLOAD)
        return reject_op(i, "is of no kind", why);
    if (!check_superblock_of(schedule, i, why))
        return false;
    if (schedule->in_place && op->kind != PTI_FILL && op->kind != PTI_LAUNCH)
        return reject_op(i, "moves data although the launch runs in place", why);
    if (op->lane < 0 || op->lane >= pti_max(schedule->n_lanes, 1))
        return reject_op(i, "is in no lane of the schedule", why);
    if (op->lane > 0 && op->kind != PTI_FILL && op->kind != PTI_LAUNCH)
        return reject_op(i, "moves data in a lane for launches", why);
    return check_waits(schedule, i, why) &&
           (op->kind == PTI_LAUNCH ? check_superblock_order(schedule, i, n_done, why)
                                   : check_transfer(schedule, i, why));
}

/** No superblock is launched again, so that a launch is done if it ran as many as it has. */
static bool check_all_done(const pti_schedule *schedule, const int64_t *n_done, pti_text *why) {
    for (int l = 0; l < schedule->n_launches; l++)
        if (n_done[l] != schedule->launch[l].n_superblocks)
            return PTI_REJECT(why,
                              "launch %d has %" PRId64 " superblocks, but %" PRId64 " launches", l,
                              schedule->launch[l].n_superblocks, n_done[l]);
    return true;
}

bool pti_check_ops(const pti_schedule *schedule, pti_text *why) {
    bool holds = true;
    if (schedule->n_lanes < 0 || schedule->n_lanes > PTI_MAX_LANES)
        return PTI_REJECT(why, "there are %d lanes, and may be up to %d", schedule->n_lanes,
                          PTI_MAX_LANES);
    if (!check_wait_list(schedule, why))
        return false;
    int64_t *n_done = calloc((size_t)schedule->n_launches + 1, sizeof *n_done);
    if (n_done == NULL)
        return PTI_REJECT(why, "out of host memory for %d launches", schedule->n_launches);
    for (int64_t i = 0; i < schedule->n_ops && holds; i++)
        holds = check_op(schedule, i, n_done, why);
    holds = holds && check_all_done(schedule, n_done, why);
    free(n_done);
    return holds;
}

static bool check_invalidation(const pti_schedule *schedule, int k, int64_t former, pti_text *why) {
    const pti_invalidation *invalidation = &schedule->invalidation[k];
    if (invalidation->operand < 0 || invalidation->operand >= schedule->instance->n_operands)
        return PTI_REJECT(why, "invalidation %d is of array %d, which there is not", k,
                          invalidation->operand);
    if (invalidation->first_op < former || invalidation->first_op > schedule->n_ops)
        return PTI_REJECT(why,
                          "invalidation %d is before operation %" PRId64
                          ", which is out of order or not there",
                          k, invalidation->first_op);
    for (int b = 0; b < invalidation->boxes.n_boxes; b++)
        if (!pti_check_box_inside(&invalidation->boxes.box[b],
                                  &schedule->instance->operand[invalidation->operand].domain))
            return PTI_REJECT(why, "invalidation %d: box %d is not in %s", k, b,
                              schedule->instance->operand[invalidation->operand].name);
    return true;
}

bool pti_check_invalidations(const pti_schedule *schedule, pti_text *why) {
    int64_t former = 0;
    if (schedule->in_place && schedule->n_invalidations > 0)
        return PTI_REJECT(why, "in place there is nothing that the host could have newer");
    for (int k = 0; k < schedule->n_invalidations; k++) {
        if (!check_invalidation(schedule, k, former, why))
            return false;
        former = schedule->invalidation[k].first_op;
    }
    return true;
}
