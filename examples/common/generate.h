#ifndef EXAMPLES_GENERATE_H
#define EXAMPLES_GENERATE_H

#include <stdint.h>

/** Return an integer in -bound .. bound that looks random, the same for the same position. Sums of
 * such numbers are exact in floating point. */
static inline int64_t small_integer(int64_t position, uint64_t seed, int64_t bound) {
    uint64_t mixed = ((uint64_t)position + seed) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xd6e8feb86659fd93);
    return (int64_t)((mixed >> 32) % (uint64_t)(2 * bound + 1)) - bound;
}

#endif
