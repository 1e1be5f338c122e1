#include "access/isl/isl_memory.h"

#include "access/isl/gmp/reserve.h"

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

/** A context that is not freed; another one may get its address later, but not its number. */
typedef struct living {
    struct living *next;
    isl_ctx *isl;
    uint64_t number;
} living;

/** Guards the contexts, one of which may be freed while another thread computes. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static living *contexts; /* latest first */
static uint64_t n_contexts;

/** What the calling thread computes, if that context still lives; 0: nothing. */
static _Thread_local uint64_t computes;
static _Thread_local bool has_run_out;

/** The context's next allocation is one operation too many. */
static void end_computation(void) {
    has_run_out = true;
    pthread_mutex_lock(&mutex);
    for (const living *at = contexts; at != NULL; at = at->next) {
        if (at->number == computes)
            isl_ctx_set_max_operations(at->isl, 1);
    }
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

bool pti_isl_memory_is_protected(void) {
    return true;
}

void pti_isl_memory_protect(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

bool pti_isl_memory_add(isl_ctx *isl) {
    living *added = malloc(sizeof *added);
    if (added == NULL)
        return false;
    pthread_mutex_lock(&mutex);
    *added = (living){contexts, isl, ++n_contexts};
    contexts = added;
    pthread_mutex_unlock(&mutex);
    return true;
}

void pti_isl_memory_begin(isl_ctx *isl) {
    has_run_out = false;
    computes = 0;
    pthread_mutex_lock(&mutex);
    for (const living *at = contexts; at != NULL; at = at->next) {
        if (at->isl == isl)
            computes = at->number;
    }
    pthread_mutex_unlock(&mutex);
}

void pti_isl_memory_end(isl_ctx *isl) {
    pthread_mutex_lock(&mutex);
    living **at = &contexts;
    while (*at != NULL && (*at)->isl != isl)
        at = &(*at)->next;
    living *ended = *at;
    if (ended != NULL)
        *at = ended->next;
    pthread_mutex_unlock(&mutex);
    free(ended);
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
