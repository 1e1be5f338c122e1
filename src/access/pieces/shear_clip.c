#include "access/pieces/shear.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/section.h"
#include "access/footprint/section_boxes.h"
#include "base/checked.h"
#include "base/list.h"

#include <string.h>

/* Bands of which the array's ends cut off corners: in sheared indices no box says which elements
 * there are, but along each of the band's diagonals an interval does. */

/** The most diagonals of an operand. */
enum { MOST_DIAGONALS = 32 };

/** The smallest box of the array's own indices around one of an operand's, in the array or not. */
static polytile_domain find_box_around(const pti_operand *operand, const polytile_domain *box) {
    polytile_domain around = *box;
    for (int d = 0; d < box->n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope == 0)
            continue;
        const polytile_range along = box->range[shear->along];
        const int64_t low = shear->slope > 0 ? along.lo : along.hi;
        const int64_t high = shear->slope > 0 ? along.hi : along.lo;
        around.range[d] = (polytile_range){box->range[d].lo + shear->slope * low,
                                           box->range[d].hi + shear->slope * high, 1};
    }
    return around;
}

bool pti_operand_has_sheared(const pti_operand *operand, const polytile_domain *box) {
    const polytile_domain around = find_box_around(operand, box);
    return pti_box_contains(&operand->whole, &around);
}

polytile_domain pti_operand_unsheared(const pti_operand *operand, const polytile_domain *box) {
    polytile_domain around = *box;
    if (pti_box_is_empty(box))
        return around;
    around = find_box_around(operand, box);
    for (int d = 0; d < around.n_dims; d++)
        if (operand->shear[d].slope != 0)
            around.range[d] = pti_range_intersect(around.range[d], operand->whole.range[d]);
    return around;
}

polytile_domain pti_section_unclipped_hull(const pti_instance *instance,
                                           const pti_section *section) {
    polytile_domain box = {.n_dims = section->n_dims};
    for (int d = 0; d < section->n_dims; d++)
        box.range[d] =
            (polytile_range){pti_affine_min(&section->subscript[d].lo, &instance->threads),
                             pti_affine_max(&section->subscript[d].hi, &instance->threads), 1};
    return box;
}

/** Return the indices x for which slope * x + constant lies in a range, slope not 0. */
static polytile_range solve_inside(polytile_range inside, int64_t slope, int64_t constant) {
    const int64_t first = slope > 0 ? inside.lo - constant : constant - inside.hi;
    const int64_t last = slope > 0 ? inside.hi - constant : constant - inside.lo;
    const int64_t factor = pti_abs(slope);
    return (polytile_range){-pti_floor_div(-first, factor), pti_floor_div(last, factor), 1};
}

/** Return the elements that the array has of those with some indices along the dimensions that
 * follow others. */
static polytile_domain find_within(const pti_operand *operand, const int64_t *diagonal) {
    polytile_domain within = operand->whole;
    for (int d = 0; d < within.n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope == 0)
            continue;
        within.range[d] = (polytile_range){diagonal[d], diagonal[d], 1};
        within.range[shear->along] =
            pti_range_intersect(within.range[shear->along],
                                solve_inside(operand->whole.range[d], shear->slope, diagonal[d]));
    }
    return within;
}

/** Return whether the array has all elements of a box around what a section's threads touch, as far
 * as these lie in it along the dimensions that follow no other. */
static bool has_whole_hull(const pti_operand *operand, const polytile_domain *hull) {
    polytile_domain clipped = *hull;
    for (int d = 0; d < hull->n_dims; d++)
        if (operand->shear[d].slope == 0)
            clipped.range[d] = pti_range_intersect(hull->range[d], operand->whole.range[d]);
    return pti_box_is_empty(&clipped) || pti_operand_has_sheared(operand, &clipped);
}

/** Return how many diagonals a section has; 0: too many. Those of one dimension are an interval
 * that is the same for all threads. */
static int64_t count_diagonals(const pti_operand *operand, const pti_section *section) {
    int64_t n = 1;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        if (operand->shear[d].slope == 0)
            continue;
        const polytile_range diagonals =
            pti_range(subscript->lo.constant, subscript->hi.constant, subscript->step);
        if (pti_mul_overflows(n, pti_range_count(diagonals), &n) || n > MOST_DIAGONALS)
            return 0;
    }
    return n;
}

