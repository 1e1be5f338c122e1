#include "launch/access_check/poison.h"

#include "access/array/type.h"
#include "base/mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** The layout of a floating-point type's bits. */
typedef struct float_form {
    int fraction_bits;
    int exponent_bits;
    int bias;
} float_form;

static const float_form f16_form = {10, 5, 15};
static const float_form f32_form = {23, 8, 127};
static const float_form f64_form = {52, 11, 1023};
static const float_form bf16_form = {7, 8, 127};

static const float_form *form_of(polytile_type type) {
    switch (type) {
    case POLYTILE_F16:
        return &f16_form;
    case POLYTILE_F32:
        return &f32_form;
    case POLYTILE_F64:
        return &f64_form;
    case POLYTILE_BF16:
        return &bf16_form;
    default:
        return NULL;
    }
}

/** Compose a number of a sign, an exponent relative to one, and leading digits from random bits. */
static uint64_t compose_number(const float_form *form, bool is_negative, int exponent,
                               uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << form->fraction_bits) - 1);
    uint64_t sign = (uint64_t)is_negative << (form->fraction_bits + form->exponent_bits);
    return sign | (uint64_t)(form->bias + exponent) << form->fraction_bits | fraction;
}

static uint64_t poison_float(const float_form *form, pti_pattern pattern, uint64_t bits) {
    int step = (int)(bits >> 55 & 3);
    switch (pattern) {
    case PTI_PATTERN_ODD:
        return compose_number(form, true, 1, bits);
    case PTI_PATTERN_ZERO:
        return 0;
    case PTI_PATTERN_LARGEST:
        return compose_number(form, false, form->bias - step, bits);
    case PTI_PATTERN_SMALLEST:
        return compose_number(form, true, form->bias - step, bits);
    case PTI_PATTERN_NO_NUMBER:
        return compose_number(form, false, form->bias + 1,
                              UINT64_C(1) << (form->fraction_bits - 1));
    case PTI_PATTERN_FRACTIONS:
        return compose_number(form, bits >> 63, -step - 1, bits);
    default:
        return compose_number(form, false, 0, bits);
    }
}

bool pti_poison_has_sign(polytile_type type) {
    return type >= POLYTILE_I8 && type <= POLYTILE_I64;
}

bool pti_poison_has_fractions(polytile_type type) {
    return form_of(type) != NULL;
}

/** Return an integer of a pattern. Small numbers are 2 .. 32 and 1 .. 31; the smallest ones of
 * unsigned types are zero. */
static uint64_t poison_integer(polytile_type type, int64_t element_bytes, pti_pattern pattern,
                               uint64_t bits) {
    uint64_t sign = pti_poison_has_sign(type) ? UINT64_C(1) << (8 * element_bytes - 1) : 0;
    switch (pattern) {
    case PTI_PATTERN_ODD:
        return (bits & 0x1E) | 1;
    case PTI_PATTERN_ZERO:
        return 0;
    case PTI_PATTERN_LARGEST:
        return ~sign;
    case PTI_PATTERN_SMALLEST:
        return sign;
    case PTI_PATTERN_NO_NUMBER:
    case PTI_PATTERN_FRACTIONS:
        return bits | 1;
    default:
        return (bits & 0x1E) + 2;
    }
}

uint64_t pti_poison_bits(pti_pattern pattern, int64_t place) {
    return pti_scramble((uint64_t)place * 16 + (uint64_t)pattern);
}

static uint64_t poison_at(polytile_type type, int64_t element_bytes, pti_pattern pattern,
                          int64_t place) {
    const float_form *form = form_of(type);
    uint64_t bits = pti_poison_bits(pattern, place);
    return form != NULL ? poison_float(form, pattern, bits)
                        : poison_integer(type, element_bytes, pattern, bits);
}

/** A number of which an element consists. */
typedef struct element_part {
    polytile_type type;
    int64_t offset;
} element_part;

enum { MOST_PARTS = 2 };

/** List the parts of an element of two numbers; 0: it has one, or none that is known. */
static int list_parts(polytile_type type, element_part parts[MOST_PARTS]) {
    const polytile_type part = pti_type_part(type), value = pti_type_indexed(type);
    if (part < 0 && value < 0)
        return 0;
    parts[0] = (element_part){part >= 0 ? part : value, 0};
    parts[1] = part >= 0 ? (element_part){part, polytile_type_get_bytes(part)}
                         : (element_part){POLYTILE_I64, PTI_INDEX_OFFSET};
    return MOST_PARTS;
}

/** Fill an element of several numbers. */
static void fill_parts(pti_pattern pattern, const element_part *parts, int n_parts, int64_t place,
                       unsigned char *element) {
    for (int p = 0; p < n_parts; p++) {
        const int64_t n_bytes = polytile_type_get_bytes(parts[p].type);
        const uint64_t bits =
            poison_at(parts[p].type, n_bytes, pattern, place + p * INT64_C(0x10001));
        memcpy(element + parts[p].offset, &bits, (size_t)n_bytes);
    }
}

/** Fill an element that is longer than a number: every eight bytes are one number. */
static void fill_long(pti_pattern pattern, int64_t element_bytes, int64_t place,
                      unsigned char *element) {
    for (int64_t at = 0; at < element_bytes; at += (int64_t)sizeof(uint64_t)) {
        int64_t left = element_bytes - at;
        uint64_t bits = poison_at(POLYTILE_U64, 8, pattern, place + at * INT64_C(0x10001));
        memcpy(element + at, &bits, left < 8 ? (size_t)left : sizeof bits);
    }
}

void pti_poison_fill(pti_pattern pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements) {
    element_part parts[MOST_PARTS];
    const int n_parts = list_parts(type, parts);
    for (int64_t k = 0; k < n; k++) {
        unsigned char *element = elements + k * element_bytes;
        if (n_parts > 0) {
            memset(element, 0, (size_t)element_bytes);
            fill_parts(pattern, parts, n_parts, place + k, element);
        } else if (element_bytes > (int64_t)sizeof(uint64_t)) {
            fill_long(pattern, element_bytes, place + k, element);
        } else {
            uint64_t bits = poison_at(type, element_bytes, pattern, place + k);
            memcpy(element, &bits, (size_t)element_bytes);
        }
    }
}

static bool is_nan(const float_form *form, int64_t element_bytes, const unsigned char *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)element_bytes);
    uint64_t infinity = compose_number(form, false, form->bias + 1, 0);
    uint64_t magnitude = bits & ~(UINT64_C(1) << (8 * element_bytes - 1));
    return magnitude > infinity;
}

static bool are_same_numbers(polytile_type type, int64_t element_bytes, const unsigned char *one,
                             const unsigned char *other) {
    const float_form *form = form_of(type);
    if (memcmp(one, other, (size_t)element_bytes) == 0)
        return true;
    return form != NULL && is_nan(form, element_bytes, one) && is_nan(form, element_bytes, other);
}

bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other) {
    element_part parts[MOST_PARTS];
    const int n_parts = list_parts(type, parts);
    bool is_same = n_parts > 0 || are_same_numbers(type, element_bytes, one, other);
    for (int p = 0; p < n_parts; p++)
        is_same = is_same && are_same_numbers(parts[p].type, polytile_type_get_bytes(parts[p].type),
                                              one + parts[p].offset, other + parts[p].offset);
    return is_same;
}
