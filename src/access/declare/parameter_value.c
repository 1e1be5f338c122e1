#include "access/declare/parameter_value.h"

#include "access/array/type.h"
#include "base/half.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int64_t least;
    uint64_t most;
} integers[] = {
    [POLYTILE_I8] = {INT8_MIN, INT8_MAX},    [POLYTILE_I16] = {INT16_MIN, INT16_MAX},
    [POLYTILE_I32] = {INT32_MIN, INT32_MAX}, [POLYTILE_I64] = {INT64_MIN, INT64_MAX},
    [POLYTILE_U8] = {0, UINT8_MAX},          [POLYTILE_U16] = {0, UINT16_MAX},
    [POLYTILE_U32] = {0, UINT32_MAX},        [POLYTILE_U64] = {0, UINT64_MAX},
};

char *pti_parameter_show(const polytile_parameter *given, char buffer[PTI_NUMBER_TEXT_BYTES]) {
    if (given->number == POLYTILE_UNSIGNED_NUMBER)
        snprintf(buffer, PTI_NUMBER_TEXT_BYTES, "%" PRIu64, (uint64_t)given->value);
    else if (given->number != POLYTILE_FLOAT_NUMBER)
        snprintf(buffer, PTI_NUMBER_TEXT_BYTES, "%" PRId64, given->value);
    else if (snprintf(buffer, PTI_NUMBER_TEXT_BYTES, "%g", given->real) > 0 &&
             strtod(buffer, NULL) != given->real && !isnan(given->real))
        snprintf(buffer, PTI_NUMBER_TEXT_BYTES, "%.17g", given->real);
    return buffer;
}

static polytile_status refuse_integer(polytile_context *ctx,
                                      const polytile_declaration *declaration, int p,
                                      const polytile_parameter *given) {
    const polytile_type type = declaration->parameter_type[p];
    char shown[PTI_NUMBER_TEXT_BYTES], name[PTI_TYPE_TEXT_BYTES];
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: parameter %s is %s and cannot hold %s; give an integer from %" PRId64
                    " to %" PRIu64 ", or declare another type",
                    declaration->name, declaration->parameter_name[p], pti_type_format(type, name),
                    pti_parameter_show(given, shown), integers[type].least, integers[type].most);
}

static polytile_status refuse_real(polytile_context *ctx, const polytile_declaration *declaration,
                                   int p, const polytile_parameter *given, double most) {
    char shown[PTI_NUMBER_TEXT_BYTES], name[PTI_TYPE_TEXT_BYTES];
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: parameter %s is %s, in which %s would be infinite; give a number from %g "
                    "to %g, or declare another type",
                    declaration->name, declaration->parameter_name[p],
                    pti_type_format(declaration->parameter_type[p], name),
                    pti_parameter_show(given, shown), -most, most);
}

static polytile_status check_number(polytile_context *ctx, const polytile_declaration *declaration,
                                    int p, const polytile_parameter *given) {
    if ((unsigned)given->number <= POLYTILE_FLOAT_NUMBER)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: the number of parameter %s is %d, which is none of its enumeration; make "
                    "parameters with POLYTILE_PARAMETER()",
                    declaration->name, declaration->parameter_name[p], (int)given->number);
}

/** Find the integer that is given; false: a fraction, no number, or more than any type holds. */
static bool find_integer(const polytile_parameter *given, __int128 *integer) {
    const bool is_real = given->number == POLYTILE_FLOAT_NUMBER;
    if (is_real &&
        !(given->real >= -0x1p63 && given->real < 0x1p64 && given->real == trunc(given->real)))
        return false;
    *integer = is_real                                     ? (__int128)given->real
               : given->number == POLYTILE_UNSIGNED_NUMBER ? (__int128)(uint64_t)given->value
                                                           : (__int128)given->value;
    return true;
}

static polytile_status to_integer(polytile_context *ctx, const polytile_declaration *declaration,
                                  int p, const polytile_parameter *given, __int128 *integer) {
    const polytile_type type = declaration->parameter_type[p];
    if (!find_integer(given, integer) || *integer < integers[type].least ||
        *integer > integers[type].most)
        return refuse_integer(ctx, declaration, p, given);
    return POLYTILE_OK;
}

static double to_double(const polytile_parameter *given) {
    return given->number == POLYTILE_FLOAT_NUMBER      ? given->real
           : given->number == POLYTILE_UNSIGNED_NUMBER ? (double)(uint64_t)given->value
                                                       : (double)given->value;
}

/** Convert in one rounding, which an integer is not by way of double. */
static float to_float(const polytile_parameter *given) {
    return given->number == POLYTILE_FLOAT_NUMBER      ? (float)given->real
           : given->number == POLYTILE_UNSIGNED_NUMBER ? (float)(uint64_t)given->value
                                                       : (float)given->value;
}

/** Round to the neighbour whose last bit is set, unless exact: rounding that further to nearest is
 * as rounding once. */
