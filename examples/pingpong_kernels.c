/* The slots of pingpong, one body for every device: slot 0 sends its message, slot 1 sends it
 * back. */
#include "pingpong_kernels.h"

#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(pingpong, (s), (int64_t, rounds), (const uint8_t, A, 2), (uint8_t, B, 2)) {
    const int64_t n_bytes = PT_EXTENT(A, 1) - 1;
    for (int64_t round = 0; round < rounds; ++round) {
        if (pt_rank() == 0 &&
            (pt_send(&PT_AT(A, s, 0), n_bytes, 1, 0) || pt_recv(&PT_AT(B, s, 0), n_bytes, 1, 0, 0)))
            return;
        if (pt_rank() == 1 &&
            (pt_recv(&PT_AT(B, s, 0), n_bytes, 0, 0, 0) || pt_send(&PT_AT(B, s, 0), n_bytes, 0, 0)))
            return;
    }
}

const polytile_implementation *pingpong_implementation(void) {
    return &pingpong_kernel;
}
