#include "launch/host/scratch.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"
#include "access/set/memory_layout.h"
#include "base/checked.h"
#include "launch/device/view.h"

#include <stdlib.h>
#include <string.h>

/** The alignment of each operand's scratch: workers share no cache line. */
enum { LINE_BYTES = 64 };

void pti_host_scratch_free(pti_host_scratch *scratch) {
    free(scratch->memory);
    free(scratch->views);
    *scratch = (pti_host_scratch){0};
}

/** Round up to whole lines; INT64_MAX if that exceeds 64 bits. */
static int64_t in_lines(int64_t n_bytes) {
    return n_bytes > INT64_MAX - LINE_BYTES ? INT64_MAX
                                            : pti_ceil_div(n_bytes, LINE_BYTES) * LINE_BYTES;
}

/** Return the most bytes that one thread has of an operand. */
static int64_t thread_bytes_of(const pti_instance *instance, int operand) {
    const pti_section *section = &instance->section[instance->operand[operand].first_section];
    int64_t n_bytes = instance->operand[operand].element_bytes;
    for (int d = 0; d < section->n_dims; d++) {
        pti_affine width = pti_subscript_width(&section->subscript[d]);
        int64_t n_most = pti_max(pti_affine_max(&width, &instance->threads) + 1, 0);
        if (pti_mul_overflows(n_bytes, n_most, &n_bytes))
            return INT64_MAX;
    }
    return in_lines(n_bytes);
}

static int64_t thread_bytes(const pti_instance *instance) {
    int64_t n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].is_scratch)
            n_bytes = pti_add_saturated(n_bytes, thread_bytes_of(instance, o));
    return n_bytes;
}

static pti_memory_layout layout_for(const pti_instance *instance, int operand,
                                    const polytile_domain *threads) {
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, threads);
    return pti_memory_layout_of(&hull, instance->operand[operand].element_bytes);
}

/** Return what some threads have of scratch, all operands one after the other. */
static int64_t bytes_for(const pti_instance *instance, const polytile_domain *threads) {
    int64_t n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].is_scratch)
            n_bytes =
                pti_add_saturated(n_bytes, in_lines(layout_for(instance, o, threads).size_bytes));
    return n_bytes;
}

static polytile_status refuse_scratch(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                      int n_workers, int64_t worker_bytes) {
    return pti_fail_memory(ctx, sub_kernel->instance->kernel_name,
                           (double)n_workers * (double)worker_bytes);
}

/** Have so much memory, whose contents do not matter. False when memory runs out. */
static bool have_memory(pti_host_scratch *scratch, int64_t n_bytes) {
    if (n_bytes <= scratch->memory_bytes)
        return true;
    free(scratch->memory);
    scratch->memory = aligned_alloc(LINE_BYTES, (size_t)n_bytes);
    scratch->memory_bytes = scratch->memory == NULL ? 0 : n_bytes;
    return scratch->memory != NULL;
}

static bool have_views(pti_host_scratch *scratch, int64_t n_views) {
    if (n_views <= scratch->n_views_had)
        return true;
    free(scratch->views);
    scratch->views = calloc((size_t)n_views, sizeof *scratch->views);
    scratch->n_views_had = scratch->views == NULL ? 0 : n_views;
    return scratch->views != NULL;
}

static polytile_status reserve_scratch(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                       int n_workers, int64_t worker_bytes,
                                       pti_host_scratch *scratch) {
    int64_t n_bytes;
    int64_t n_views = (int64_t)n_workers * pti_sub_kernel_n_views(sub_kernel);
    if (worker_bytes > INT64_MAX - LINE_BYTES ||
        pti_mul_overflows(worker_bytes, n_workers, &n_bytes) || !have_memory(scratch, n_bytes) ||
        !have_views(scratch, n_views))
        return refuse_scratch(ctx, sub_kernel, n_workers, worker_bytes);
    scratch->worker_bytes = worker_bytes;
    return POLYTILE_OK;
}

