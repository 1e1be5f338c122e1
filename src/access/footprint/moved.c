#include "access/footprint/moved.h"

#include "access/footprint/affine.h"

/** How far an expression moves with the threads. */
static int64_t shift_of_affine(const pti_affine *affine, int n_indices, const pti_shift *shift) {
    int64_t by = 0;
    for (int k = 0; k < n_indices; k++)
        by += affine->index[k] * shift->by[k];
    return by;
}

/** Return whether both ends of a section's subscript move alike, and are inside the array where
 * they do. */
static bool subscript_moves(const pti_subscript *subscript, const polytile_range *array,
                            const polytile_domain *threads, const pti_shift *shift, int64_t *by) {
    *by = shift_of_affine(&subscript->lo, threads->n_dims, shift);
    if (shift_of_affine(&subscript->hi, threads->n_dims, shift) != *by)
        return false;
    return *by == 0 || (array->step == 1 && pti_affine_min(&subscript->lo, threads) >= array->lo &&
                        pti_affine_max(&subscript->hi, threads) <= array->hi);
}

static bool section_moves(const pti_instance *instance, const pti_section *section,
                          const polytile_domain *threads, const pti_shift *shift,
                          pti_shift *moved) {
    const polytile_domain *array = pti_section_domain(instance, section);
    bool moves = section->edges == 0 && !section->is_moved && section->indirection == NULL;
    for (int d = 0; d < section->n_dims && moves; d++)
        moves = subscript_moves(&section->subscript[d], &array->range[d], threads, shift,
                                &moved->by[d]);
    return moves;
}

/** Return whether an operand is of a kind that is asked about. */
static bool is_plain_operand(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    bool is_plain = !of->is_scratch && !of->reduces && !of->fresh && !of->partial &&
                    of->same_array == operand && of->n_sections > 0;
    for (int d = 0; d < of->domain.n_dims; d++)
        is_plain = is_plain && of->shear[d].slope == 0;
    return is_plain;
}

static bool shifts_equal(const pti_shift *a, const pti_shift *b, int n_dims) {
    bool equal = true;
    for (int d = 0; d < n_dims; d++)
        equal = equal && a->by[d] == b->by[d];
    return equal;
}

static bool operand_moves(const pti_instance *instance, int operand, const polytile_domain *threads,
                          const pti_shift *shift, pti_shift *moved) {
    const pti_operand *of = &instance->operand[operand];
    const pti_section *section = &instance->section[of->first_section];
    *moved = (pti_shift){{0}};
    if (!is_plain_operand(instance, operand) ||
        !section_moves(instance, section, threads, shift, moved))
        return false;
    for (int s = 1; s < of->n_sections; s++) {
        pti_shift other = {{0}};
        if (!section_moves(instance, &section[s], threads, shift, &other) ||
            !shifts_equal(moved, &other, of->domain.n_dims))
            return false;
    }
    return true;
}

bool pti_instance_find_shifts(const pti_instance *instance, const polytile_domain *threads,
                              const pti_shift *shift, pti_shift *shifts) {
    bool moves = !instance->is_team && instance->inspection == NULL && instance->n_further == 0 &&
                 instance->slabs == NULL;
    for (int o = 0; o < instance->n_operands && moves; o++)
        moves = operand_moves(instance, o, threads, shift, &shifts[o]);
    return moves;
}
