#ifndef EXAMPLES_COMPARE_H
#define EXAMPLES_COMPARE_H

#include <float.h>
#include <math.h>

/** Return the difference of two elements: 0 for equal ones and for two NaNs, DBL_MAX for one NaN or
 * an infinite difference. */
static inline double difference(double a, double b) {
    if (a == b || (isnan(a) && isnan(b)))
        return 0.0;
    double distance = fabs(a - b);
    return distance <= DBL_MAX ? distance : DBL_MAX;
}

#endif
