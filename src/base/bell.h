#ifndef POLYTILE_BASE_BELL_H
#define POLYTILE_BASE_BELL_H

#include <pthread.h>
#include <stdint.h>

/* Waiting until any of several others is done with something: they ring. */

/** A bell, which counts how often it has rung. */
typedef struct pti_bell {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    int64_t n_rings;
} pti_bell;

void pti_bell_create(pti_bell *bell);
void pti_bell_destroy(pti_bell *bell);

/** How often it has rung. */
int64_t pti_bell_count(pti_bell *bell);

/** Wait until it has rung more often than this. */
void pti_bell_wait(pti_bell *bell, int64_t n_rings);

/** Wait until it has rung more often than this, at most most_s seconds. */
void pti_bell_wait_for(pti_bell *bell, int64_t n_rings, double most_s);

void pti_bell_ring(pti_bell *bell);

#endif
