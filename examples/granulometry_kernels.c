/* The kernels of granulometry, one body for every device. */
#include "granulometry_kernels.h"

#include <polytile/kernel.h>

PT_FUNCTION uint8_t least(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

PT_FUNCTION uint8_t most(uint8_t a, uint8_t b) {
    return a > b ? a : b;
}

/** The index before one, or itself at the border. */
PT_FUNCTION int64_t before(int64_t i) {
    return i > 0 ? i - 1 : i;
}

/** The index after one, likewise. */
PT_FUNCTION int64_t after(int64_t i, int64_t n) {
    return i + 1 < n ? i + 1 : i;
}

/* What an index and its neighbours come to: three elements, nine, all of them. Elements at the
 * border stand in for those outside, since which element counts twice makes no difference. */
#define OF_THREE(choose, i, j)                                                                     \
    choose(choose(PT_AT(A, i, j, before(k)), PT_AT(A, i, j, k)), PT_AT(A, i, j, after(k, nk)))
#define OF_NINE(choose, i)                                                                         \
    choose(choose(OF_THREE(choose, i, before(j)), OF_THREE(choose, i, j)),                         \
           OF_THREE(choose, i, after(j, nj)))
#define OF_ALL(choose)                                                                             \
    choose(choose(OF_NINE(choose, before(i)), OF_NINE(choose, i)), OF_NINE(choose, after(i, ni)))

POLYTILE_KERNEL(erode, (i, j, k), (int64_t, ni), (int64_t, nj), (int64_t, nk),
                (const uint8_t, A, 3), (uint8_t, B, 3)) {
    PT_AT(B, i, j, k) = OF_ALL(least);
}

POLYTILE_KERNEL(dilate, (i, j, k), (int64_t, ni), (int64_t, nj), (int64_t, nk),
                (const uint8_t, A, 3), (uint8_t, B, 3)) {
    PT_AT(B, i, j, k) = OF_ALL(most);
}

POLYTILE_KERNEL(count, (i, j, k), (const uint8_t, A, 3), (int64_t, c, 1)) {
    PT_SUM(PT_AT(c, 0), (int64_t)(PT_AT(A, i, j, k) > 0));
}

const polytile_implementation *erode_implementation(void) {
    return &erode_kernel;
}

const polytile_implementation *dilate_implementation(void) {
    return &dilate_kernel;
}

const polytile_implementation *count_implementation(void) {
    return &count_kernel;
}
