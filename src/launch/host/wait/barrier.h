#ifndef POLYTILE_LAUNCH_HOST_BARRIER_H
#define POLYTILE_LAUNCH_HOST_BARRIER_H

#include <stdbool.h>

/* A barrier for threads that wait often and briefly: to wake a sleeping thread takes about as long
 * as all compute between two waits. */

typedef struct pti_barrier pti_barrier;

/** Create a barrier; NULL when memory runs out. With fewer cores than threads none may spin, which
 * might keep another one from arriving. */
pti_barrier *pti_barrier_create(bool may_spin);
void pti_barrier_destroy(pti_barrier *barrier);

/**
 * Wait until n_threads have arrived, as many each time; then all see what each wrote before.
 *
 * A waiting thread spins for some microseconds and then sleeps, which frees its core for a thread
 * that has not arrived.
 */
void pti_barrier_wait(pti_barrier *barrier, int n_threads);

#endif
