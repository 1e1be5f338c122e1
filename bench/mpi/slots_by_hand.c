#include "slots_by_hand.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(copy, (i), (const uint8_t, A, 1), (uint8_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i);
}

const polytile_implementation *slots_copy_implementation(void) {
    return &copy_kernel;
}
