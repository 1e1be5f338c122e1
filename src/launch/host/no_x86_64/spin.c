#include "launch/host/spin.h"

#include <sched.h>

/** Others may use the time. */
void pti_spin_pause(void) {
    sched_yield();
}
