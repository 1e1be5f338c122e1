#include "launch/host/copy/copiers.h"

#include "access/set/boxes.h"
#include "base/signals.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/copy/loop_nest.h"
#include "launch/host/copy/stream_store.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/** Runs of this many bytes or more use stores past the cache: shorter ones share lines with bytes
 * that may be in it. */
enum { STREAM_RUN_BYTES = 4096 };

/** How often a thread without a task looks again before it sleeps: some tens of microseconds, the
 * cost of waking it. */
enum { LOOKS_BEFORE_SLEEP = 100 };

struct pti_copiers {
    pthread_mutex_t mutex;
    pthread_cond_t submitted;
    pthread_cond_t idle;
    int n_waiting; /* tasks without a thread; atomic: the threads that do not hold mutex only guess
                      by it */
    pti_copy_task *first; /* of them */
    pti_copy_task *last;
    int64_t n_unfinished;
    int n_asleep;
    bool is_ending;
    int n_threads;
    pthread_t thread[];
};

static void copy_past_cache(const pti_move *move) {
    if (pti_box_is_empty(move->box))
        return;
    pti_loop_nest nest = pti_loop_nest_of(move);
    if (nest.run_bytes < STREAM_RUN_BYTES) {
        pti_box_copy(move, 1);
        return;
    }
    for (int64_t run = 0; run < nest.n_runs; run++) {
        char *to;
        const char *from;
        pti_loop_nest_locate(&nest, run, &to, &from);
        pti_stream_copy(to, from, nest.run_bytes);
    }
    pti_stream_fence();
}

/** Perform a task, which is its owner's again after the last line. */
static void perform_task(pti_copy_task *task) {
    if (task->keeps_cache)
        pti_box_copy(&task->move, 1);
    else
        copy_past_cache(&task->move);
    __atomic_store_n(&task->is_done, true, __ATOMIC_RELEASE);
}

static void poll_for_task(pti_copiers *copiers) {
    for (int k = 0; k < LOOKS_BEFORE_SLEEP; k++) {
        if (__atomic_load_n(&copiers->n_waiting, __ATOMIC_RELAXED) > 0)
            return;
        sched_yield();
    }
}

/** Wait for the oldest task; NULL: there will be none. */
static pti_copy_task *wait_for_task(pti_copiers *copiers) {
    pthread_mutex_lock(&copiers->mutex);
    while (copiers->first == NULL && !copiers->is_ending) {
        copiers->n_asleep++;
        pthread_cond_wait(&copiers->submitted, &copiers->mutex);
        copiers->n_asleep--;
    }
    pti_copy_task *task = copiers->first;
    if (task != NULL) {
        copiers->first = task->next;
        __atomic_sub_fetch(&copiers->n_waiting, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&copiers->mutex);
    return task;
}

static void note_finished(pti_copiers *copiers) {
    pthread_mutex_lock(&copiers->mutex);
    if (--copiers->n_unfinished == 0)
        pthread_cond_broadcast(&copiers->idle);
    pthread_mutex_unlock(&copiers->mutex);
}

static void *run_copier(void *argument) {
    pti_copiers *copiers = argument;
    for (;;) {
        poll_for_task(copiers);
        pti_copy_task *task = wait_for_task(copiers);
        if (task == NULL)
            return NULL;
        perform_task(task);
        note_finished(copiers);
    }
}

static polytile_status start_copiers(polytile_context *ctx, pti_copiers *copiers, int n_threads) {
    for (; copiers->n_threads < n_threads; copiers->n_threads++) {
        if (pthread_create(&copiers->thread[copiers->n_threads], NULL, run_copier, copiers) != 0)
            return pti_fail(ctx, POLYTILE_DEVICE,
                            "only %d of %d host threads that copy could be started; ask for fewer "
                            "with threads= in the device's text",
                            copiers->n_threads, n_threads);
    }
    return POLYTILE_OK;
}

polytile_status pti_copiers_create(polytile_context *ctx, int n_threads, pti_copiers **copiers) {
    size_t n_bytes = sizeof **copiers + (size_t)n_threads * sizeof(pthread_t);
    *copiers = calloc(1, n_bytes);
    if (*copiers == NULL)
        return pti_fail_memory(ctx, "the threads that copy", (double)n_bytes);
    pthread_mutex_init(&(*copiers)->mutex, NULL);
    pthread_cond_init(&(*copiers)->submitted, NULL);
    pthread_cond_init(&(*copiers)->idle, NULL);
    sigset_t before;
    pti_signals_block(&before);
    polytile_status status = start_copiers(ctx, *copiers, n_threads);
    pti_signals_restore(&before);
    if (status != POLYTILE_OK) {
        pti_copiers_destroy(*copiers);
        *copiers = NULL;
    }
    return status;
}

static void end_threads(pti_copiers *copiers) {
    pthread_mutex_lock(&copiers->mutex);
    copiers->is_ending = true;
    pthread_cond_broadcast(&copiers->submitted);
    pthread_mutex_unlock(&copiers->mutex);
    for (int k = 0; k < copiers->n_threads; k++)
        pthread_join(copiers->thread[k], NULL);
}

void pti_copiers_destroy(pti_copiers *copiers) {
    if (copiers == NULL)
        return;
    end_threads(copiers);
    pthread_cond_destroy(&copiers->idle);
    pthread_cond_destroy(&copiers->submitted);
    pthread_mutex_destroy(&copiers->mutex);
    free(copiers);
}

void pti_copiers_submit(pti_copiers *copiers, pti_copy_task *task) {
    task->next = NULL;
    __atomic_store_n(&task->is_done, false, __ATOMIC_RELAXED);
    pthread_mutex_lock(&copiers->mutex);
    *(copiers->first == NULL ? &copiers->first : &copiers->last->next) = task;
    copiers->last = task;
    copiers->n_unfinished++;
    __atomic_add_fetch(&copiers->n_waiting, 1, __ATOMIC_RELAXED);
    bool wakes = copiers->n_asleep > 0;
    pthread_mutex_unlock(&copiers->mutex);
    if (wakes)
        pthread_cond_signal(&copiers->submitted);
}

bool pti_copiers_is_done(const pti_copy_task *task) {
    return __atomic_load_n(&task->is_done, __ATOMIC_ACQUIRE);
}

void pti_copiers_wait(pti_copiers *copiers) {
    pthread_mutex_lock(&copiers->mutex);
    while (copiers->n_unfinished > 0)
        pthread_cond_wait(&copiers->idle, &copiers->mutex);
    pthread_mutex_unlock(&copiers->mutex);
}
