#include "launch/host/wait/barrier.h"

#include "launch/host/wait/spin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/** Some 400 us: more than threads of equal shares differ, also if one is interrupted, and little
 * beside the milliseconds for which a thread loses its core to another program. A thread that
 * sleeps too soon wakes late: with 40 us, chains took 10 % longer beside other programs. */
enum { SPINS = 10000 };

/** Cache lines: a thread that looks does not hold up one that arrives. */
enum { LINE_BYTES = 64 };

struct pti_barrier {
    _Alignas(LINE_BYTES) atomic_int n_arrived;
    _Alignas(LINE_BYTES) atomic_uint n_opened; /* times */
    atomic_int n_asleep;
    int n_spins; /* of a thread that waits, before it sleeps */
    pthread_mutex_t mutex;
    pthread_cond_t opened;
};

pti_barrier *pti_barrier_create(bool may_spin) {
    pti_barrier *barrier = aligned_alloc(LINE_BYTES, sizeof *barrier);
    if (barrier == NULL)
        return NULL;
    atomic_init(&barrier->n_arrived, 0);
    atomic_init(&barrier->n_opened, 0);
    atomic_init(&barrier->n_asleep, 0);
    barrier->n_spins = may_spin ? SPINS : 0;
    pthread_mutex_init(&barrier->mutex, NULL);
    pthread_cond_init(&barrier->opened, NULL);
    return barrier;
}

void pti_barrier_destroy(pti_barrier *barrier) {
    if (barrier == NULL)
        return;
    pthread_cond_destroy(&barrier->opened);
    pthread_mutex_destroy(&barrier->mutex);
    free(barrier);
}

static bool is_shut(pti_barrier *barrier, unsigned n_opened) {
    return atomic_load(&barrier->n_opened) == n_opened;
}

/** Open the barrier. Either this sees a thread that is about to sleep, or that one sees it open. */
static void open_for_all(pti_barrier *barrier, unsigned n_opened) {
    atomic_store(&barrier->n_arrived, 0);
    atomic_store(&barrier->n_opened, n_opened + 1);
    if (atomic_load(&barrier->n_asleep) == 0)
        return;
    pthread_mutex_lock(&barrier->mutex);
    pthread_cond_broadcast(&barrier->opened);
    pthread_mutex_unlock(&barrier->mutex);
}

static void sleep_until_open(pti_barrier *barrier, unsigned n_opened) {
    pthread_mutex_lock(&barrier->mutex);
    atomic_fetch_add(&barrier->n_asleep, 1);
    while (is_shut(barrier, n_opened))
        pthread_cond_wait(&barrier->opened, &barrier->mutex);
    atomic_fetch_sub(&barrier->n_asleep, 1);
    pthread_mutex_unlock(&barrier->mutex);
}

static void wait_until_open(pti_barrier *barrier, unsigned n_opened) {
    for (int k = 0; k < barrier->n_spins; k++) {
        if (!is_shut(barrier, n_opened))
            return;
        pti_spin_pause();
    }
    sleep_until_open(barrier, n_opened);
}

void pti_barrier_wait(pti_barrier *barrier, int n_threads) {
    unsigned n_opened = atomic_load(&barrier->n_opened);
    int n_before = atomic_fetch_add(&barrier->n_arrived, 1);
    if (n_before == n_threads - 1)
        open_for_all(barrier, n_opened);
    else
        wait_until_open(barrier, n_opened);
}
