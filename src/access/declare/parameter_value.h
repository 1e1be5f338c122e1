#ifndef POLYTILE_ACCESS_DECLARE_PARAMETER_VALUE_H
#define POLYTILE_ACCESS_DECLARE_PARAMETER_VALUE_H

#include "access/declare/parameter.h"

#include <math.h>
#include <string.h>

/* One value of one parameter: from what a launch gives to what its type has. */

enum { PTI_NUMBER_TEXT_BYTES = 40 };

/** Write a given value for people into a buffer, and return it. */
char *pti_parameter_show(const polytile_parameter *given, char buffer[PTI_NUMBER_TEXT_BYTES]);

/** Copy a value that a type holds without a check or another rounding than C's; false: it needs
 * pti_parameter_convert(). */
static inline bool pti_parameter_copy(polytile_type type, const polytile_parameter *given,
                                      pti_value *value) {
    const bool is_real = given->number == POLYTILE_FLOAT_NUMBER;
    if (type == POLYTILE_F32 && is_real) {
        const float single = (float)given->real;
        *value = (pti_value){0};
        memcpy(value->bytes, &single, sizeof single);
        return isfinite(single);
    }
    if (type == POLYTILE_F64 && is_real) {
        memcpy(value->bytes, &given->real, sizeof given->real);
        return true;
    }
    memcpy(value->bytes, &given->value, sizeof given->value);
    return type == POLYTILE_I64 && given->number == POLYTILE_SIGNED_NUMBER;
}

/** Convert a given value to the type of parameter p. Errors: INVALID (the type cannot hold it). */
polytile_status pti_parameter_convert(polytile_context *ctx,
                                      const polytile_declaration *declaration, int p,
                                      const polytile_parameter *given, pti_value *value);

/** Convert a given value of parameter p, of an integer type, for sections. Errors: INVALID (as
 * above, or it exceeds int64). */
polytile_status pti_parameter_convert_index(polytile_context *ctx,
                                            const polytile_declaration *declaration, int p,
                                            const polytile_parameter *given, int64_t *value);

#endif
