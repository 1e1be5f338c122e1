#include "common/bench.h"
#include "tasks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What one writes by hand: two threads that read a counter. */

typedef struct worker {
    const tasks *of;
    atomic_int *next;
    int number;
} worker;

static void *work(void *argument) {
    const worker *self = argument;
    tasks_sleep_exactly();
    for (int t = atomic_fetch_add(self->next, 1); t < N_TASKS; t = atomic_fetch_add(self->next, 1))
        tasks_sleep(self->of, self->number, t, t + 1);
    return NULL;
}

double run_from_counter(const tasks *of) {
    pthread_t thread[N_WORKERS];
    worker workers[N_WORKERS];
    atomic_int next = 0;
    const double begin_s = bench_now_s();
    for (int w = 0; w < N_WORKERS; w++) {
        workers[w] = (worker){of, &next, w};
        if (pthread_create(&thread[w], NULL, work, &workers[w]) != 0)
            exit(1);
    }
    for (int w = 0; w < N_WORKERS; w++)
        pthread_join(thread[w], NULL);
    return bench_now_s() - begin_s;
}
