#ifndef POLYTILE_BASE_CLOCK_H
#define POLYTILE_BASE_CLOCK_H

#include <time.h>

/** Return seconds since a fixed moment; they never go back. */
static inline double pti_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** The same, up to some milliseconds ago, in a tenth of the time. */
static inline double pti_coarse_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** How long ago that may have been, at most. */
static inline double pti_coarse_tick_s(void) {
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

/** Return when so many seconds, 0 or more, are over, by the same clock: for timed waits. */
static inline struct timespec pti_time_after(double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = (double)(time_t)seconds;
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

#endif
