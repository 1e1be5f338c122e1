#include "launch/host/columns.h"

#include "base/checked.h"
#include "base/clock.h"
#include "launch/host/host_launch.h"
#include "launch/host/wait/eventcount.h"

#include <stdlib.h>

/** Looks of some 20 us: less than it takes to wake a thread, and little beside what is waited for.
 * Who wakes late has less to wait for the next time. */
enum { SPINS = 500 };

/** A run by columns. Slab s, or that part of one, has operations slab[s] to slab[s + 1] - 1. */
typedef struct column_run {
    pti_execution *execution;
    const pti_columns *columns;
    pti_sub_kernel *sub_kernel; /* of each launch, with all of its threads; owned, as all below */
    polytile_view *views;       /* theirs */
    int64_t n_slabs;
    int64_t *slab;
    pti_eventcount *done; /* of each column: slabs */
    /* atomic, as all below */
    int64_t next_column;
    int64_t n_tiles_done;
    bool is_showing; /* a thread, one at a time */
    bool is_cancelled;
} column_run;

/* Whether it suits. */

static bool may_be_cut(const pti_execution *execution, int launch) {
    const pti_instance *instance = execution->schedule->launch[launch].call.instance;
    const polytile_implementation *runs = execution->configs[launch].implementation;
    return runs->host != NULL && runs->host_launcher == NULL && runs->team == NULL &&
           execution->configs[launch].part == NULL && instance->n_further == 0 &&
           !pti_host_launch_reduces(instance) && !pti_instance_has_scratch(instance);
}

bool pti_host_columns_suit(const pti_execution *execution) {
    const pti_schedule *schedule = execution->schedule;
    bool suits = schedule->in_place && schedule->columns.n > 0 && schedule->n_ops > 0;
    for (int l = 0; suits && l < schedule->n_launches; l++)
        suits = may_be_cut(execution, l);
    return suits;
}

/* What all threads need. */

static bool resolve_launches(column_run *run) {
    const pti_schedule *schedule = run->execution->schedule;
    const size_t n_launches = (size_t)schedule->n_launches, n_views = run->execution->n_views;
    run->sub_kernel = calloc(n_launches + 1, sizeof *run->sub_kernel);
    run->views = calloc(n_launches * n_views + 1, sizeof *run->views);
    if (run->sub_kernel == NULL || run->views == NULL)
        return false;
    for (int l = 0; l < schedule->n_launches; l++)
        run->sub_kernel[l] =
            pti_execution_resolve_whole(run->execution, l, run->views + (size_t)l * n_views);
    return true;
}

/** Find where slabs begin: where an operation is not of a later launch than the one before. Long
 * ones are cut, since any number of operations in a row may be a tile. */
static bool find_slabs(column_run *run, int n_takers) {
    const pti_schedule *schedule = run->execution->schedule;
    const int64_t most_ops = pti_columns_tile_ops(schedule->n_ops, n_takers);
    run->slab = calloc((size_t)schedule->n_ops + 1, sizeof *run->slab);
    for (int64_t k = 0; k < schedule->n_ops && run->slab != NULL; k++)
        if (k == 0 || schedule->op[k].launch <= schedule->op[k - 1].launch ||
            k - run->slab[run->n_slabs - 1] == most_ops)
            run->slab[run->n_slabs++] = k;
    if (run->slab != NULL)
        run->slab[run->n_slabs] = schedule->n_ops;
    return run->slab != NULL;
}

static bool create_counts(column_run *run) {
    const size_t n = (size_t)run->columns->n;
    run->done = aligned_alloc(_Alignof(pti_eventcount), n * sizeof *run->done);
    for (size_t c = 0; c < n && run->done != NULL; c++)
        pti_eventcount_create(&run->done[c], SPINS);
    return run->done != NULL;
}

