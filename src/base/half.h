#ifndef POLYTILE_BASE_HALF_H
#define POLYTILE_BASE_HALF_H

#include <stdint.h>

/* IEEE 754 binary16 for compilers without the type. */

float pti_half_to_float(uint16_t half);

/** Round to nearest, ties to even. */
uint16_t pti_half_from_float(float value);

#endif
