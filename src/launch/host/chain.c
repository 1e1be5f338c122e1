#include "launch/host/chain.h"

#include "base/clock.h"
#include "launch/host/chunk_grid.h"
#include "launch/host/host_launch.h"
#include "launch/host/slices.h"
#include "launch/host/wait/barrier.h"

#include <omp.h>

/** Fewer launches are not worth this way. */
enum { FEWEST_LAUNCHES = 8 };

/** One launch, ready to run. */
typedef struct turn {
    pti_command command;
    pti_chunk_grid grid;
    pti_host_slices slices;
} turn;

/** While all threads run one launch, the first one prepares the next. */
typedef struct host_chain {
    pti_execution *execution;
    turn turn[PTI_LAUNCHES_RESOLVED]; /* launch k is in turn k % PTI_LAUNCHES_RESOLVED */
    int n_threads;
    pti_barrier *end_of_launch;
    int64_t n_ops; /* of the schedule; fewer once it is cancelled; atomic */
} host_chain;

static bool launch_suits(const pti_execution *execution, const pti_op *op) {
    const pti_instance *instance = execution->schedule->launch[op->launch].call.instance;
    const polytile_implementation *runs = execution->configs[op->launch].implementation;
    return runs->host_launcher == NULL && runs->team == NULL &&
           !pti_host_launch_reduces(instance) && !pti_instance_has_scratch(instance);
}

bool pti_host_chain_suits(const pti_execution *execution) {
    const pti_schedule *schedule = execution->schedule;
    bool suits = schedule->in_place && schedule->n_ops >= FEWEST_LAUNCHES;
    for (int64_t k = 0; suits && k < schedule->n_ops; k++)
        suits = schedule->op[k].kind == PTI_LAUNCH && launch_suits(execution, &schedule->op[k]);
    return suits;
}

static int64_t count_ops(const host_chain *chain) {
    return __atomic_load_n(&chain->n_ops, __ATOMIC_RELAXED);
}

static turn *turn_of(host_chain *chain, int64_t k) {
    return &chain->turn[k % PTI_LAUNCHES_RESOLVED];
}

/** Prepare a launch. The progress is shown between launches: threads begin the next one while the
 * first of them still notes that this one is done. */
static void make_ready(host_chain *chain, int64_t k) {
    turn *next = turn_of(chain, k);
    if (k == count_ops(chain))
        return;
    next->command = pti_execution_resolve(chain->execution, k);
    next->grid = pti_host_launch_grid(next->command.sub_kernel.threads, chain->n_threads);
    next->slices = pti_host_slices_begin(chain->execution);
    next->slices.may_show = false;
    next->command.sub_kernel.slices = &next->slices;
}

static void run_share(const turn *present, int thread) {
    if (thread < present->grid.n_chunks)
        pti_host_launch_chunk(&present->command.sub_kernel, &present->grid, thread);
}

/** Let a cancelled chain end after the launch that all threads are in; they see it after its
 * barrier. */
static void end_if_cancelled(host_chain *chain, int64_t k) {
    if (k == count_ops(chain) || !pti_execution_is_cancelled(chain->execution))
        return;
    chain->execution->is_cancelled = true;
    __atomic_store_n(&chain->n_ops, k, __ATOMIC_RELAXED);
}

/** Do the first thread's extra work. If a launch is cancelled, threads skip the rest of it and of
 * the next. */
static void lead_launch(host_chain *chain, int64_t k) {
    const turn *present = turn_of(chain, k);
    const pti_command *command = &present->command;
    double start_s = pti_now_s();
    pti_execution_begin(chain->execution, command);
    end_if_cancelled(chain, k + 1);
    make_ready(chain, k + 1);
    run_share(present, 0);
    pti_barrier_wait(chain->end_of_launch, chain->n_threads);
    if (present->slices.is_cancelled) {
        chain->execution->is_cancelled = true;
        return;
    }
    pti_execution_count(chain->execution, command);
    pti_execution_note(chain->execution, command->op, start_s, pti_now_s() - start_s);
}

static void run_and_wait_for_launch(host_chain *chain, int64_t k, int thread) {
    run_share(turn_of(chain, k), thread);
    pti_barrier_wait(chain->end_of_launch, chain->n_threads);
}

static void publish_first_launch(host_chain *chain, int n_threads) {
    chain->n_threads = n_threads;
    make_ready(chain, 0);
}

static void run_launches(host_chain *chain, int thread) {
    for (int64_t k = 0; k < count_ops(chain); k++) {
        if (thread == 0)
            lead_launch(chain, k);
        else
            run_and_wait_for_launch(chain, k, thread);
    }
}

bool pti_host_chain_run(pti_execution *execution, int n_threads) {
    host_chain chain = {.execution = execution,
                        .end_of_launch = pti_barrier_create(n_threads <= omp_get_num_procs()),
                        .n_ops = execution->schedule->n_ops};
    if (chain.end_of_launch == NULL)
        return false;
#pragma omp parallel num_threads(n_threads)
    {
#pragma omp single
        publish_first_launch(&chain, omp_get_num_threads());
        run_launches(&chain, omp_get_thread_num());
    }
    pti_barrier_destroy(chain.end_of_launch);
    return true;
}
