#include "partition/prove/shape/shape.h"

#include "access/footprint/footprint.h"
#include "partition/prove/needs/needs.h"

/** Return whether an operand of a launch describes the array that the schedule names. */
static bool is_array(const pti_operand *operand, const pti_operand *array) {
    return operand->element_bytes == array->element_bytes && operand->type == array->type &&
           operand->domain.n_dims == array->domain.n_dims &&
           pti_box_equals(&operand->domain, &array->domain);
}

/** Return whether some element is touched by threads through both operands, and written through
 * one; then *common holds one. Of a partial operand the hull counts. */
static bool do_conflict(const pti_instance *instance, int one, int other, polytile_domain *common) {
    const pti_operand *a = &instance->operand[one], *b = &instance->operand[other];
    if (a->partial || b->partial) {
        polytile_domain hull = pti_footprint_hull(instance, one, PTI_TOUCHES, &instance->threads);
        polytile_domain its = pti_footprint_hull(instance, other, PTI_TOUCHES, &instance->threads);
        return pti_box_intersect(&hull, &its, common);
    }
    for (int s = a->first_section; s < a->first_section + a->n_sections; s++)
        for (int t = b->first_section; t < b->first_section + b->n_sections; t++) {
            const pti_section *mine = &instance->section[s], *its = &instance->section[t];
            bool is_written = mine->role != POLYTILE_IN || its->role != POLYTILE_IN;
            if (is_written && pti_needs_meet(instance, mine, its, &instance->threads, common))
                return true;
        }
    return false;
}

/** Return whether an operand is a piece that has a part of the array, and the pieces together have
 * it all. */
static bool is_part_of_array(const pti_instance *instance, int o, const pti_operand *array) {
    pti_boxes parts = {0};
    bool are_alike = true;
    for (int p = 0; p < instance->n_operands; p++) {
        const pti_operand *piece = &instance->operand[p];
        if (pti_operand_array(instance, p) != pti_operand_array(instance, o))
            continue;
        are_alike = are_alike && piece->element_bytes == array->element_bytes &&
                    piece->type == array->type && piece->domain.n_dims == array->domain.n_dims &&
                    pti_box_contains(&array->domain, &piece->domain);
        if (are_alike)
            pti_boxes_add_new(&parts, &piece->domain);
    }
    const bool is = are_alike && !parts.failed && pti_boxes_cover(&parts, &array->domain);
    pti_boxes_free(&parts);
    return is;
}

/** Return whether two operands are pieces of an array into which threads combine. Different
 * superblocks may do so through different pieces, in any order; of each one it is checked that its
 * pieces do not meet. */
static bool combine_in_pieces(const pti_instance *instance, int one, int other) {
    return instance->operand[one].reduces && instance->operand[other].reduces &&
           pti_operand_array(instance, one) == pti_operand_array(instance, other);
}

/** Two operands of one array: that threads do not conflict was found of each operand by itself, and
 * here of both. Then it does not matter which superblock runs first, nor whether the operands share
 * a placement. */
static bool check_operands_apart(const pti_schedule *schedule, int l, int o, int p, pti_text *why) {
    const pti_instance *instance = schedule->launch[l].call.instance;
    polytile_domain common;
    if (combine_in_pieces(instance, o, p) || !do_conflict(instance, o, p, &common))
        return true;
    pti_text_add(why, "launch %d: %s and %s are the same array, of which ", l,
                 instance->operand[p].name, instance->operand[o].name);
    pti_box_write(why, &common);
    return PTI_REJECT(why, " is written through one and used through the other");
}

static bool check_operand(const pti_schedule *schedule, int l, int o, pti_text *why) {
    const pti_schedule_launch *launch = &schedule->launch[l];
    const pti_operand *operand = &launch->call.instance->operand[o];
    int a = launch->call.array[o];
    if (a < 0 || a >= schedule->instance->n_operands)
        return PTI_REJECT(why, "launch %d: %s is array %d, which there is not", l, operand->name,
                          a);
    if (!is_array(operand, &schedule->instance->operand[a]) &&
        !is_part_of_array(launch->call.instance, o, &schedule->instance->operand[a]))
        return PTI_REJECT(why, "launch %d: %s has other elements than array %d, %s", l,
                          operand->name, a, schedule->instance->operand[a].name);
    for (int p = 0; p < o; p++)
        if (launch->call.array[p] == a && !check_operands_apart(schedule, l, o, p, why))
            return false;
    return true;
}

static bool check_in_place(const pti_schedule *schedule, pti_text *why) {
    if (schedule->in_place && (schedule->n_before > 0 || schedule->n_after > 0 ||
                               schedule->unwritten != NULL || schedule->dropped != NULL))
        return PTI_REJECT(why, "in place nothing lies on a device before or after, and no array is "
                               "unwritten or dropped");
    return true;
}

bool pti_check_launches(const pti_schedule *schedule, pti_text *why) {
    if (!check_in_place(schedule, why))
        return false;
    if (schedule->n_launches < 0)
        return PTI_REJECT(why, "there are %d launches", schedule->n_launches);
    if (schedule->n_ops < 0 || schedule->n_waits < 0 || schedule->n_placements < 0 ||
        schedule->n_before < 0 || schedule->n_after < 0 || schedule->n_invalidations < 0 ||
        schedule->n_tiles < 0)
        return PTI_REJECT(why, "a list of the schedule has a negative length");
    for (int l = 0; l < schedule->n_launches; l++) {
        if (schedule->launch[l].call.instance == NULL)
            return PTI_REJECT(why, "launch %d has no instance", l);
        for (int o = 0; o < schedule->launch[l].call.instance->n_operands; o++)
            if (!check_operand(schedule, l, o, why))
                return false;
    }
    if (schedule->instance->n_sections > 0 && !pti_schedule_is_of_one_launch(schedule))
        return PTI_REJECT(why, "the arrays are those of a launch of %s, which is not the only one",
                          schedule->instance->kernel_name);
    return true;
}
