#include "launch/cuda/rims.h"

#include "access/footprint/edges.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "launch/cuda/function.h"

#include <string.h>

/* Views of arrays, as many as a kernel takes, and after them one a parameter. */
enum { MOST_VIEWS = PTI_CUDA_ARGUMENT_BYTES / sizeof(polytile_view) + POLYTILE_MAX_PARAMETERS };

/** A launch of the threads within the ends of arrays, whose views say so. */
typedef struct inner_launch {
    pti_sub_kernel launch;
    polytile_view views[MOST_VIEWS];
} inner_launch;

pti_cuda_rims pti_cuda_rims_around(const polytile_domain *inner, const polytile_domain *threads) {
    pti_cuda_rims rims = {.inner = *inner};
    polytile_domain left = *threads;
    for (int d = 0; d < threads->n_dims; d++) {
        polytile_domain rim = left;
        rim.range[d].hi = inner->range[d].lo - 1;
        if (!pti_range_is_empty(rim.range[d]))
            rims.rim[rims.n_rims++] = rim;
        rim = left;
        rim.range[d].lo = inner->range[d].hi + 1;
        if (!pti_range_is_empty(rim.range[d]))
            rims.rim[rims.n_rims++] = rim;
        left.range[d] = inner->range[d];
    }
    return rims;
}

static bool goes_beyond(const pti_sub_kernel *launch) {
    bool does = false;
    for (int a = 0; a < pti_instance_n_arrays(launch->instance); a++)
        does = does || (launch->views[a].n_pieces == 0 &&
                        (launch->views[a].first_piece & POLYTILE_BEYOND) != 0);
    return does && !pti_sub_kernel_has_pieces(launch);
}

static bool reduces_any(const pti_instance *instance) {
    bool does = false;
    for (int o = 0; o < instance->n_operands; o++)
        does = does || instance->operand[o].reduces;
    return does;
}

/** Make the launch of the inner threads; false if it would run no faster kernel. */
static bool make_inner(const pti_sub_kernel *launch, const polytile_domain *threads,
                       inner_launch *inner) {
    const polytile_implementation *implementation = launch->config.implementation;
    const int n_arrays = pti_instance_n_arrays(launch->instance);
    memcpy(inner->views, launch->views,
           (size_t)(n_arrays + launch->config.n_values) * sizeof *inner->views);
    for (int a = 0; a < n_arrays; a++)
        inner->views[a].first_piece &= ~POLYTILE_BEYOND;
    inner->launch = *launch;
    inner->launch.threads = threads;
    inner->launch.views = inner->views;
    return implementation->cuda_contiguous != NULL &&
           pti_cuda_kernel_for(&inner->launch) == implementation->cuda_contiguous;
}

polytile_status pti_cuda_launch_rims(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                     polytile_status (*enqueue)(pti_cuda_device *cuda,
                                                                const pti_sub_kernel *launch),
                                     bool *is_cut) {
    inner_launch inner;
    polytile_status status = POLYTILE_OK;
    *is_cut = false;
    if (!goes_beyond(launch) || reduces_any(launch->instance))
        return POLYTILE_OK;
    const polytile_domain within = pti_instance_within_edges(launch->instance, launch->threads);
    if (pti_box_count(&within) < pti_max(1, cuda->device.fill_threads) ||
        !make_inner(launch, &within, &inner))
        return POLYTILE_OK;
    const pti_cuda_rims rims = pti_cuda_rims_around(&within, launch->threads);
    *is_cut = true;
    PTI_TRY(enqueue(cuda, &inner.launch));
    for (int k = 0; k < rims.n_rims; k++) {
        pti_sub_kernel part = *launch;
        part.threads = &rims.rim[k];
        PTI_TRY(enqueue(cuda, &part));
    }
done:
    return status;
}
