#include "access/isl_memory.h"

#include "access/gmp/reserve.h"

#include <gmp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

pti_isl_source pti_isl_memory_source = {malloc, realloc};

/** The functions that a program set before; NULL if it set none. */
static void *(*their_allocate)(size_t);
static void *(*their_reallocate)(void *, size_t, size_t);
static void (*their_free)(void *, size_t);

/** What GMP uses as long as nobody sets other functions: it ends the process without memory, while
 * its blocks are those of malloc(). */
extern void *__gmp_default_allocate(size_t n_bytes);

/** Guards n_ended against a context that is freed while another thread looks at it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_ended;

/** What the calling thread computes, as long as no context was freed since. */
static _Thread_local isl_ctx *computes;
static _Thread_local uint64_t begun_at;
static _Thread_local bool has_run_out;

/** The context's next allocation is one operation too many. */
static void end_computation(void) {
    has_run_out = true;
    pthread_mutex_lock(&mutex);
    if (computes != NULL && begun_at == n_ended)
        isl_ctx_set_max_operations(computes, 1);
    pthread_mutex_unlock(&mutex);
}

static void *take_of_reserve(size_t n_bytes) {
    end_computation();
    return pti_reserve_take(n_bytes);
}

static void *allocate(size_t n_bytes) {
    void *memory =
        their_allocate != NULL ? their_allocate(n_bytes) : pti_isl_memory_source.allocate(n_bytes);
    return memory != NULL ? memory : take_of_reserve(n_bytes);
}

static void release(void *memory, size_t n_bytes) {
    if (pti_reserve_has(memory))
        pti_reserve_give(memory, n_bytes);
    else if (their_free != NULL)
        their_free(memory, n_bytes);
    else
        free(memory);
}

static void *move(void *memory, size_t old_bytes, size_t n_bytes, void *to) {
    memcpy(to, memory, old_bytes < n_bytes ? old_bytes : n_bytes);
    release(memory, old_bytes);
    return to;
}

static void *reallocate(void *memory, size_t old_bytes, size_t n_bytes) {
    if (pti_reserve_has(memory))
        return move(memory, old_bytes, n_bytes, allocate(n_bytes));
    void *moved = their_reallocate != NULL ? their_reallocate(memory, old_bytes, n_bytes)
                                           : pti_isl_memory_source.reallocate(memory, n_bytes);
    return moved != NULL ? moved : move(memory, old_bytes, n_bytes, take_of_reserve(n_bytes));
}

static void install(void) {
    mp_get_memory_functions(&their_allocate, &their_reallocate, &their_free);
    if (their_allocate == __gmp_default_allocate) {
        their_allocate = NULL;
        their_reallocate = NULL;
        their_free = NULL;
    }
    mp_set_memory_functions(allocate, reallocate, release);
}

void pti_isl_memory_protect(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void pti_isl_memory_begin(isl_ctx *isl) {
    has_run_out = false;
    pthread_mutex_lock(&mutex);
    computes = isl;
    begun_at = n_ended;
    pthread_mutex_unlock(&mutex);
}

void pti_isl_memory_end(void) {
    pthread_mutex_lock(&mutex);
    n_ended++;
    pthread_mutex_unlock(&mutex);
}

bool pti_isl_memory_ran_out(void) {
    return has_run_out;
}

size_t pti_isl_memory_get_taken_bytes(void) {
    return pti_reserve_get_taken_bytes();
}

size_t pti_isl_memory_get_peak_bytes(void) {
    return pti_reserve_get_peak_bytes();
}
