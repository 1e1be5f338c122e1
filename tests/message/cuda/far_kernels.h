#ifndef POLYTILE_TESTS_MESSAGE_CUDA_FAR_KERNELS_H
#define POLYTILE_TESTS_MESSAGE_CUDA_FAR_KERNELS_H

#include "message/near_kernels.h"
#include "support/fake_cuda.h"

/* Team kernels whose slots are on a GPU that is not there, or on the host. */

/** An implementation whose CUDA kernel is for FakeCuda. */
struct FarKernel {
    FarKernel(const polytile_implementation &far, const polytile_implementation &near);

    polytile_team team;
    polytile_implementation implementation;
    const polytile_implementation &on_gpu; /* what FakeCuda runs */
};

/** random_messages.h's. */
extern const FarKernel far_interpret;
/** near_kernels.h's. */
extern const FarKernel far_err, far_echo, far_sum, far_twin, far_meet, far_place;

/** GPUs that are not there, and know these kernels. */
class FarWorld {
  public:
    explicit FarWorld(uint64_t seed, int n_devices = 1, bool are_linked = true, int upload_us = 0);

    FakeCuda cuda;
};

#endif
