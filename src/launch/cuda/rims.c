#include "launch/cuda/rims.h"

#include "access/footprint/edges.h"
#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "launch/cuda/function.h"
#include "launch/host/host_launch.h"

#include <string.h>

/* Views of arrays, as many as a kernel takes, and after them one a parameter. */
enum { MOST_VIEWS = PTI_CUDA_ARGUMENT_BYTES / sizeof(polytile_view) + POLYTILE_MAX_PARAMETERS };

/** A launch of the threads within the ends of arrays, whose views say so. */
typedef struct inner_launch {
    pti_sub_kernel sub_kernel;
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
static polytile_status enqueue_rim(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                   const polytile_domain *rim, pti_cuda_enqueue *enqueue) {
    pti_instance instance = *sub_kernel->instance;
    polytile_domain threads = *rim;
    pti_sub_kernel part = *sub_kernel;
    part.instance = &instance;
    part.threads = &threads;
    for (int d = 0; d < rim->n_dims; d++) {
        const int64_t lo = pti_instance_asked_index(sub_kernel->instance, d, rim->range[d].lo),
                      hi = pti_instance_asked_index(sub_kernel->instance, d, rim->range[d].hi);
        if (rim->range[d].step == 1)
            continue;
        instance.asked.range[d] = (polytile_range){lo, hi, hi - lo};
        threads.range[d] = (polytile_range){0, 1, 1};
    }
    return enqueue(cuda, &part);
}

/** Return whether some threads may have indices beyond the ends of arrays. An array may be in
 * pieces for that, which kernels look through. */
static bool goes_beyond(const pti_sub_kernel *sub_kernel) {
    bool is_told = pti_sub_kernel_has_pieces(sub_kernel), has_edges = false;
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++)
        is_told = is_told || (sub_kernel->views[a].first_piece & POLYTILE_BEYOND) != 0;
    for (int s = 0; s < sub_kernel->instance->n_sections; s++)
        has_edges = has_edges || sub_kernel->instance->section[s].edges != 0;
    return is_told && has_edges;
}

/* Arrays in pieces. */

static bool touches_any(const pti_instance *instance, int operand, const polytile_domain *threads) {
    polytile_domain hull;
    return pti_footprint_find_hull(instance, operand, PTI_TOUCHES, threads, &hull);
}

/** Take as few threads as possible away from an end of an index, so that the others touch nothing
 * of an operand; empty if that takes all. */
static polytile_domain trim_end(const pti_instance *instance, int operand,
                                const polytile_domain *threads, int index, bool is_low) {
    const polytile_range all = threads->range[index];
    polytile_domain left = *threads;
    int64_t too_few = 0, enough = pti_range_count(all);
    while (enough - too_few > 1) {
        const int64_t n = too_few + (enough - too_few) / 2;
        left.range[index].lo = all.lo + (is_low ? n : 0);
        left.range[index].hi = all.hi - (is_low ? 0 : n);
        *(touches_any(instance, operand, &left) ? &too_few : &enough) = n;
    }
    left.range[index].lo = all.lo + (is_low ? enough : 0);
    left.range[index].hi = all.hi - (is_low ? 0 : enough);
    return pti_range_is_empty(left.range[index]) ? pti_box_empty(threads->n_dims) : left;
}

/** Narrow a box to threads that touch nothing of an operand: all but some at one end of an
 * index. */
static void narrow_beside(const pti_instance *instance, int operand, polytile_domain *threads) {
    polytile_domain best = pti_box_empty(threads->n_dims);
    for (int end = 0; end < 2 * threads->n_dims; end++) {
        const polytile_domain left = trim_end(instance, operand, threads, end / 2, end % 2 == 0);
        if (pti_box_count(&left) > pti_box_count(&best))
            best = left;
    }
    *threads = best;
}

