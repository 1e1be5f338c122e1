#include "base/signals.h"

#include <pthread.h>

static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

void pti_signals_block(sigset_t *before) {
    sigset_t set;
    sigfillset(&set);
    for (size_t k = 0; k < sizeof own_signals / sizeof *own_signals; k++)
        sigdelset(&set, own_signals[k]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void pti_signals_restore(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
