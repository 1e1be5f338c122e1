#ifndef POLYTILE_BASE_MIX_H
#define POLYTILE_BASE_MIX_H

#include <stdint.h>

/** Mix a value into a hash: multiplying by an odd number moves differences up, folding moves them
 * down. */
static inline uint64_t pti_mix(uint64_t hash, int64_t value) {
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/** Mix a text into a hash, with its end; alike on all machines, whether their characters have signs
 * or not. */
static inline uint64_t pti_mix_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++)
        hash = pti_mix(hash, (unsigned char)*text);
    return pti_mix(hash, '\0');
}

/** Return bits that look random, also of neighbouring numbers (splitmix64). Source: Steele et al.,
 * "Fast splittable pseudorandom number generators", 2014. */
static inline uint64_t pti_scramble(uint64_t number) {
    uint64_t bits = number + UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/** Draw a number below n from a generator's state: the upper bits of a linear congruential one.
 * Source: Knuth, The Art of Computer Programming, volume 2, 3.3.4. */
static inline int64_t pti_draw(uint64_t *state, int64_t n) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

#endif
