#include "base/bell.h"

#include "base/clock.h"

void pti_bell_create(pti_bell *bell) {
    pthread_condattr_t steady;
    *bell = (pti_bell){0};
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&bell->mutex, NULL);
    pthread_cond_init(&bell->rung, &steady);
    pthread_condattr_destroy(&steady);
}

void pti_bell_destroy(pti_bell *bell) {
    pthread_cond_destroy(&bell->rung);
    pthread_mutex_destroy(&bell->mutex);
}

int64_t pti_bell_count(pti_bell *bell) {
    pthread_mutex_lock(&bell->mutex);
    int64_t n_rings = bell->n_rings;
    pthread_mutex_unlock(&bell->mutex);
    return n_rings;
}

void pti_bell_wait(pti_bell *bell, int64_t n_rings) {
    pthread_mutex_lock(&bell->mutex);
    while (bell->n_rings == n_rings)
        pthread_cond_wait(&bell->rung, &bell->mutex);
    pthread_mutex_unlock(&bell->mutex);
}

void pti_bell_wait_for(pti_bell *bell, int64_t n_rings, double most_s) {
    const struct timespec until = pti_time_after(most_s);
    int timed_out = 0;
    pthread_mutex_lock(&bell->mutex);
    while (bell->n_rings == n_rings && timed_out == 0)
        timed_out = pthread_cond_timedwait(&bell->rung, &bell->mutex, &until);
    pthread_mutex_unlock(&bell->mutex);
}

void pti_bell_ring(pti_bell *bell) {
    pthread_mutex_lock(&bell->mutex);
    bell->n_rings++;
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->mutex);
}
