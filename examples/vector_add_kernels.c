#ifndef EXAMPLES_ADD_H
#define EXAMPLES_ADD_H

#include <polytile/kernel.h>

#define ADD_DECLARATION "add[i]: in x[i], y[i]; out z[i]"

POLYTILE_KERNEL(add_f32, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

POLYTILE_KERNEL(add_f64, (i), (const double, x, 1), (const double, y, 1), (double, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

#endif
