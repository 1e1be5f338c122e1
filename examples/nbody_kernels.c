/* The slots of nbody, one body for every device: each moves its share of the bodies, and tells all
 * others. */
#include "nbody_kernels.h"

#include <polytile/message.h>

POLYTILE_TEAM_KERNEL(nbody, (s), (int64_t, steps), (float, body, 3), (float, velocity, 3)) {
    const int64_t n = PT_EXTENT(body, 1), ranks = pt_ranks();
    const int64_t first = n * pt_rank() / ranks, end = n * (pt_rank() + 1) / ranks;
    for (int64_t step = 0; step < steps; ++step) {
        for (int64_t k = first + PT_LANE; k < end; k += PT_LANES)
            nbody_accelerate(&PT_AT(velocity, s, k, 0), &PT_AT(body, s, k, 0),
                             &PT_AT(body, s, 0, 0), n);
        PT_TEAM_SYNC;
        for (int64_t k = first + PT_LANE; k < end; k += PT_LANES)
            for (int d = NBODY_X; d <= NBODY_Z; ++d)
                PT_AT(body, s, k, d) += NBODY_STEP * PT_AT(velocity, s, k, d);
        for (int64_t rank = 0; rank < ranks; ++rank) {
            const int64_t from = n * rank / ranks, n_bodies = n * (rank + 1) / ranks - from;
            const int64_t n_bytes = n_bodies * NBODY_FIELDS * (int64_t)sizeof(float);
            if (n_bodies > 0 && pt_bcast(&PT_AT(body, s, from, 0), n_bytes, (int)rank))
                return;
        }
    }
}

const polytile_implementation *nbody_implementation(void) {
    return &nbody_kernel;
}
