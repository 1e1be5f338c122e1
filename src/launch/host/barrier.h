#ifndef POLYTILE_LAUNCH_HOST_BARRIER_H
#define POLYTILE_LAUNCH_HOST_BARRIER_H

/* A barrier for threads that wait often and briefly: to wake a sleeping thread takes about as long
 * as all compute between two waits. */

typedef struct pti_barrier pti_barrier;

/** Create a barrier for at most most_threads threads; NULL when memory runs out. */
pti_barrier *pti_barrier_create(int most_threads);
void pti_barrier_destroy(pti_barrier *barrier);

/**
 * Wait until n_threads have arrived, as many each time; then all see what each wrote before.
 *
 * A waiting thread spins for some microseconds and then sleeps, which frees its core for a thread
 * that has not arrived.
 */
void pti_barrier_wait(pti_barrier *barrier, int n_threads);

#endif
