#include "access/isl/gmp/reserve.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks have 16 << k bytes; those given back are kept in a list for each k. Once all are back the
 * reserve is as new. */

enum { RESERVE_BYTES = 4 << 20, LEAST_BYTES = 16, N_CLASSES = 18 };

static union {
    max_align_t aligned;
    char bytes[RESERVE_BYTES];
} reserve;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t n_cut_bytes; /* the blocks that were ever cut off lie before this */
static size_t n_taken_bytes;
static size_t n_peak_bytes;
static void *given_back[N_CLASSES]; /* each holds the address of the next in its first bytes */

static int class_of(size_t n_bytes) {
    int k = 0;
    while (k < N_CLASSES && (size_t)LEAST_BYTES << k < n_bytes)
        k++;
    return k;
}

static void *reuse(int k) {
    void *block = given_back[k];
    if (block != NULL)
        memcpy(&given_back[k], block, sizeof block);
    return block;
}

static void *cut_off(size_t n_bytes) {
    if (n_bytes > RESERVE_BYTES - n_cut_bytes)
        return NULL;
    n_cut_bytes += n_bytes;
    return reserve.bytes + n_cut_bytes - n_bytes;
}

static void *allocate_block(size_t n_bytes) {
    int k = class_of(n_bytes);
    void *block = k < N_CLASSES ? reuse(k) : NULL;
    size_t block_bytes = (size_t)LEAST_BYTES << k;
    if (block == NULL && k < N_CLASSES)
        block = cut_off(block_bytes);
    if (block != NULL)
        n_taken_bytes += block_bytes;
    if (n_taken_bytes > n_peak_bytes)
        n_peak_bytes = n_taken_bytes;
    return block;
}

void *pti_reserve_take(size_t n_bytes) {
    pthread_mutex_lock(&mutex);
    void *block = allocate_block(n_bytes);
    pthread_mutex_unlock(&mutex);
    if (block == NULL) {
        fprintf(stderr, "polytile: GMP needs %zu bytes, and no memory is left\n", n_bytes);
        abort();
    }
    return block;
}

static void renew(void) {
    n_cut_bytes = 0;
    memset(given_back, 0, sizeof given_back);
}

void pti_reserve_give(void *memory, size_t n_bytes) {
    int k = class_of(n_bytes);
    pthread_mutex_lock(&mutex);
    memcpy(memory, &given_back[k], sizeof given_back[k]);
    given_back[k] = memory;
    n_taken_bytes -= (size_t)LEAST_BYTES << k;
    if (n_taken_bytes == 0)
        renew();
    pthread_mutex_unlock(&mutex);
}

bool pti_reserve_has(const void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve.bytes;
    return at >= first && at - first < RESERVE_BYTES;
}

static size_t read_locked(const size_t *count) {
    pthread_mutex_lock(&mutex);
    size_t value = *count;
    pthread_mutex_unlock(&mutex);
    return value;
}

size_t pti_reserve_get_taken_bytes(void) {
    return read_locked(&n_taken_bytes);
}

size_t pti_reserve_get_peak_bytes(void) {
    return read_locked(&n_peak_bytes);
}