/** Return the k-th diagonal of a section by itself. */
static pti_section take_diagonal(const pti_operand *operand, const pti_section *section,
                                 int64_t k) {
    pti_section taken = *section;
    int64_t diagonal[POLYTILE_MAX_DIMS] = {0};
    for (int d = 0; d < section->n_dims; d++) {
        pti_subscript *subscript = &taken.subscript[d];
        if (operand->shear[d].slope == 0)
            continue;
        const polytile_range all =
            pti_range(subscript->lo.constant, subscript->hi.constant, subscript->step);
        diagonal[d] = all.lo + k % pti_range_count(all) * all.step;
        k /= pti_range_count(all);
        subscript->lo.constant = subscript->hi.constant = diagonal[d];
        subscript->step = 1;
    }
    taken.within = find_within(operand, diagonal);
    return taken;
}

/** Sections of an operand, that of each diagonal by itself where the array lacks some of it. */
typedef struct clipped {
    int n;
    pti_section section[MOST_DIAGONALS];
} clipped;

static bool add_section(const pti_operand *operand, const pti_section *section,
                        const polytile_domain *hull, clipped *to) {
    const bool is_one = has_whole_hull(operand, hull);
    const int64_t n = is_one ? 1 : count_diagonals(operand, section);
    if (n == 0 || to->n + n > MOST_DIAGONALS)
        return false;
    for (int64_t k = 0; k < n; k++) {
        pti_section *added = &to->section[to->n];
        *added = is_one ? *section : take_diagonal(operand, section, k);
        to->n += is_one || !pti_box_is_empty(&added->within);
    }
    return true;
}

/** Put sections into the place of an operand's. Errors: NO_MEMORY. */
static polytile_status replace_sections(polytile_context *ctx, pti_instance *instance,
                                        pti_operand *operand, const clipped *by) {
    const int n_more = by->n - operand->n_sections;
    const int end = operand->first_section + operand->n_sections;
    if (!PTI_RESIZE(instance->section, (int64_t)instance->n_sections + MOST_DIAGONALS))
        return pti_fail_memory(ctx, instance->kernel_name,
                               (double)(instance->n_sections + n_more) * sizeof *by->section);
    memmove(&instance->section[end + n_more], &instance->section[end],
            (size_t)(instance->n_sections - end) * sizeof *by->section);
    memcpy(&instance->section[operand->first_section], by->section,
           (size_t)by->n * sizeof *by->section);
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].first_section >= end)
            instance->operand[o].first_section += n_more;
    operand->n_sections = by->n;
    instance->n_sections += n_more;
    return POLYTILE_OK;
}

bool pti_operand_is_ragged(const pti_instance *instance, const pti_operand *operand) {
    bool is = false;
    for (int s = 0; s < operand->n_sections; s++)
        is |= instance->section[operand->first_section + s].within.n_dims > 0;
    return is;
}

/** Return whether what is written is known as a few boxes: else the hull would move, of which the
 * array lacks elements. */
static bool are_few_written(const pti_instance *instance, const clipped *by) {
    int64_t n_boxes = 0;
    bool are = true;
    for (int s = 0; s < by->n && are; s++)
        if (by->section[s].role != POLYTILE_IN)
            are =
                by->section[s].exact &&
                !pti_add_overflows(
                    n_boxes, pti_section_most_boxes(instance, &by->section[s], &instance->threads),
                    &n_boxes);
    return are && n_boxes <= PTI_MAX_WRITE_BOXES;
}

/** Let the dimensions of an operand's domain that are no diagonals end where the array does. */
static void clip_domain(pti_operand *operand) {
    for (int d = 0; d < operand->domain.n_dims; d++)
        if (operand->shear[d].slope == 0)
            operand->domain.range[d] =
                pti_range_intersect(operand->domain.range[d], operand->whole.range[d]);
}

polytile_status pti_shear_clip_operand(polytile_context *ctx, pti_instance *instance,
                                       pti_operand *operand, bool *is_clipped) {
    const pti_section *first = &instance->section[operand->first_section];
    clipped by = {0};
    polytile_status status = POLYTILE_OK;
    *is_clipped = true;
    for (int s = 0; s < operand->n_sections && *is_clipped; s++) {
        const polytile_domain hull = pti_section_unclipped_hull(instance, &first[s]);
        *is_clipped = add_section(operand, &first[s], &hull, &by);
    }
    *is_clipped = *is_clipped && by.n > 0;
    if (!*is_clipped)
        return status;
    clip_domain(operand);
    for (int s = 0; s < by.n; s++)
        PTI_TRY(pti_section_settle(ctx, instance, &by.section[s]));
    *is_clipped = are_few_written(instance, &by);
    if (!*is_clipped)
        return status;
    PTI_TRY(replace_sections(ctx, instance, operand, &by));
    pti_operand_forget_roles(operand);
    PTI_TRY(pti_operand_fill_roles(ctx, instance, operand));
done:
    return status;
}
