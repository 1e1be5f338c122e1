#include "access/footprint/slabs.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/footprint/section.h"
#include "access/footprint/section_boxes.h"

/** Return whether a subscript is an interval that moves with an index, and with no other. */
static bool is_window_of(const pti_subscript *subscript, int index) {
    bool is = subscript->step == 1;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        is = is && subscript->lo.index[k] == (k == index) && subscript->hi.index[k] == (k == index);
    return is;
}

/** Return whether a slab along an index is as many boxes of a section as all threads are. */
static bool moves_alone(const pti_section *section, int index) {
    int n_named = 0, n_windows = 0;
    for (int d = 0; d < section->n_dims; d++) {
        n_named += pti_subscript_names(&section->subscript[d], index);
        n_windows += is_window_of(&section->subscript[d], index);
    }
    return n_named == 1 && n_windows == 1;
}

/** Return the indices that move alone in each section of an operand, as bits. */
static unsigned indices_of(const pti_instance *instance, const pti_operand *operand) {
    unsigned indices = 0;
    for (int k = 0; k < instance->n_indices; k++) {
        bool moves = true;
        for (int s = 0; s < operand->n_sections; s++)
            moves = moves && moves_alone(&instance->section[operand->first_section + s], k);
        indices |= (unsigned)moves << k;
    }
    return indices;
}

/** Return whether all that all threads write is known in few boxes. */
static bool are_writes_known(const pti_instance *instance, const pti_operand *operand) {
    pti_boxes boxes = {0};
    bool is = true;
    for (int s = 0; s < operand->n_sections && is; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        is = section->exact && (section->role == POLYTILE_IN ||
                                pti_section_add_exact(instance, section, &instance->threads,
                                                      PTI_MAX_WRITE_BOXES, &boxes));
    }
    is = is && boxes.n_boxes <= PTI_MAX_WRITE_BOXES && !boxes.failed;
    pti_boxes_free(&boxes);
    return is;
}

/** Find the indices along which all partial operands are known, as bits. */
static unsigned find_indices(const pti_instance *instance) {
    unsigned indices = ~0u;
    bool has_partial = false;
    for (int o = 0; o < instance->n_operands && indices != 0; o++) {
        const pti_operand *operand = &instance->operand[o];
        if (!operand->partial)
            continue;
        has_partial = true;
        indices &= indices_of(instance, operand);
        if (indices != 0 && !are_writes_known(instance, operand))
            indices = 0;
    }
    return has_partial ? indices : 0;
}

polytile_status pti_instance_add_slabs(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    unsigned indices = find_indices(instance);
    if (indices == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_instance_copy(ctx, instance, &instance->slabs));
    instance->slab_indices = indices;
    for (int o = 0; o < instance->n_operands; o++)
        pti_operand_set_known(instance->slabs, &instance->slabs->operand[o]);
done:
    return status;
}

const pti_instance *pti_instance_for_slabs(const pti_instance *instance, int index) {
    bool holds = instance->slabs != NULL && (instance->slab_indices >> index & 1) != 0;
    return holds ? instance->slabs : instance;
}