static float round_to_odd(double real) {
    float rounded = (float)real;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    if ((double)rounded != real && (bits & 1) == 0 && isfinite(rounded))
        bits = fabs((double)rounded) < fabs(real) ? bits + 1 : bits - 1;
    memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

/** As a double that rounds to a few bits as the number does: the last bit of an integer that no
 * double is equal to says whether there are more. */
static double to_longer(const polytile_parameter *given) {
    enum { N_CUT = 12 };
    const bool is_negative = given->number != POLYTILE_UNSIGNED_NUMBER && given->value < 0;
    const uint64_t bits = (uint64_t)given->value, size = is_negative ? 0 - bits : bits;
    if (given->number == POLYTILE_FLOAT_NUMBER || size >> (64 - N_CUT) == 0)
        return to_double(given);
    const bool has_more = (size & ((UINT64_C(1) << N_CUT) - 1)) != 0;
    const double longer = ldexp((double)(size >> N_CUT | has_more), N_CUT);
    return is_negative ? -longer : longer;
}

static polytile_status to_half(polytile_context *ctx, const polytile_declaration *declaration,
                               int p, const polytile_parameter *given, pti_value *value) {
    const double real = to_longer(given);
    const uint16_t half = pti_half_from_float(round_to_odd(real));
    if (isfinite(real) && !isfinite(pti_half_to_float(half)))
        return refuse_real(ctx, declaration, p, given, 65504);
    memcpy(value->bytes, &half, sizeof half);
    return POLYTILE_OK;
}

static polytile_status to_brain(polytile_context *ctx, const polytile_declaration *declaration,
                                int p, const polytile_parameter *given, pti_value *value) {
    const double real = to_longer(given);
    const uint16_t brain = pti_brain_from_float(round_to_odd(real));
    if (isfinite(real) && !isfinite(pti_brain_to_float(brain)))
        return refuse_real(ctx, declaration, p, given, 0x1.FEp127);
    memcpy(value->bytes, &brain, sizeof brain);
    return POLYTILE_OK;
}

static polytile_status to_single(polytile_context *ctx, const polytile_declaration *declaration,
                                 int p, const polytile_parameter *given, pti_value *value) {
    const float single = to_float(given);
    if (!isfinite(single) && isfinite(to_double(given)))
        return refuse_real(ctx, declaration, p, given, (double)FLT_MAX);
    memcpy(value->bytes, &single, sizeof single);
    return POLYTILE_OK;
}

static void store_integer(int64_t n_bytes, __int128 integer, pti_value *value) {
    const uint64_t eight = (uint64_t)integer;
    const uint32_t four = (uint32_t)eight;
    const uint16_t two = (uint16_t)eight;
    const uint8_t one = (uint8_t)eight;
    if (n_bytes == sizeof eight)
        memcpy(value->bytes, &eight, sizeof eight);
    else if (n_bytes == sizeof four)
        memcpy(value->bytes, &four, sizeof four);
    else if (n_bytes == sizeof two)
        memcpy(value->bytes, &two, sizeof two);
    else
        memcpy(value->bytes, &one, sizeof one);
}

polytile_status pti_parameter_convert(polytile_context *ctx,
                                      const polytile_declaration *declaration, int p,
                                      const polytile_parameter *given, pti_value *value) {
    const polytile_type type = declaration->parameter_type[p];
    polytile_status status = check_number(ctx, declaration, p, given);
    *value = (pti_value){0};
    if (status != POLYTILE_OK)
        return status;
    if (type == POLYTILE_F16)
        return to_half(ctx, declaration, p, given, value);
    if (type == POLYTILE_BF16)
        return to_brain(ctx, declaration, p, given, value);
    if (type == POLYTILE_F32)
        return to_single(ctx, declaration, p, given, value);
    if (type == POLYTILE_F64) {
        const double real = to_double(given);
        memcpy(value->bytes, &real, sizeof real);
        return POLYTILE_OK;
    }
    __int128 integer = 0;
    status = to_integer(ctx, declaration, p, given, &integer);
    store_integer(polytile_type_get_bytes(type), integer, value);
    return status;
}

polytile_status pti_parameter_convert_index(polytile_context *ctx,
                                            const polytile_declaration *declaration, int p,
                                            const polytile_parameter *given, int64_t *value) {
    __int128 integer = 0;
    polytile_status status = check_number(ctx, declaration, p, given);
    if (status == POLYTILE_OK)
        status = to_integer(ctx, declaration, p, given, &integer);
    if (status == POLYTILE_OK && integer > INT64_MAX) {
        char shown[PTI_NUMBER_TEXT_BYTES];
        status = pti_fail(ctx, POLYTILE_INVALID,
                          "%s: parameter %s is given %s, but subscripts use it; give at most "
                          "%" PRId64,
                          declaration->name, declaration->parameter_name[p],
                          pti_parameter_show(given, shown), INT64_MAX);
    }
    *value = status == POLYTILE_OK ? (int64_t)integer : 0;
    return status;
}
