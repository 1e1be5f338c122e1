#include "launch/host.h"

#include "base/checked.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** Threads wait here until all have been started, so that they exist at the same time. */
typedef struct start_gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool is_open;
} start_gate;

static void *wait_at_gate(void *argument) {
    start_gate *gate = argument;
    pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return NULL;
}

static void open_gate(start_gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->mutex);
}

int pti_host_default_threads(void) {
    return (int)pti_max(1, pti_min(omp_get_max_threads(), PTI_MAX_THREADS));
}

static bool nobody_said(int n_threads) {
    return getenv("OMP_NUM_THREADS") == NULL && n_threads == omp_get_num_procs();
}

int pti_host_lower_threads(int most_threads) {
    int n_threads = omp_get_max_threads();
    if (nobody_said(n_threads) && most_threads < n_threads)
        omp_set_num_threads(most_threads);
    return n_threads;
}

void pti_host_restore_threads(int n_threads) {
    omp_set_num_threads(n_threads);
}

polytile_status pti_host_probe_threads(polytile_context *ctx, int n_threads) {
    start_gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t *threads = calloc((size_t)n_threads, sizeof *threads);
    int n_started = 0, error = 0;
    if (threads == NULL)
        return pti_fail_memory(ctx, "host: threads", (double)n_threads * sizeof *threads);
    while (n_started < n_threads - 1 && error == 0) {
        error = pthread_create(&threads[n_started], NULL, wait_at_gate, &gate);
        n_started += error == 0;
    }
    open_gate(&gate);
    for (int k = 0; k < n_started; k++)
        pthread_join(threads[k], NULL);
    free(threads);
    if (error == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DEVICE,
                    "host: only %d of %d threads start (%s); ask for fewer with threads=, or raise "
                    "the limit on processes",
                    n_started + 1, n_threads, strerror(error));
}
