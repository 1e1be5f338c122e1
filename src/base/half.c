#include "base/half.h"

#include <math.h>
#include <string.h>

enum {
    EXPONENT_BITS = 0x7C00,
    FRACTION_BITS = 0x03FF,
    SIGN_BIT = 0x8000,
    NOT_A_NUMBER = 0x7E00,
    FRACTION_DIGITS = 10,
    LEAST_EXPONENT = -24, /* of the smallest positive value */
    BRAIN_NOT_A_NUMBER = 0x7FC0,
    BRAIN_DROPPED = 16, /* bits of a float that a bfloat16 lacks */
};

float pti_half_to_float(uint16_t half) {
    int exponent = (half & EXPONENT_BITS) >> FRACTION_DIGITS;
    int fraction = half & FRACTION_BITS;
    float magnitude;
    if (exponent == EXPONENT_BITS >> FRACTION_DIGITS)
        magnitude = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        magnitude = ldexpf((float)fraction, LEAST_EXPONENT);
    else
        magnitude = ldexpf((float)(fraction + FRACTION_BITS + 1), exponent - 1 + LEAST_EXPONENT);
    return half & SIGN_BIT ? -magnitude : magnitude;
}

/* Adjacent bit patterns are adjacent values: a fraction that rounds up carries into the exponent,
 * and the largest value into infinity. */
uint16_t pti_half_from_float(float value) {
    int sign = signbit(value) ? SIGN_BIT : 0;
    float magnitude = fabsf(value);
    if (isnan(value))
        return NOT_A_NUMBER;
    if (magnitude >= 65520.0f)
        return (uint16_t)(sign | EXPONENT_BITS);
    int exponent;
    frexpf(magnitude, &exponent);
    int unit = exponent - 1 - FRACTION_DIGITS;
    int biased = unit - LEAST_EXPONENT;
    if (biased < 0 || magnitude == 0) {
        unit = LEAST_EXPONENT;
        biased = 0;
    }
    int fraction = (int)nearbyintf(ldexpf(magnitude, -unit));
    return (uint16_t)(sign | ((biased << FRACTION_DIGITS) + fraction));
}

float pti_brain_to_float(uint16_t brain) {
    const uint32_t bits = (uint32_t)brain << BRAIN_DROPPED;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As above, adjacent bit patterns are adjacent values. */
uint16_t pti_brain_from_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return BRAIN_NOT_A_NUMBER;
    const uint32_t is_odd = bits >> BRAIN_DROPPED & 1;
    return (uint16_t)((bits + (UINT32_C(1) << (BRAIN_DROPPED - 1)) - 1 + is_odd) >> BRAIN_DROPPED);
}
