#include "access/footprint/fold.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/** Periodic arrays are at least this many times as long as launches reach: on shorter ones neither
 * half is far from the other. */
enum { LEAST_ROUND = 4 };

/** Return whether an expression is the index alone, and a constant. */
static bool is_index_shifted(const pti_affine *affine, int index) {
    bool does = true;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        does = does && affine->index[k] == (k == index);
    return does;
}

static bool has_window(const pti_section *section, int dim, int index) {
    return is_index_shifted(&section->subscript[dim].lo, index) &&
           is_index_shifted(&section->subscript[dim].hi, index);
}

static const pti_section *sections_of(const pti_instance *instance, int o) {
    return &instance->section[instance->operand[o].first_section];
}

/** Return the dimension of an operand that goes round with an index; -1: none. */
static int find_axis(const pti_instance *instance, int o, int index) {
    const pti_operand *operand = &instance->operand[o];
    const int64_t n_rows = pti_range_count(instance->threads.range[index]);
    for (int d = 0; d < operand->domain.n_dims; d++) {
        bool is = operand->n_sections > 0 && operand->domain.range[d].step == 1 &&
                  pti_range_count(operand->domain.range[d]) == n_rows &&
                  pti_range_equals(operand->domain.range[d], operand->whole.range[d]);
        for (int s = 0; s < operand->n_sections; s++)
            is = is && has_window(&sections_of(instance, o)[s], d, index);
        if (is)
            return d;
    }
    return -1;
}

/** Return the most rows, either way round, from a thread to what it touches through a section. */
static int64_t reach_of(const pti_instance *instance, int o, const pti_section *section, int dim,
                        const struct pti_fold *fold) {
    const int64_t begin =
        instance->threads.range[fold->index].lo - instance->operand[o].domain.range[dim].lo;
    const int64_t lo = section->subscript[dim].lo.constant + begin;
    const int64_t hi = section->subscript[dim].hi.constant + begin;
    const int64_t middle = lo + (hi - lo) / 2;
    const int64_t rounds = pti_floor_div(middle + fold->n_rows / 2, fold->n_rows);
    return pti_max(pti_abs(lo - rounds * fold->n_rows), pti_abs(hi - rounds * fold->n_rows));
}

/** Find how an array goes round; false if the launch cannot be folded along the index. */
static bool fold_array(const pti_instance *instance, int o, struct pti_fold *fold, bool *wraps) {
    const pti_operand *operand = &instance->operand[o];
    const int axis = fold->axis[o] = find_axis(instance, o, fold->index);
    if (axis < 0)
        return !operand->writes;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &sections_of(instance, o)[s];
        fold->reach[o] = pti_max(fold->reach[o], reach_of(instance, o, section, axis, fold));
        *wraps = *wraps || (section->edges >> axis & 1) != 0;
    }
    return fold->n_rows >= LEAST_ROUND && fold->reach[o] <= fold->n_rows / LEAST_ROUND;
}

/** Find the arrays' axes along an index; false if the launch cannot be folded there. */
static bool fold_along(const pti_instance *instance, int index, struct pti_fold *fold) {
    bool wraps = false, does = true;
    fold->index = index;
    fold->n_rows = pti_range_count(instance->threads.range[index]);
    for (int o = 0; o < instance->n_operands && does; o++) {
        fold->reach[o] = 0;
        does = fold_array(instance, o, fold, &wraps);
    }
    return does && wraps;
}

/** Return whether a launch may have pieces, and all that it writes is known. */
static bool may_fold(const pti_instance *instance) {
    bool may = instance->given == NULL && !instance->is_team && instance->n_further == 0,
         any = false;
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        may = may && !operand->is_scratch && !operand->reduces && !operand->partial;
    }
    for (int s = 0; s < instance->n_sections; s++)
        any = any || instance->section[s].edges != 0;
    return may && any && 2 * instance->n_operands <= POLYTILE_MAX_PIECES;
}

/** Add the operand of an array, or of a half of it. */
static polytile_status add_operand(polytile_context *ctx, const pti_instance *instance, int o,
                                   pti_instance *made) {
    const pti_operand *whole = &instance->operand[o];
    pti_operand *added = &made->operand[made->n_operands];
    *added = *whole;
    added->array = o;
    added->name = strdup(whole->name);
    added->first_section = made->n_sections;
    for (int s = 0; s < whole->n_sections; s++) {
        made->section[made->n_sections] = sections_of(instance, o)[s];
        made->section[made->n_sections++].operand = made->n_operands;
    }
    made->n_operands++;
    return added->name == NULL ? pti_fail_memory(ctx, instance->kernel_name, sizeof *added)
                               : POLYTILE_OK;
}

/** Cut an operand's domain to one of its halves. */
static void take_half(pti_operand *operand, int axis, int64_t n_rows, bool is_upper) {
    polytile_range *rows = &operand->domain.range[axis];
    const int64_t middle = rows->lo + pti_ceil_div(n_rows, 2);
    if (is_upper)
        rows->lo = middle;
    else
        rows->hi = middle - 1;
}

/** Make the instance whose arrays are halves. */
static polytile_status make_halves(polytile_context *ctx, const pti_instance *instance,
                                   struct pti_fold *fold) {
    polytile_status status;
    PTI_TRY(pti_instance_copy_frame(ctx, instance, instance->n_operands, &fold->instance));
    pti_instance *made = fold->instance;
    if (!PTI_RESIZE(made->section, 2 * (int64_t)instance->n_sections + 1))
        PTI_TRY(pti_fail_memory(ctx, instance->kernel_name,
                                2.0 * instance->n_sections * sizeof *made->section));
    for (int o = 0; o < instance->n_operands; o++) {
        PTI_TRY(add_operand(ctx, instance, o, made));
        if (fold->axis[o] >= 0)
            take_half(&made->operand[o], fold->axis[o], fold->n_rows, false);
    }
    for (int o = 0; o < instance->n_operands; o++) {
        if (fold->axis[o] < 0)
            continue;
        PTI_TRY(add_operand(ctx, instance, o, made));
        made->n_further++;
        take_half(&made->operand[made->n_operands - 1], fold->axis[o], fold->n_rows, true);
    }
done:
    return status;
}

/** Find the index along which a launch can be folded; -1: none. */
static int find_index(const pti_instance *instance, struct pti_fold *fold) {
    int index = 0;
    while (index < instance->n_indices && !fold_along(instance, index, fold))
        index++;
    return index < instance->n_indices ? index : -1;
}

polytile_status pti_instance_add_fold(polytile_context *ctx, pti_instance *instance) {
    struct pti_fold *fold = NULL;
    polytile_status status = POLYTILE_OK;
    const size_t n = (size_t)instance->n_operands + 1;
    if (!may_fold(instance))
        return POLYTILE_OK;
    fold = calloc(1, sizeof *fold);
    if (fold != NULL) {
        fold->axis = calloc(n, sizeof *fold->axis);
        fold->reach = calloc(n, sizeof *fold->reach);
    }
    if (fold == NULL || fold->axis == NULL || fold->reach == NULL)
        PTI_TRY(pti_fail_memory(ctx, instance->kernel_name, (double)n * sizeof *fold->reach));
    if (find_index(instance, fold) >= 0) {
        PTI_TRY(make_halves(ctx, instance, fold));
        instance->fold = fold;
        fold = NULL;
    }
done:
    pti_fold_free(fold);
    return status;
}
