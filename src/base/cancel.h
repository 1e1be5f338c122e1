#ifndef POLYTILE_BASE_CANCEL_H
#define POLYTILE_BASE_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

/** Up to which number requests are cancelled. Requests are numbered from 1 as they come. Any
 * thread, and handlers of signals, may ask to cancel all that came so far. */
typedef struct pti_cancel {
    int64_t newest;
    int64_t asked; /* up to this number; what comes later is not cancelled */
} pti_cancel;

/** Note that something came; numbers grow. */
static inline void pti_cancel_note(pti_cancel *cancel, int64_t number) {
    __atomic_store_n(&cancel->newest, number, __ATOMIC_RELAXED);
}

/** Ask that all that came so far is cancelled. */
static inline void pti_cancel_ask(pti_cancel *cancel) {
    __atomic_store_n(&cancel->asked, __atomic_load_n(&cancel->newest, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static inline bool pti_cancel_covers(const pti_cancel *cancel, int64_t number) {
    return number <= __atomic_load_n(&cancel->asked, __ATOMIC_RELAXED);
}

#endif
