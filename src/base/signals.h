#ifndef POLYTILE_BASE_SIGNALS_H
#define POLYTILE_BASE_SIGNALS_H

#include <signal.h>

/** Block, while the library's threads are started, all signals that a program's handlers may want
 * on the program's threads. Those that a thread raises by what it does stay: blocking them would
 * only end the program. */
void pti_signals_block(sigset_t *before);
void pti_signals_restore(const sigset_t *before);

#endif
