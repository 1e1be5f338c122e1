/* The kernels of cg, one body for every device. */
#include "cg_kernels.h"

#include "cg_ratio.h"
#include <polytile/kernel.h>

POLYTILE_KERNEL(cg_begin, (i), (const double, b, 1), (double, x, 1), (double, r, 1),
                (double, p, 1)) {
    PT_AT(x, i) = 0;
    PT_AT(r, i) = PT_AT(p, i) = PT_AT(b, i);
}

POLYTILE_KERNEL(cg_dot, (i), (const double, a, 1), (const double, b, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(a, i) * PT_AT(b, i));
}

POLYTILE_KERNEL(cg_step, (i), (const double, rr, 1), (const double, pq, 1), (const double, p, 1),
                (const double, q, 1), (double, x, 1), (double, r, 1)) {
    const double step = CG_RATIO(PT_AT(rr, 0), PT_AT(pq, 0));
    PT_AT(x, i) += step * PT_AT(p, i);
    PT_AT(r, i) -= step * PT_AT(q, i);
}

POLYTILE_KERNEL(cg_turn, (i), (const double, rr, 1), (const double, before, 1),
                (const double, r, 1), (double, p, 1)) {
    PT_AT(p, i) = PT_AT(r, i) + CG_RATIO(PT_AT(rr, 0), PT_AT(before, 0)) * PT_AT(p, i);
}

const polytile_implementation *cg_begin_implementation(void) {
    return &cg_begin_kernel;
}

const polytile_implementation *cg_dot_implementation(void) {
    return &cg_dot_kernel;
}

const polytile_implementation *cg_step_implementation(void) {
    return &cg_step_kernel;
}

const polytile_implementation *cg_turn_implementation(void) {
    return &cg_turn_kernel;
}
