#include "launch/host/slices.h"

#include "access/set/box.h"
#include "base/checked.h"
#include "base/clock.h"

static const double slice_s = 0.005;

enum {
    FIRST_THREADS = 1024,        /* of a slice whose time nobody knows */
    COMBINING_THREADS = 1 << 22, /* at least, of a slice that combines values */
    COMBINING_SLICES = 256,      /* of one host thread, at most */
};

pti_host_slices pti_host_slices_begin(pti_execution *execution) {
    return (pti_host_slices){.execution = execution,
                             .may_show = pti_progress_may_show(&execution->progress)};
}

/** Return the first dimension with several indices; -1: there is none. */
static int find_sliced_dim(const polytile_domain *threads) {
    int dim = 0;
    while (dim < threads->n_dims && pti_range_count(threads->range[dim]) < 2)
        dim++;
    return dim == threads->n_dims ? -1 : dim;
}

/** Return how many indices the first slice has. */
static int64_t count_first(int64_t n_threads, int64_t n_indices, bool combines) {
    const int64_t n_across = pti_max(n_threads / n_indices, 1);
    if (!combines)
        return pti_ceil_div(FIRST_THREADS, n_across);
    return pti_max(pti_ceil_div(n_indices, COMBINING_SLICES),
                   pti_ceil_div(COMBINING_THREADS, n_across));
}

/** Return how many indices the next slice has. */
static int64_t count_next(int64_t n, double took_s) {
    if (took_s < slice_s / 2)
        return 2 * n;
    return took_s > 2 * slice_s ? pti_max(n / 2, 1) : n;
}

/** Return whether the rest is to be left out, and note that. */
static bool is_cancelled(pti_host_slices *slices) {
    if (!pti_execution_is_cancelled(slices->execution))
        return false;
    __atomic_store_n(&slices->is_cancelled, true, __ATOMIC_RELAXED);
    return true;
}

static void show_progress(pti_host_slices *slices, int64_t n_threads) {
    const int64_t n_done = __atomic_add_fetch(&slices->n_done, n_threads, __ATOMIC_RELAXED);
    if (!slices->may_show || __atomic_exchange_n(&slices->is_showing, true, __ATOMIC_ACQUIRE))
        return;
    pti_progress_show_within(&slices->execution->progress, n_done);
    __atomic_store_n(&slices->is_showing, false, __ATOMIC_RELEASE);
}

void pti_host_slices_run(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                         const polytile_view *views, int worker, bool combines,
                         pti_host_run_part *run) {
    const int dim = sub_kernel->slices == NULL ? -1 : find_sliced_dim(threads);
    if (dim < 0) {
        run(sub_kernel, threads, views, worker);
        return;
    }
    polytile_range left = threads->range[dim];
    int64_t n = count_first(pti_box_count(threads), pti_range_count(left), combines);
    double begin_s = pti_now_s();
    while (!pti_range_is_empty(left) && !is_cancelled(sub_kernel->slices)) {
        polytile_domain slice = *threads;
        slice.range[dim] = pti_range_slice(left, 0, n);
        run(sub_kernel, &slice, views, worker);
        const double end_s = pti_now_s();
        show_progress(sub_kernel->slices, pti_box_count(&slice));
        left = pti_range_slice(left, n, pti_range_count(left) - n);
        n = combines ? n : count_next(n, end_s - begin_s);
        begin_s = end_s;
    }
}
