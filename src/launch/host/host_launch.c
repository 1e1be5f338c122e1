#include "launch/host/host_launch.h"

#include "base/crash.h"
#include "launch/host/accumulate.h"
#include "launch/host/chunk_grid.h"
#include "launch/host/scratch.h"
#include "launch/host/slices.h"

#include <string.h>

/** What filling and combining a byte of a copy takes, in units of what a byte takes that a body
 * touches. */
static const double copied_cost = 3;

/** Call a function that knows no steps for each index that has one. */
static void call_without_steps(const polytile_implementation *implementation,
                               polytile_domain threads, const polytile_view *views, int dim) {
    while (dim < threads.n_dims && threads.range[dim].step == 1)
        dim++;
    if (dim == threads.n_dims) {
        implementation->host(&threads, views, implementation->user);
        return;
    }
    polytile_range along = threads.range[dim];
    for (int64_t index = along.lo; index <= along.hi; index += along.step) {
        threads.range[dim] = (polytile_range){index, index, 1};
        call_without_steps(implementation, threads, views, dim + 1);
    }
}

/** Call the body's function with the program's threads. */
static void call_host(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                      const polytile_view *views) {
    const polytile_implementation *implementation = sub_kernel->config.implementation;
    const polytile_domain asked = pti_instance_asked_box(sub_kernel->instance, threads);
    if (implementation->takes_steps)
        implementation->host(&asked, views, implementation->user);
    else
        call_without_steps(implementation, asked, views, 0);
}

/** Run a body over views that have memory; a crash inside is reported. */
static void call_body(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                      const polytile_view *views) {
    const pti_crash_note note = {sub_kernel->instance->kernel_name,
                                 "was something touched that is not declared? "
                                 "POLYTILE_CHECK=access finds it"};
    const pti_crash_note *before = pti_crash_enter(&note);
    call_host(sub_kernel, threads, views);
    pti_crash_enter(before);
}

static void run_part(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                     const polytile_view *views, int worker) {
    if (sub_kernel->lacks_scratch)
        pti_host_scratch_run(sub_kernel, threads, views, worker, call_body);
    else
        call_body(sub_kernel, threads, views);
}

/** Workers are numbered by the launch, since the calling thread may be any of a team of the
 * program's own. */
static void run_body(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                     const polytile_view *views, int worker) {
    const bool combines =
        sub_kernel->slices != NULL && pti_host_launch_reduces(sub_kernel->instance);
    pti_host_slices_run(sub_kernel, threads, views, worker, combines, run_part);
}

static void run_chunk(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid, int64_t chunk,
                      const polytile_view *views) {
    polytile_domain threads = pti_chunk_grid_get(sub_kernel->threads, grid, chunk);
    run_body(sub_kernel, &threads, views, (int)chunk);
}

void pti_host_launch_chunk(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                           int64_t k) {
    run_chunk(sub_kernel, grid, k, sub_kernel->views);
}

/** A body of POLYTILE_KERNEL() has no more: arrays, parameters and pieces. */
enum { MOST_VIEWS = 8 + POLYTILE_MAX_PARAMETERS + POLYTILE_MAX_PIECES };

/** Run all in one thread: what it reduces into is its own. */
static void run_whole(const pti_sub_kernel *sub_kernel) {
    polytile_view views[MOST_VIEWS];
    const size_t n_views = (size_t)pti_sub_kernel_n_views(sub_kernel);
    if (!pti_host_launch_reduces(sub_kernel->instance) || n_views > MOST_VIEWS) {
        run_body(sub_kernel, sub_kernel->threads, sub_kernel->views, 0);
        return;
    }
    memcpy(views, sub_kernel->views, n_views * sizeof *views);
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++)
        pti_mark_alone(sub_kernel, a, &views[a]);
    run_body(sub_kernel, sub_kernel->threads, views, 0);
}

void pti_host_launch_box(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                         int worker) {
    run_body(sub_kernel, threads, sub_kernel->views, worker);
}

static void run_chunks(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                       pti_host_habits *habits) {
    if (habits != NULL && pti_host_can_balance(sub_kernel, grid) &&
        pti_host_balance(sub_kernel, grid, habits, pti_host_launch_box))
        return;
#pragma omp parallel for num_threads((int)grid->n_chunks) schedule(static, 1)
    for (int64_t chunk = 0; chunk < grid->n_chunks; chunk++)
        pti_host_launch_chunk(sub_kernel, grid, chunk);
}

/** Wait for all threads of a region, and share the parts of what they combine. */
static void combine_together(const pti_accumulators *copies, const pti_sub_kernel *sub_kernel,
                             int64_t n_parts) {
#pragma omp barrier
#pragma omp for schedule(static, 1) nowait
    for (int64_t k = 0; k < n_parts; k++)
        pti_accumulators_combine(copies, sub_kernel, k, n_parts);
}

static void run_with_copies(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid) {
    pti_accumulators copies;
    if (!pti_accumulators_create(sub_kernel, grid, &copies)) {
        run_whole(sub_kernel);
        return;
    }
    const int n_views = pti_sub_kernel_n_views(sub_kernel);
    const int64_t n_parts = pti_accumulators_n_parts(&copies);
#pragma omp parallel num_threads((int)grid->n_chunks)
    {
#pragma omp for schedule(static, 1) nowait
        for (int64_t chunk = 0; chunk < grid->n_chunks; chunk++) {
            pti_accumulators_fill(&copies, sub_kernel, chunk);
            run_chunk(sub_kernel, grid, chunk, copies.views + chunk * n_views);
        }
        if (n_parts > 1)
            combine_together(&copies, sub_kernel, n_parts);
    }
    if (n_parts == 1)
        pti_accumulators_combine(&copies, sub_kernel, 0, 1);
    pti_accumulators_free(&copies);
}

