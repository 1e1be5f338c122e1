#include "launch/access_check/tolerance.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

static double read_f16(const unsigned char *element) {
    uint16_t value;
    memcpy(&value, element, sizeof value);
    return (double)pti_half_to_float(value);
}

static double read_f32(const unsigned char *element) {
    float value;
    memcpy(&value, element, sizeof value);
    return (double)value;
}

static double read_f64(const unsigned char *element) {
    double value;
    memcpy(&value, element, sizeof value);
    return value;
}

/** Types in which combining rounds, and how far results may be apart: about half the digits. */
static const struct {
    polytile_type type;
    double (*read)(const unsigned char *element);
    double share;
} rounded[] = {{POLYTILE_F16, read_f16, 1.0 / 32},
               {POLYTILE_F32, read_f32, 1e-4},
               {POLYTILE_F64, read_f64, 1e-8}};

bool pti_tolerance_is_near(polytile_role role, polytile_type type, const unsigned char *one,
                           const unsigned char *other) {
    for (size_t k = 0; k < sizeof rounded / sizeof *rounded; k++) {
        if (rounded[k].type != type || (role != POLYTILE_SUM && role != POLYTILE_PROD))
            continue;
        double a = rounded[k].read(one), b = rounded[k].read(other);
        return fabs(a - b) <= rounded[k].share * fmax(fabs(a), fabs(b));
    }
    return false;
}
