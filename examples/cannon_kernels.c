/* The slots of cannon, one body for every device: each multiplies the blocks that it has, then
 * blocks of A go left and blocks of B go up. */
#include "cannon_kernels.h"

#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(cannon, (s), (int32_t, q), (float, A, 3), (float, B, 3), (float, C, 3)) {
    const int64_t m = PT_EXTENT(A, 1), n_bytes = m * m * (int64_t)sizeof(float);
    const int row = pt_rank() / q, column = pt_rank() % q;
    const int left = row * q + (column + q - 1) % q, right = row * q + (column + 1) % q;
    const int up = (row + q - 1) % q * q + column, down = (row + 1) % q * q + column;
    for (int step = 0; step < q; ++step) {
        for (int64_t i = 0; i < m; ++i)
            for (int64_t k = 0; k < m; ++k)
                for (int64_t j = PT_LANE; j < m; j += PT_LANES)
                    PT_AT(C, s, i, j) += PT_AT(A, s, i, k) * PT_AT(B, s, k, j);
        if (pt_sendrecv_replace(&PT_AT(A, s, 0, 0), n_bytes, left, right, 0, 0) ||
            pt_sendrecv_replace(&PT_AT(B, s, 0, 0), n_bytes, up, down, 1, 0))
            return;
    }
}

const polytile_implementation *cannon_implementation(void) {
    return &cannon_kernel;
}
