#ifndef POLYTILE_LAUNCH_HOST_EVENTCOUNT_H
#define POLYTILE_LAUNCH_HOST_EVENTCOUNT_H

#include <pthread.h>
#include <stdint.h>

/* launch/host/wait: how threads of the host wait for each other. They spin for some microseconds,
 * and then sleep. Here is a wait for one other thread; barrier.h has one of all. (Bells of base
 * are for a thread that waits for any of several.) */

/*
 * A number that one thread advances, and for which others wait.
 *
 * Source  Reed and Kanodia, "Synchronization with eventcounts and sequencers", 1979.
 */
typedef struct pti_eventcount {
    int64_t count __attribute__((aligned(64))); /* a cache line: others' numbers are not on it */
    int n_asleep;                               /* both: atomic */
    int n_spins;
    pthread_mutex_t mutex;
    pthread_cond_t advanced;
} pti_eventcount;

/** Begin at 0. n_spins: how often a thread looks before it sleeps, some 40 ns each. */
void pti_eventcount_create(pti_eventcount *event, int n_spins);
void pti_eventcount_destroy(pti_eventcount *event);

int64_t pti_eventcount_read(pti_eventcount *event);

/** Let the number be this, no less than before; all that the thread wrote so far is seen by who
 * waits for it. */
void pti_eventcount_advance(pti_eventcount *event, int64_t count);

/** Wait until the number is at least this. A waiting thread spins and then sleeps, which leaves its
 * core to others. */
void pti_eventcount_await(pti_eventcount *event, int64_t count);

#endif
