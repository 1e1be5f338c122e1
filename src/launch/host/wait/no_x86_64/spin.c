#include "launch/host/wait/spin.h"

#include <sched.h>

/** Yield, so that others may use the time. */
void pti_spin_pause(void) {
    sched_yield();
}
