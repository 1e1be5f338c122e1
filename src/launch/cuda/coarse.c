#include "launch/cuda/coarse.h"

#include "access/footprint/reuse.h"
#include "access/set/boxes.h"
#include "launch/cuda/function.h"
#include "launch/host/host_launch.h"

/** Neighbours run in one thread where together they touch at most this part of what they touch one
 * by one. */
static const double most_touched = 0.9;

pti_cuda_variant pti_cuda_coarse_of(const pti_sub_kernel *sub_kernel) {
    const polytile_implementation *implementation = sub_kernel->config.implementation;
    const pti_cuda_variant none = {.kernel = NULL};
    if (implementation->cuda_coarse == NULL || implementation->n_coarse < 2 ||
        pti_cuda_kernel_for(sub_kernel) != implementation->cuda_contiguous ||
        pti_host_launch_reduces(sub_kernel->instance))
        return none;
    return (pti_cuda_variant){.kernel = implementation->cuda_coarse,
                              .n_neighbours = implementation->n_coarse};
}

void pti_cuda_look_at_sharing(const pti_sub_kernel *sub_kernel, pti_cuda_choice *choice) {
    const int along = sub_kernel->threads->n_dims - 2, n = choice->coarse.n_neighbours;
    if (choice->coarse.kernel == NULL || choice->sharing != PTI_SHARING_UNKNOWN ||
        pti_range_count(sub_kernel->instance->threads.range[along]) < n)
        return;
    choice->sharing = pti_neighbours_touch(sub_kernel->instance, along, n) <= most_touched
                          ? PTI_SHARING_ENOUGH
                          : PTI_SHARING_LITTLE;
}

/** The bytes from a first to after a last one; none if they are equal. */
typedef struct byte_span {
    uint64_t first, end;
} byte_span;

/** Return the bytes around all that a view shows. */
static byte_span span_of(const polytile_view *view, int64_t element_bytes) {
    const polytile_domain *box = &view->resident;
    byte_span span = {(uint64_t)(uintptr_t)view->origin, (uint64_t)(uintptr_t)view->origin};
    for (int d = 0; d < box->n_dims; d++) {
        const uint64_t stride = (uint64_t)view->stride_bytes[d];
        const uint64_t lo = (uint64_t)box->range[d].lo * stride;
        const uint64_t hi = (uint64_t)box->range[d].hi * stride;
        span.first += view->stride_bytes[d] < 0 ? hi : lo;
        span.end += view->stride_bytes[d] < 0 ? lo : hi;
    }
    span.end += (uint64_t)element_bytes;
    return pti_box_is_empty(box) ? (byte_span){0, 0} : span;
}

/** Return whether an array that is written has memory of another view. */
static bool is_aliased(const pti_sub_kernel *sub_kernel, int written) {
    const pti_operand *operands = sub_kernel->instance->operand;
    const byte_span own = span_of(&sub_kernel->views[written], operands[written].element_bytes);
    bool is = false;
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++) {
        const byte_span other = span_of(&sub_kernel->views[a], operands[a].element_bytes);
        is = is || (a != written && own.first < other.end && other.first < own.end);
    }
    return is;
}

static bool has_aliases(const pti_sub_kernel *sub_kernel) {
    bool has = false;
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++)
        has = has ||
              (pti_operand_stores(&sub_kernel->instance->operand[a]) && is_aliased(sub_kernel, a));
    return has;
}

bool pti_cuda_may_be_coarse(const pti_sub_kernel *sub_kernel, const pti_cuda_choice *choice) {
    return choice->coarse.kernel != NULL && sub_kernel->config.block == NULL &&
           !has_aliases(sub_kernel);
}

/** Return whether a launch has a thread for each that the GPU runs at once, though each runs
 * several neighbours. */
static bool fills_gpu(const pti_sub_kernel *sub_kernel, const pti_cuda_variant *variant) {
    return pti_box_count(sub_kernel->threads) / variant->n_neighbours >= variant->n_resident;
}

const pti_cuda_variant *pti_cuda_variant_for(const pti_sub_kernel *sub_kernel,
                                             const pti_cuda_choice *choice) {
    const int asked = choice->has_row ? choice->row.coarsening : 0;
    const bool is_wanted =
        asked == 0 ? choice->sharing == PTI_SHARING_ENOUGH && fills_gpu(sub_kernel, &choice->coarse)
                   : asked > 1;
    return is_wanted && pti_cuda_may_be_coarse(sub_kernel, choice) ? &choice->coarse
                                                                   : &choice->fine;
}