polytile_status pti_host_scratch_reserve(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                         int n_workers, pti_host_scratch *scratch) {
    int64_t worker_bytes = pti_max(PTI_HOST_SCRATCH_BYTES, thread_bytes(sub_kernel->instance));
    return reserve_scratch(ctx, sub_kernel, n_workers, worker_bytes, scratch);
}

/** Copy the launch's views, and let those of scratch be some memory for some threads. */
static void fill_views(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                       const polytile_view *views, char *memory, polytile_view *own) {
    const pti_instance *instance = sub_kernel->instance;
    memcpy(own, views, (size_t)pti_sub_kernel_n_views(sub_kernel) * sizeof *own);
    for (int o = 0; o < pti_instance_n_arrays(instance); o++) {
        if (!instance->operand[o].is_scratch)
            continue;
        pti_memory_layout layout = layout_for(instance, o, threads);
        own[o] = pti_view_of(memory, &layout, &instance->operand[o].whole);
        memory += in_lines(layout.size_bytes);
    }
}

polytile_status pti_host_scratch_reserve_whole(polytile_context *ctx,
                                               const pti_sub_kernel *sub_kernel,
                                               pti_host_scratch *scratch,
                                               const polytile_view **views) {
    int64_t n_bytes = bytes_for(sub_kernel->instance, sub_kernel->threads);
    polytile_status status =
        reserve_scratch(ctx, sub_kernel, 1, pti_max(n_bytes, LINE_BYTES), scratch);
    if (status == POLYTILE_OK)
        fill_views(sub_kernel, sub_kernel->threads, sub_kernel->views, scratch->memory,
                   scratch->views);
    *views = scratch->views;
    return status;
}

/** Return the longest dimension along which threads have scratch of their own; -1: one thread is
 * left. */
static int find_split(const pti_instance *instance, const polytile_domain *threads) {
    int longest = -1;
    int64_t n_most = 1;
    for (int d = 0; d < threads->n_dims; d++) {
        bool depends = false;
        for (int o = 0; o < instance->n_operands; o++)
            depends |= instance->operand[o].is_scratch && pti_operand_depends(instance, o, d);
        int64_t n_threads = pti_range_count(threads->range[d]);
        if (depends && n_threads > n_most) {
            longest = d;
            n_most = n_threads;
        }
    }
    return longest;
}

/** Threads that a worker runs. */
typedef struct scratch_run {
    const pti_sub_kernel *sub_kernel;
    const polytile_view *views; /* without memory for scratch */
    pti_run_threads *run;
    char *memory; /* of the worker */
    polytile_view *own;
} scratch_run;

/** Run threads, in halves until the scratch of each fits the worker's memory. */
static void run_fitting(const scratch_run *of, const polytile_domain *threads) {
    const pti_instance *instance = of->sub_kernel->instance;
    int split = find_split(instance, threads);
    if (split < 0 || bytes_for(instance, threads) <= of->sub_kernel->host_scratch->worker_bytes) {
        fill_views(of->sub_kernel, threads, of->views, of->memory, of->own);
        of->run(of->sub_kernel, threads, of->own);
        return;
    }
    polytile_domain half = *threads;
    const polytile_range *range = &threads->range[split];
    half.range[split].hi = range->lo + (range->hi - range->lo) / 2;
    run_fitting(of, &half);
    half.range[split] = (polytile_range){half.range[split].hi + 1, range->hi, 1};
    run_fitting(of, &half);
}

void pti_host_scratch_run(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                          const polytile_view *views, int worker, pti_run_threads *run) {
    const pti_host_scratch *scratch = sub_kernel->host_scratch;
    const scratch_run of = {.sub_kernel = sub_kernel,
                            .views = views,
                            .run = run,
                            .memory = (char *)scratch->memory + worker * scratch->worker_bytes,
                            .own = scratch->views + worker * pti_sub_kernel_n_views(sub_kernel)};
    run_fitting(&of, threads);
}
