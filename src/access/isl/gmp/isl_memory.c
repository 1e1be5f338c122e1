#include "access/isl/isl_memory.h"

#include <gmp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reserve is memory of a fixed size from the start, in pages that are untouched until needed.
 * Blocks have 16 << k bytes; free ones are in a list for each k. Once all are free the reserve is
 * as new. */

enum { RESERVE_BYTES = 4 << 20, LEAST_BYTES = 16, N_CLASSES = 18 };

static union {
    max_align_t aligned;
    char bytes[RESERVE_BYTES];
} reserve;

static pthread_mutex_t reserve_mutex = PTHREAD_MUTEX_INITIALIZER;
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

static void *reuse_block(int k) {
    void *block = given_back[k];
    if (block != NULL)
        memcpy(&given_back[k], block, sizeof block);
    return block;
}

static void *cut_block_off(size_t n_bytes) {
    if (n_bytes > RESERVE_BYTES - n_cut_bytes)
        return NULL;
    n_cut_bytes += n_bytes;
    return reserve.bytes + n_cut_bytes - n_bytes;
}

static void *allocate_block(size_t n_bytes) {
    int k = class_of(n_bytes);
    void *block = k < N_CLASSES ? reuse_block(k) : NULL;
    size_t block_bytes = (size_t)LEAST_BYTES << k;
    if (block == NULL && k < N_CLASSES)
        block = cut_block_off(block_bytes);
    if (block != NULL)
        n_taken_bytes += block_bytes;
    if (n_taken_bytes > n_peak_bytes)
        n_peak_bytes = n_taken_bytes;
    return block;
}

/** Return a block with malloc()'s alignment. Ends the process, as GMP does, if none is left. */
static void *take_block(size_t n_bytes) {
    pthread_mutex_lock(&reserve_mutex);
    void *block = allocate_block(n_bytes);
    pthread_mutex_unlock(&reserve_mutex);
    if (block == NULL) {
        fprintf(stderr, "polytile: GMP needs %zu bytes, and no memory is left\n", n_bytes);
        abort();
    }
    return block;
}

static void clear_reserve(void) {
    n_cut_bytes = 0;
    memset(given_back, 0, sizeof given_back);
}

/** Free a block of n_bytes, as requested. */
static void give_block_back(void *memory, size_t n_bytes) {
    int k = class_of(n_bytes);
    pthread_mutex_lock(&reserve_mutex);
    memcpy(memory, &given_back[k], sizeof given_back[k]);
    given_back[k] = memory;
    n_taken_bytes -= (size_t)LEAST_BYTES << k;
    if (n_taken_bytes == 0)
        clear_reserve();
    pthread_mutex_unlock(&reserve_mutex);
}

static bool is_in_reserve(const void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve.bytes;
    return at >= first && at - first < RESERVE_BYTES;
}

static size_t read_locked(const size_t *count) {
    pthread_mutex_lock(&reserve_mutex);
    size_t value = *count;
    pthread_mutex_unlock(&reserve_mutex);
    return value;
}

/* The functions for GMP. */

pti_isl_source pti_isl_memory_source = {malloc, realloc};

/** The program's own functions; NULL if it set none. */
static void *(*their_allocate)(size_t);
static void *(*their_reallocate)(void *, size_t, size_t);
static void (*their_free)(void *, size_t);

/** GMP's default function: its blocks are malloc()'s, and it ends the process when memory runs
 * out. */
extern void *__gmp_default_allocate(size_t n_bytes);

/** A context that is not freed. A later one may get its address, but not its number. */
typedef struct living {
    struct living *next;
    isl_ctx *isl;
    uint64_t number;
} living;

/** Guards the list of contexts: one may be freed while another thread computes. */
static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER;
static living *contexts; /* latest first */
static uint64_t n_contexts;

/** The number of the context in which the calling thread computes; 0: none. */
static _Thread_local uint64_t computes;
static _Thread_local bool has_run_out;

/** End the thread's computation: the context's next allocation is one operation too many. */
static void end_computation(void) {
    has_run_out = true;
    pthread_mutex_lock(&contexts_mutex);
    for (const living *at = contexts; at != NULL; at = at->next) {
        if (at->number == computes)
            isl_ctx_set_max_operations(at->isl, 1);
    }
    pthread_mutex_unlock(&contexts_mutex);
}

static void *take_of_reserve(size_t n_bytes) {
    end_computation();
    return take_block(n_bytes);
}

static void *allocate_memory(size_t n_bytes) {
    void *memory =
        their_allocate != NULL ? their_allocate(n_bytes) : pti_isl_memory_source.allocate(n_bytes);
    return memory != NULL ? memory : take_of_reserve(n_bytes);
}

static void release_memory(void *memory, size_t n_bytes) {
    if (is_in_reserve(memory))
        give_block_back(memory, n_bytes);
    else if (their_free != NULL)
        their_free(memory, n_bytes);
    else
        free(memory);
}

static void *move_memory(void *memory, size_t old_bytes, size_t n_bytes, void *to) {
    memcpy(to, memory, old_bytes < n_bytes ? old_bytes : n_bytes);
    release_memory(memory, old_bytes);
    return to;
}

static void *reallocate_memory(void *memory, size_t old_bytes, size_t n_bytes) {
    if (is_in_reserve(memory))
        return move_memory(memory, old_bytes, n_bytes, allocate_memory(n_bytes));
    void *moved = their_reallocate != NULL ? their_reallocate(memory, old_bytes, n_bytes)
                                           : pti_isl_memory_source.reallocate(memory, n_bytes);
    return moved != NULL ? moved
                         : move_memory(memory, old_bytes, n_bytes, take_of_reserve(n_bytes));
}

static void install_functions(void) {
    mp_get_memory_functions(&their_allocate, &their_reallocate, &their_free);
    if (their_allocate == __gmp_default_allocate) {
        their_allocate = NULL;
        their_reallocate = NULL;
        their_free = NULL;
    }
    mp_set_memory_functions(allocate_memory, reallocate_memory, release_memory);
}

bool pti_isl_memory_is_protected(void) {
    return true;
}

void pti_isl_memory_protect(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_functions);
}

bool pti_isl_memory_add(isl_ctx *isl) {
    living *added = malloc(sizeof *added);
    if (added == NULL)
        return false;
    pthread_mutex_lock(&contexts_mutex);
    *added = (living){contexts, isl, ++n_contexts};
    contexts = added;
    pthread_mutex_unlock(&contexts_mutex);
    return true;
}

void pti_isl_memory_begin(isl_ctx *isl) {
    has_run_out = false;
    computes = 0;
    pthread_mutex_lock(&contexts_mutex);
    for (const living *at = contexts; at != NULL; at = at->next) {
        if (at->isl == isl)
            computes = at->number;
    }
    pthread_mutex_unlock(&contexts_mutex);
}

void pti_isl_memory_end(isl_ctx *isl) {
    pthread_mutex_lock(&contexts_mutex);
    living **at = &contexts;
    while (*at != NULL && (*at)->isl != isl)
        at = &(*at)->next;
    living *ended = *at;
    if (ended != NULL)
        *at = ended->next;
    pthread_mutex_unlock(&contexts_mutex);
    free(ended);
}

bool pti_isl_memory_ran_out(void) {
    return has_run_out;
}

size_t pti_isl_memory_get_taken_bytes(void) {
    return read_locked(&n_taken_bytes);
}

size_t pti_isl_memory_get_peak_bytes(void) {
    return read_locked(&n_peak_bytes);
}