bool pti_host_launch_reduces(const pti_instance *instance) {
    for (int a = 0; a < instance->n_operands; a++) {
        if (instance->operand[a].reduces)
            return true;
    }
    return false;
}

static bool writes_apart(const pti_sub_kernel *sub_kernel, int operand,
                         const pti_chunk_grid *grid) {
    return !sub_kernel->instance->operand[operand].reduces ||
           pti_chunk_grid_separates(sub_kernel->instance, operand, sub_kernel->threads, grid);
}

static bool all_write_apart(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid) {
    for (int a = 0; a < sub_kernel->instance->n_operands; a++) {
        if (!writes_apart(sub_kernel, a, grid))
            return false;
    }
    return true;
}

/** Return the bytes of the copies of an operand that the chunks of a grid need: of looked-up
 * elements a chunk may need few of those that the launch writes. */
static double bytes_of_copies(const pti_sub_kernel *sub_kernel, int operand,
                              const pti_chunk_grid *grid) {
    double n_bytes = 0;
    for (int64_t k = 0; k < grid->n_chunks; k++) {
        const polytile_domain chunk = pti_chunk_grid_get(sub_kernel->threads, grid, k);
        const polytile_domain hull =
            pti_footprint_hull(sub_kernel->instance, operand, PTI_WRITES, &chunk);
        n_bytes += (double)pti_memory_layout_of(
                       &hull, sub_kernel->instance->operand[operand].element_bytes)
                       .size_bytes;
    }
    return n_bytes;
}

/** Return whether each chunk could have a private copy of an operand. */
static bool may_be_copied(const pti_sub_kernel *sub_kernel, int operand,
                          const pti_chunk_grid *grid) {
    return pti_accumulators_may_copy(sub_kernel, operand) &&
           bytes_of_copies(sub_kernel, operand, grid) <=
               (double)pti_accumulators_most_bytes(sub_kernel);
}

/** Return the grid of one dimension cut into a slab for each worker. */
static pti_chunk_grid slabs_of(const polytile_domain *threads, int dim, int n_threads) {
    bool may_cut[POLYTILE_MAX_DIMS] = {false};
    may_cut[dim] = true;
    return pti_chunk_grid_evenly(threads, n_threads, may_cut);
}

/** Find the dimensions along which chunks write every reducing operand apart, or in copies if
 * with_copies. */
static void find_cuttable(const pti_sub_kernel *sub_kernel, int n_threads, bool with_copies,
                          bool *may_cut) {
    for (int d = 0; d < sub_kernel->threads->n_dims; d++) {
        pti_chunk_grid slabs = slabs_of(sub_kernel->threads, d, n_threads);
        may_cut[d] = true;
        for (int a = 0; a < sub_kernel->instance->n_operands && may_cut[d]; a++)
            may_cut[d] = writes_apart(sub_kernel, a, &slabs) ||
                         (with_copies && may_be_copied(sub_kernel, a, &slabs));
    }
}

/** Return the bytes of the copies that a grid needs. */
static double count_copied_bytes(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid) {
    double n_bytes = 0;
    for (int a = 0; a < sub_kernel->instance->n_operands; a++) {
        if (!writes_apart(sub_kernel, a, grid))
            n_bytes += bytes_of_copies(sub_kernel, a, grid);
    }
    return n_bytes;
}

/** Return whether a grid with copies takes less time than one without. Units: what all threads
 * together take for what the launch touches. */
static bool pays_copies(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *copied,
                        const pti_chunk_grid *apart) {
    const double copies = copied_cost * count_copied_bytes(sub_kernel, copied) /
                          (double)pti_accumulators_touched_bytes(sub_kernel);
    return 1 / copied->balance + copies < 1 / apart->balance;
}

static void launch_reduction(const pti_sub_kernel *sub_kernel, int n_threads,
                             pti_host_habits *habits) {
    bool may_cut[POLYTILE_MAX_DIMS];
    find_cuttable(sub_kernel, n_threads, false, may_cut);
    pti_chunk_grid apart = pti_chunk_grid_evenly(sub_kernel->threads, n_threads, may_cut);
    find_cuttable(sub_kernel, n_threads, true, may_cut);
    pti_chunk_grid copied = pti_chunk_grid_evenly(sub_kernel->threads, n_threads, may_cut);
    if (pays_copies(sub_kernel, &copied, &apart) || !all_write_apart(sub_kernel, &apart))
        run_with_copies(sub_kernel, &copied);
    else if (apart.n_chunks == 1)
        run_whole(sub_kernel);
    else
        run_chunks(sub_kernel, &apart, habits);
}

pti_chunk_grid pti_host_launch_grid(const polytile_domain *threads, int n_threads) {
    static const bool all[POLYTILE_MAX_DIMS] = {true, true, true, true, true, true, true, true};
    return pti_chunk_grid_evenly(threads, n_threads, all);
}

void pti_host_launch(const pti_sub_kernel *sub_kernel, int n_threads, pti_host_habits *habits) {
    if (n_threads == 1) {
        run_whole(sub_kernel);
    } else if (pti_host_launch_reduces(sub_kernel->instance)) {
        launch_reduction(sub_kernel, n_threads, habits);
    } else {
        pti_chunk_grid grid = pti_host_launch_grid(sub_kernel->threads, n_threads);
        run_chunks(sub_kernel, &grid, habits);
    }
}
