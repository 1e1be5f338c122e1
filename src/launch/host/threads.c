#include "launch/host/host.h"

#include "base/checked.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/** Threads started to prove that they can run at once. */
typedef struct probe {
    pthread_rwlock_t
        gate; /* held for writing until all have been started; each reads it and ends */
    pthread_t *threads;
    char *stacks; /* one mapping for all: as much as OpenMP's threads would take, in fewer calls */
    size_t stack_bytes;
} probe;

static void *pass_gate(void *argument) {
    probe *of = argument;
    pthread_rwlock_rdlock(&of->gate);
    pthread_rwlock_unlock(&of->gate);
    return NULL;
}

int64_t pti_host_wanted_threads(void) {
    int n_threads = omp_get_max_threads();
    const char *text = getenv("OMP_NUM_THREADS");
    long long given = text == NULL ? 0 : strtoll(text, NULL, 10);
    return given > INT_MAX && (uint32_t)given == (uint32_t)n_threads ? given : n_threads;
}

int pti_host_default_threads(void) {
    return (int)pti_max(1, pti_min(pti_host_wanted_threads(), PTI_MAX_THREADS));
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

static void end_probe(probe *of, int n_threads) {
    if (of->stacks != MAP_FAILED)
        munmap(of->stacks, (size_t)n_threads * of->stack_bytes);
    free(of->threads);
}

/** Map the stacks, without huge pages; running threads touch them. Errors: NO_MEMORY. */
static polytile_status begin_probe(polytile_context *ctx, int n_threads, probe *of) {
    pthread_attr_t defaults;
    pthread_attr_init(&defaults);
    pthread_attr_getstacksize(&defaults, &of->stack_bytes);
    pthread_attr_destroy(&defaults);
    const size_t n_bytes = (size_t)n_threads * of->stack_bytes;
    of->threads = calloc((size_t)n_threads, sizeof *of->threads);
    of->stacks = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (of->threads != NULL && of->stacks != MAP_FAILED) {
        madvise(of->stacks, n_bytes, MADV_NOHUGEPAGE);
        return POLYTILE_OK;
    }
    end_probe(of, n_threads);
    return pti_fail_memory(ctx, "host: threads", (double)n_bytes);
}

static int start_thread(probe *of, int k) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, of->stacks + (size_t)k * of->stack_bytes, of->stack_bytes);
    int error = pthread_create(&of->threads[k], &attributes, pass_gate, of);
    pthread_attr_destroy(&attributes);
    return error;
}

polytile_status pti_host_probe_threads(polytile_context *ctx, int n_threads) {
    probe of = {.gate = PTHREAD_RWLOCK_INITIALIZER};
    int n_started = 0, error = 0;
    if (n_threads == 1)
        return POLYTILE_OK;
    if (begin_probe(ctx, n_threads, &of) != POLYTILE_OK)
        return POLYTILE_NO_MEMORY;
    pthread_rwlock_wrlock(&of.gate);
    while (n_started < n_threads - 1 && error == 0) {
        error = start_thread(&of, n_started);
        n_started += error == 0;
    }
    pthread_rwlock_unlock(&of.gate);
    for (int k = 0; k < n_started; k++)
        pthread_join(of.threads[k], NULL);
    end_probe(&of, n_threads);
    if (error == 0)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DEVICE,
                    "host: only %d of %d threads start (%s); ask for fewer with threads=, or raise "
                    "the limit on processes",
                    n_started + 1, n_threads, strerror(error));
}

void pti_host_run_parts(int64_t n_parts, pti_part_function *run, void *user) {
#pragma omp parallel for num_threads(pti_host_default_threads()) schedule(dynamic, 1)
    for (int64_t part = 0; part < n_parts; part++)
        run(part, user);
}
