#include "launch/access_check/poison.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** How the bits of a floating-point type lie. */
typedef struct float_form {
    int fraction_bits;
    int exponent_bits;
    int bias;
    int reach; /* exponents of large and small values differ by so much from those of one */
} float_form;

static const float_form f16_form = {10, 5, 15, 8};
static const float_form f32_form = {23, 8, 127, 40};
static const float_form f64_form = {52, 11, 1023, 200};

static const float_form *form_of(polytile_type type) {
    switch (type) {
    case POLYTILE_F16:
        return &f16_form;
    case POLYTILE_F32:
        return &f32_form;
    case POLYTILE_F64:
        return &f64_form;
    default:
        return NULL;
    }
}

/** Bits that look random and follow from the pattern and the place (the finaliser of splitmix64). */
static uint64_t mix(int pattern, int64_t place) {
    uint64_t bits = (uint64_t)place * 8 + (uint64_t)pattern + UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

/** Sign, exponent relative to one, and the leading digits out of random bits. */
static uint64_t compose(const float_form *form, bool is_negative, int exponent, uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << form->fraction_bits) - 1);
    uint64_t sign = (uint64_t)is_negative << (form->fraction_bits + form->exponent_bits);
    return sign | (uint64_t)(form->bias + exponent) << form->fraction_bits | fraction;
}

/** Pattern 0 is in 1 .. 2, 1 in -4 .. -2, 2 not a number, 3 large, the others small, of any sign. */
static uint64_t poison_float(const float_form *form, int pattern, uint64_t bits) {
    bool is_negative = bits >> 63;
    int step = (int)(bits >> 55 & 3);
    switch (pattern) {
    case 0:
        return compose(form, false, 0, bits);
    case 1:
        return compose(form, true, 1, bits);
    case 2:
        return compose(form, false, form->bias + 1, UINT64_C(1) << (form->fraction_bits - 1));
    case 3:
        return compose(form, is_negative, form->reach - step, bits);
    default:
        return compose(form, is_negative, -step - 1, bits);
    }
}

/** Pattern 0 is small and even, 1 small and odd, all others odd with any other bits. */
static uint64_t poison_integer(int pattern, uint64_t bits) {
    if (pattern == 0)
        return bits & 0x1E;
    return (pattern == 1 ? bits & 0x1E : bits) | 1;
}

static uint64_t poison_at(polytile_type type, int pattern, int64_t place) {
    const float_form *form = form_of(type);
    uint64_t bits = mix(pattern, place);
    return form != NULL ? poison_float(form, pattern, bits) : poison_integer(pattern, bits);
}

/** Of elements longer than a number, every eight bytes are one. */
static void fill_long(int pattern, int64_t element_bytes, int64_t place, unsigned char *element) {
    for (int64_t at = 0; at < element_bytes; at += (int64_t)sizeof(uint64_t)) {
        int64_t left = element_bytes - at;
        uint64_t bits = poison_at(POLYTILE_U64, pattern, place + at * INT64_C(0x10001));
        memcpy(element + at, &bits, left < 8 ? (size_t)left : sizeof bits);
    }
}

void pti_poison_fill(int pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements) {
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits = poison_at(type, pattern, place + k);
        if (element_bytes > (int64_t)sizeof bits)
            fill_long(pattern, element_bytes, place + k, elements + k * element_bytes);
        else
            memcpy(elements + k * element_bytes, &bits, (size_t)element_bytes);
    }
}

static bool is_nan(const float_form *form, int64_t element_bytes, const unsigned char *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)element_bytes);
    uint64_t infinity = compose(form, false, form->bias + 1, 0);
    uint64_t magnitude = bits & ~(UINT64_C(1) << (8 * element_bytes - 1));
    return magnitude > infinity;
}

bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other) {
    const float_form *form = form_of(type);
    if (memcmp(one, other, (size_t)element_bytes) == 0)
        return true;
    return form != NULL && is_nan(form, element_bytes, one) && is_nan(form, element_bytes, other);
}
