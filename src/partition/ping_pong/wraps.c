#include "partition/ping_pong/wraps.h"

#include "access/set/box.h"

int64_t pti_section_wrap(const pti_instance *instance, const pti_section *section, int dim) {
    const polytile_range *array = &instance->operand[section->operand].domain.range[dim];
    const pti_subscript *subscript = &section->subscript[dim];
    return pti_wrap_offset(subscript->lo.constant, subscript->hi.constant, pti_range_count(*array));
}

/** Add the dimensions round which a section goes to a set; false if it has other edges. */
static bool add_rounds(const pti_instance *instance, const pti_section *section, unsigned *rounds) {
    bool is_moved = false;
    for (int d = 0; d < section->n_dims; d++) {
        if ((section->edges >> d & 1) == 0)
            continue;
        if (d >= PTI_TILING_ROUNDS || section->followed[d] != d)
            return false;
        if (pti_section_wrap(instance, section, d) != 0) {
            *rounds |= 1u << d;
            is_moved = true;
        }
    }
    return is_moved || !section->is_moved;
}

/** Return whether threads go once round the arrays along a dimension. */
static bool do_threads_go_round(const pti_instance *instance, int dim) {
    bool is = true;
    for (int o = 0; o < instance->n_operands; o++)
        is = is &&
             pti_range_equals(instance->operand[o].domain.range[dim],
                              instance->threads.range[dim]) &&
             pti_range_equals(instance->operand[o].whole.range[dim], instance->threads.range[dim]);
    return is;
}

bool pti_wraps_find(const pti_instance *instance, unsigned *rounds) {
    bool are_known = true;
    *rounds = 0;
    for (int s = 0; s < instance->n_sections && are_known; s++)
        are_known = add_rounds(instance, &instance->section[s], rounds);
    for (int d = 0; d < PTI_TILING_ROUNDS && are_known; d++)
        are_known = !pti_goes_round(*rounds, d) || do_threads_go_round(instance, d);
    return are_known;
}
