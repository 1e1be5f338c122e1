#ifndef POLYTILE_LAUNCH_HOST_SPIN_H
#define POLYTILE_LAUNCH_HOST_SPIN_H

/* Loops that wait for what another thread stores. One file a processor, chosen by CMake. */

/** Pause for some ten nanoseconds, and leave the core to its other threads. */
void pti_spin_pause(void);

#endif
