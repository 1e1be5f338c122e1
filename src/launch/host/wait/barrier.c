#include "launch/host/wait/barrier.h"

#include "launch/host/wait/eventcount.h"

#include <stdlib.h>

/** Some 400 us: more than threads of equal shares differ, also if one is interrupted, and little
 * beside the milliseconds for which a thread loses its core to another program. A thread that
 * sleeps too soon wakes late: with 40 us, chains took 10 % longer beside other programs. */
enum { SPINS = 10000 };

struct pti_barrier {
    pti_eventcount opened; /* times */
    /* atomic; on a cache line of its own: a thread that looks does not hold up one that arrives */
    int n_arrived __attribute__((aligned(64)));
};

pti_barrier *pti_barrier_create(bool may_spin) {
    pti_barrier *barrier = aligned_alloc(_Alignof(pti_barrier), sizeof *barrier);
    if (barrier == NULL)
        return NULL;
    pti_eventcount_create(&barrier->opened, may_spin ? SPINS : 0);
    barrier->n_arrived = 0;
    return barrier;
}

void pti_barrier_destroy(pti_barrier *barrier) {
    if (barrier == NULL)
        return;
    pti_eventcount_destroy(&barrier->opened);
    free(barrier);
}

void pti_barrier_wait(pti_barrier *barrier, int n_threads) {
    const int64_t n_opened = pti_eventcount_read(&barrier->opened);
    const int n_before = __atomic_fetch_add(&barrier->n_arrived, 1, __ATOMIC_SEQ_CST);
    if (n_before < n_threads - 1) {
        pti_eventcount_await(&barrier->opened, n_opened + 1);
        return;
    }
    __atomic_store_n(&barrier->n_arrived, 0, __ATOMIC_SEQ_CST);
    pti_eventcount_advance(&barrier->opened, n_opened + 1);
}
