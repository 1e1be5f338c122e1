#include "queue/shared.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include <polytile/size.h>

/** The smallest box around what a superblock touches of the array that an operand stands for, by
 * whatever operands; empty unless this is the first of them. */
static polytile_domain hull_of_array(pti_call call, int operand, const polytile_domain *threads) {
    polytile_domain hull = pti_box_empty(call.instance->operand[operand].domain.n_dims);
    for (int a = 0; a < call.instance->n_operands; a++) {
        if (call.array[a] != call.array[operand])
            continue;
        if (a < operand)
            return pti_box_empty(hull.n_dims);
        polytile_domain touched = pti_footprint_hull(call.instance, a, PTI_TOUCHES, threads);
        hull = pti_box_coarse_union(&hull, &touched);
    }
    return hull;
}

int64_t pti_shared_bytes(pti_call call, const polytile_domain *threads) {
    int64_t n_bytes = 0;
    for (int a = 0; a < call.instance->n_operands; a++) {
        polytile_domain hull = hull_of_array(call, a, threads);
        if (pti_box_is_empty(&hull))
            continue;
        pti_memory_layout layout =
            pti_memory_layout_of(&hull, call.instance->operand[a].element_bytes);
        if (pti_add_overflows(n_bytes, pti_resident_padded(layout.size_bytes), &n_bytes))
            return INT64_MAX;
    }
    return n_bytes;
}

bool pti_shared_is_any(int n_operands, const int *array) {
    for (int a = 0; a < n_operands; a++) {
        for (int b = 0; b < a; b++) {
            if (array[a] == array[b])
                return true;
        }
    }
    return false;
}

static bool has_shared(pti_call call) {
    return pti_shared_is_any(call.instance->n_operands, call.array);
}

/** Whether every superblock fits with each array in one piece. */
static polytile_status check_superblocks(polytile_context *ctx, pti_call call,
                                         const pti_partition *partition, int64_t arena_bytes) {
    char need[32], had[32];
    int64_t n_superblocks = has_shared(call) ? partition->n_superblocks : 0;
    for (int64_t k = 0; k < n_superblocks; k++) {
        int64_t n_bytes = pti_shared_bytes(call, &partition->superblock[k]);
        if (n_bytes > arena_bytes)
            return pti_fail(ctx, POLYTILE_NO_FIT,
                            "%s: a superblock needs %s with each array in one piece; the limit is "
                            "%s; an array that stands for several operands is one piece around "
                            "all that they touch: give a copy of it for each",
                            call.instance->kernel_name, polytile_size_format(n_bytes, need),
                            polytile_size_format(arena_bytes, had));
    }
    return POLYTILE_OK;
}

static polytile_status cut_and_check(polytile_context *ctx, pti_call call,
                                     const pti_grain_request *request, pti_partition *partition) {
    polytile_status status;
    PTI_TRY(pti_grain_choose(ctx, request, partition));
    PTI_TRY(check_superblocks(ctx, call, partition, request->arena_bytes));
done:
    if (status != POLYTILE_OK)
        pti_partition_free(partition);
    return status;
}

polytile_status pti_shared_cut(polytile_context *ctx, pti_call call,
                               const pti_grain_request *request, pti_partition *partition) {
    polytile_status status = cut_and_check(ctx, call, request, partition);
    pti_grain_request whole = *request;
    if (status != POLYTILE_NO_FIT || !has_shared(call) ||
        pti_shared_bytes(call, &call.instance->threads) > request->arena_bytes)
        return status;
    pti_clear_error(ctx);
    whole.all_fit = true;
    return cut_and_check(ctx, call, &whole, partition);
}
