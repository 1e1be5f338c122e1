#ifndef POLYTILE_LAUNCH_HOST_BARRIER_H
#define POLYTILE_LAUNCH_HOST_BARRIER_H

/* Where threads wait for each other often and briefly: to wake a thread that sleeps takes about as
 * long as all of them compute between two waits. */

typedef struct pti_barrier pti_barrier;

/** A barrier for at most so many threads of the program; NULL when memory runs out. */
pti_barrier *pti_barrier_create(int most_threads);
void pti_barrier_destroy(pti_barrier *barrier);

/**
 * Wait until all n_threads are here, as many each time; what they wrote before, all may read then.
 *
 * A thread that waits stays awake for some microseconds and then sleeps, so that its core is free
 * for a thread that is yet to arrive.
 */
void pti_barrier_wait(pti_barrier *barrier, int n_threads);

#endif
