#ifndef POLYTILE_BASE_CLOCK_H
#define POLYTILE_BASE_CLOCK_H

#include <time.h>

/** Return seconds since a fixed moment; they never go back. */
static inline double pti_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
