#ifndef POLYTILE_LAUNCH_HOST_SPIN_H
#define POLYTILE_LAUNCH_HOST_SPIN_H

/* Loops that wait for what another thread stores. One file a processor, chosen by CMake. */

/** Spend a moment, some ten nanoseconds, in a way that leaves the core to what shares it. */
void pti_spin_pause(void);

#endif
