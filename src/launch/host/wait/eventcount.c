#include "launch/host/wait/eventcount.h"

#include "launch/host/wait/spin.h"

void pti_eventcount_create(pti_eventcount *event, int n_spins) {
    event->count = 0;
    event->n_asleep = 0;
    event->n_spins = n_spins;
    pthread_mutex_init(&event->mutex, NULL);
    pthread_cond_init(&event->advanced, NULL);
}

void pti_eventcount_destroy(pti_eventcount *event) {
    pthread_cond_destroy(&event->advanced);
    pthread_mutex_destroy(&event->mutex);
}

int64_t pti_eventcount_read(pti_eventcount *event) {
    return __atomic_load_n(&event->count, __ATOMIC_SEQ_CST);
}

/** Either this sees a thread that is about to sleep, or that one sees the new number. */
void pti_eventcount_advance(pti_eventcount *event, int64_t count) {
    __atomic_store_n(&event->count, count, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&event->n_asleep, __ATOMIC_SEQ_CST) == 0)
        return;
    pthread_mutex_lock(&event->mutex);
    pthread_cond_broadcast(&event->advanced);
    pthread_mutex_unlock(&event->mutex);
}

static void sleep_until(pti_eventcount *event, int64_t count) {
    pthread_mutex_lock(&event->mutex);
    __atomic_fetch_add(&event->n_asleep, 1, __ATOMIC_SEQ_CST);
    while (pti_eventcount_read(event) < count)
        pthread_cond_wait(&event->advanced, &event->mutex);
    __atomic_fetch_sub(&event->n_asleep, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&event->mutex);
}

void pti_eventcount_await(pti_eventcount *event, int64_t count) {
    for (int k = 0; k < event->n_spins; k++) {
        if (pti_eventcount_read(event) >= count)
            return;
        pti_spin_pause();
    }
    sleep_until(event, count);
}
