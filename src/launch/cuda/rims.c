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

static void add_rim(pti_cuda_rims *rims, const polytile_domain *left, int d, polytile_range range) {
    if (pti_range_is_empty(range))
        return;
    rims->rim[rims->n_rims] = *left;
    rims->rim[rims->n_rims++].range[d] = range;
}

pti_cuda_rims pti_cuda_rims_around(const polytile_domain *inner, const polytile_domain *threads,
                                   bool takes_steps) {
    pti_cuda_rims rims = {.inner = *inner};
    polytile_domain left = *threads;
    for (int d = 0; d < threads->n_dims; d++) {
        const polytile_range all = threads->range[d], within = inner->range[d];
        const bool are_thin = within.lo == all.lo + 1 && within.hi == all.hi - 1;
        if (takes_steps && are_thin) {
            add_rim(&rims, &left, d, (polytile_range){all.lo, all.hi, all.hi - all.lo});
        } else {
            add_rim(&rims, &left, d, (polytile_range){all.lo, within.lo - 1, 1});
            add_rim(&rims, &left, d, (polytile_range){within.hi + 1, all.hi, 1});
        }
        left.range[d] = within;
    }
    return rims;
}

/** Enqueue the threads of a rim: of two ends of an index they are two, which the program counts by
 * the step between these. */
static polytile_status enqueue_rim(pti_cuda_device *cuda, const pti_sub_kernel *launch,
                                   const polytile_domain *rim, pti_cuda_enqueue *enqueue) {
    pti_instance instance = *launch->instance;
    polytile_domain threads = *rim;
    pti_sub_kernel part = *launch;
    part.instance = &instance;
    part.threads = &threads;
    for (int d = 0; d < rim->n_dims; d++) {
        const int64_t lo = pti_instance_asked_index(launch->instance, d, rim->range[d].lo),
                      hi = pti_instance_asked_index(launch->instance, d, rim->range[d].hi);
        if (rim->range[d].step == 1)
            continue;
        instance.asked.range[d] = (polytile_range){lo, hi, hi - lo};
        threads.range[d] = (polytile_range){0, 1, 1};
    }
    return enqueue(cuda, &part);
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
                                     pti_cuda_enqueue *enqueue, bool *is_cut) {
    inner_launch inner;
    polytile_status status = POLYTILE_OK;
    *is_cut = false;
    if (!goes_beyond(launch) || reduces_any(launch->instance))
        return POLYTILE_OK;
    const polytile_domain within = pti_instance_within_edges(launch->instance, launch->threads);
    if (pti_box_count(&within) < pti_max(1, cuda->device.fill_threads) ||
        !make_inner(launch, &within, &inner))
        return POLYTILE_OK;
    const pti_cuda_rims rims =
        pti_cuda_rims_around(&within, launch->threads, launch->config.implementation->takes_steps);
    *is_cut = true;
    PTI_TRY(enqueue(cuda, &inner.launch));
    for (int k = 0; k < rims.n_rims; k++)
        PTI_TRY(enqueue_rim(cuda, launch, &rims.rim[k], enqueue));
done:
    return status;
}
