#ifndef POLYTILE_BASE_CANCEL_H
#define POLYTILE_BASE_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

/** What is numbered as it comes, from 1 on, and can be cancelled up to the newest. All threads, and
 * handlers of signals, may ask for that. */
typedef struct pti_cancel {
    int64_t newest;
    int64_t asked; /* up to this number; what comes later is not cancelled */
} pti_cancel;

/** Note that something came; numbers grow. */
static inline void pti_cancel_note(pti_cancel *of, int64_t number) {
    __atomic_store_n(&of->newest, number, __ATOMIC_RELAXED);
}

/** Ask that all that came so far is cancelled. */
static inline void pti_cancel_ask(pti_cancel *of) {
    __atomic_store_n(&of->asked, __atomic_load_n(&of->newest, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static inline bool pti_cancel_covers(const pti_cancel *of, int64_t number) {
    return number <= __atomic_load_n(&of->asked, __ATOMIC_RELAXED);
}

#endif