/** Return the piece of an array of which threads touch the most. */
static int find_main_piece(const pti_instance *instance, int array,
                           const polytile_domain *threads) {
    int64_t most = 0;
    int found = array;
    for (int o = 0; o < instance->n_operands; o++) {
        polytile_domain hull;
        if (pti_operand_array(instance, o) != array ||
            !pti_footprint_find_hull(instance, o, PTI_TOUCHES, threads, &hull) ||
            pti_box_count(&hull) <= most)
            continue;
        most = pti_box_count(&hull);
        found = o;
    }
    return found;
}

/** Narrow a box to threads for which an array is one piece. */
static void keep_one_piece(const pti_sub_kernel *sub_kernel, int array, polytile_domain *threads) {
    const pti_instance *instance = sub_kernel->instance;
    if (sub_kernel->views[array].n_pieces == 0 || pti_box_is_empty(threads))
        return;
    const int kept = find_main_piece(instance, array, threads);
    for (int o = 0; o < instance->n_operands; o++)
        if (o != kept && pti_operand_array(instance, o) == array && !pti_box_is_empty(threads) &&
            touches_any(instance, o, threads))
            narrow_beside(instance, o, threads);
}

/** Return the threads for which arrays are whole, and indices stay within their ends. */
static polytile_domain find_inner_threads(const pti_sub_kernel *sub_kernel) {
    polytile_domain inner = pti_instance_within_edges(sub_kernel->instance, sub_kernel->threads);
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++)
        keep_one_piece(sub_kernel, a, &inner);
    return inner;
}

/** Return the view of the one piece of an array that threads touch: those of a launch's pieces are
 * in the order of operands. */
static polytile_view view_of_piece(const pti_sub_kernel *sub_kernel, int array,
                                   const polytile_domain *threads) {
    const pti_instance *instance = sub_kernel->instance;
    const int kept = find_main_piece(instance, array, threads);
    int number = pti_instance_n_arrays(instance) + sub_kernel->config.n_values +
                 sub_kernel->views[array].first_piece;
    if (sub_kernel->views[array].n_pieces == 0)
        return sub_kernel->views[array];
    for (int o = 0; o < kept; o++)
        number += pti_operand_array(instance, o) == array &&
                  touches_any(instance, o, sub_kernel->threads);
    return sub_kernel->views[number];
}

/** Make the launch of the inner threads; false if it would run no faster kernel. */
static bool make_inner(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                       inner_launch *inner) {
    const polytile_implementation *implementation = sub_kernel->config.implementation;
    const int n_arrays = pti_instance_n_arrays(sub_kernel->instance);
    memcpy(inner->views, sub_kernel->views,
           (size_t)(n_arrays + sub_kernel->config.n_values) * sizeof *inner->views);
    for (int a = 0; a < n_arrays; a++) {
        inner->views[a] = view_of_piece(sub_kernel, a, threads);
        inner->views[a].first_piece &= ~POLYTILE_BEYOND;
    }
    inner->sub_kernel = *sub_kernel;
    inner->sub_kernel.threads = threads;
    inner->sub_kernel.views = inner->views;
    return implementation->cuda_contiguous != NULL &&
           pti_cuda_kernel_for(&inner->sub_kernel) == implementation->cuda_contiguous;
}

polytile_status pti_cuda_launch_rims(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                     pti_cuda_enqueue *enqueue, bool *is_cut) {
    inner_launch inner;
    polytile_status status = POLYTILE_OK;
    *is_cut = false;
    if (!goes_beyond(sub_kernel) || pti_host_launch_reduces(sub_kernel->instance))
        return POLYTILE_OK;
    const polytile_domain within = find_inner_threads(sub_kernel);
    if (pti_box_count(&within) < pti_max(1, cuda->device.fill_threads) ||
        !make_inner(sub_kernel, &within, &inner))
        return POLYTILE_OK;
    const pti_cuda_rims rims = pti_cuda_rims_around(&within, sub_kernel->threads,
                                                    sub_kernel->config.implementation->takes_steps);
    *is_cut = true;
    PTI_TRY(enqueue(cuda, &inner.sub_kernel));
    for (int k = 0; k < rims.n_rims; k++)
        PTI_TRY(enqueue_rim(cuda, sub_kernel, &rims.rim[k], enqueue));
done:
    return status;
}