static void end_run(column_run *run) {
    for (int64_t c = 0; c < run->columns->n && run->done != NULL; c++)
        pti_eventcount_destroy(&run->done[c]);
    free(run->done);
    free(run->slab);
    free(run->views);
    free(run->sub_kernel);
}

/* The run. */

static bool is_ended_early(column_run *run) {
    if (pti_execution_is_cancelled(run->execution))
        __atomic_store_n(&run->is_cancelled, true, __ATOMIC_RELAXED);
    return __atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED);
}

/** Run a tile; who is cancelled leaves out the operations that are left. */
static void run_tile(column_run *run, int64_t slab, int64_t column) {
    const pti_schedule *schedule = run->execution->schedule;
    for (int64_t k = run->slab[slab]; k < run->slab[slab + 1] && !is_ended_early(run); k++) {
        const pti_op *op = &schedule->op[k];
        polytile_domain threads;
        if (pti_columns_threads(run->columns, op->launch, column, &op->box, &threads))
            pti_host_launch_box(&run->sub_kernel[op->launch], &threads, 0); /* without scratch */
    }
}

/** Operations are done when the last column is; on the way there the part of all tiles is shown. */
static void show_tile(column_run *run) {
    const double n_tiles = (double)run->n_slabs * (double)run->columns->n;
    const double n_done = (double)__atomic_add_fetch(&run->n_tiles_done, 1, __ATOMIC_RELAXED);
    if (__atomic_test_and_set(&run->is_showing, __ATOMIC_ACQUIRE))
        return;
    pti_execution_show(run->execution,
                       (int64_t)(n_done / n_tiles * (double)run->execution->schedule->n_ops));
    __atomic_clear(&run->is_showing, __ATOMIC_RELEASE);
}

/** Go through all slabs of a column. Who is cancelled leaves out the rest, as all others do. */
static void run_column(column_run *run, int64_t column) {
    for (int64_t s = 0; s < run->n_slabs; s++) {
        if (column > 0)
            pti_eventcount_await(&run->done[column - 1], s + 1);
        if (!is_ended_early(run)) {
            run_tile(run, s, column);
            show_tile(run);
        }
        pti_eventcount_advance(&run->done[column], s + 1);
    }
}

static int64_t take_column(column_run *run) {
    return __atomic_fetch_add(&run->next_column, 1, __ATOMIC_RELAXED);
}

static void run_columns(column_run *run) {
    for (int64_t c = take_column(run); c < run->columns->n; c = take_column(run))
        run_column(run, c);
}

static void for_each_op(column_run *run, void (*note)(pti_execution *, const pti_command *)) {
    const pti_schedule *schedule = run->execution->schedule;
    for (int64_t k = 0; k < schedule->n_ops; k++)
        note(run->execution, &(pti_command){.op = &schedule->op[k], .index = k, .operand = -1});
}

/** Report the operations of a run that has ended, the same part of its time each. */
static void note_all(column_run *run, double start_s) {
    const pti_schedule *schedule = run->execution->schedule;
    const double each_s = (pti_now_s() - start_s) / (double)schedule->n_ops;
    for_each_op(run, pti_execution_count);
    for (int64_t k = 0; k < schedule->n_ops; k++)
        pti_execution_note(run->execution, &schedule->op[k], start_s + (double)k * each_s, each_s);
}

bool pti_host_columns_run(pti_execution *execution, int n_threads) {
    column_run run = {.execution = execution, .columns = &execution->schedule->columns};
    const int n_takers = (int)pti_min(n_threads, run.columns->n);
    const bool has_memory =
        resolve_launches(&run) && find_slabs(&run, n_takers) && create_counts(&run);
    const double start_s = pti_now_s();
    if (has_memory) {
        for_each_op(&run, pti_execution_begin);
#pragma omp parallel num_threads(n_takers)
        run_columns(&run);
        execution->is_cancelled |= run.is_cancelled;
        if (!run.is_cancelled)
            note_all(&run, start_s);
    }
    end_run(&run);
    return has_memory;
}
