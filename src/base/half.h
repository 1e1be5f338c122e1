#ifndef POLYTILE_BASE_HALF_H
#define POLYTILE_BASE_HALF_H

#include <stdint.h>

/* IEEE 754 binary16, and bfloat16, for compilers without the types. */

float pti_half_to_float(uint16_t half);

/** Round to nearest, ties to even. */
uint16_t pti_half_from_float(float value);

/** Bfloat16 is the upper half of a float. */
float pti_brain_to_float(uint16_t brain);

/** Round to nearest, ties to even. */
uint16_t pti_brain_from_float(float value);

#endif
