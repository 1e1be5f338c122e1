#ifndef EXAMPLES_NBODY_KERNELS_H
#define EXAMPLES_NBODY_KERNELS_H

#include <polytile/kernel.h>

#include <math.h>

#define NBODY_DECLARATION "nbody[s](i64 steps): inout body[s, :, :], velocity[s, :, :]"

/** What of a body has which place: where it is, and its mass. */
enum { NBODY_X, NBODY_Y, NBODY_Z, NBODY_MASS, NBODY_FIELDS };

/** The time of a step, and the square of what softens close encounters. */
#define NBODY_STEP      0.001f
#define NBODY_SOFTENING 0.01f

/** Add to the acceleration of one body what another one does. */
PT_FUNCTION void nbody_attract(float *acceleration, const float *one, const float *other) {
    const float dx = other[NBODY_X] - one[NBODY_X], dy = other[NBODY_Y] - one[NBODY_Y];
    const float dz = other[NBODY_Z] - one[NBODY_Z];
    const float square = dx * dx + dy * dy + dz * dz + NBODY_SOFTENING;
    const float pull = other[NBODY_MASS] / (square * sqrtf(square));
    acceleration[NBODY_X] += dx * pull;
    acceleration[NBODY_Y] += dy * pull;
    acceleration[NBODY_Z] += dz * pull;
}

/** Change the velocity of one of n bodies by what all do, in index order. */
PT_FUNCTION void nbody_accelerate(float *velocity, const float *one, const float *bodies,
                                  int64_t n) {
    float acceleration[3] = {0, 0, 0};
    for (int64_t other = 0; other < n; ++other)
        nbody_attract(acceleration, one, bodies + other * NBODY_FIELDS);
    for (int d = NBODY_X; d <= NBODY_Z; ++d)
        velocity[d] += NBODY_STEP * acceleration[d];
}

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *nbody_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
