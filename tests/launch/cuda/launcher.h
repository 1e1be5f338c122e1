#ifndef POLYTILE_TESTS_LAUNCH_CUDA_LAUNCHER_H
#define POLYTILE_TESTS_LAUNCH_CUDA_LAUNCHER_H

#include <polytile/implementation.h>

extern "C" {
#include "launch/cuda/runtime/api.h"
}

#include <vector>

/* What launchers of tests do. */

/** Enqueue a CUDA kernel over a box of up to three indices. */
inline cudaError_t launch_over(const void *symbol, const polytile_sub_kernel &launch) {
    const polytile_domain &threads = *launch.threads;
    unsigned extents[3] = {1, 1, 1};
    for (int d = 0; d < threads.n_dims; d++)
        extents[threads.n_dims - 1 - d] =
            static_cast<unsigned>(threads.range[d].hi - threads.range[d].lo + 1);
    const dim3 block(32, threads.n_dims > 1 ? 4 : 1, 1);
    const dim3 grid((extents[0] + block.x - 1) / block.x, (extents[1] + block.y - 1) / block.y,
                    extents[2]);
    std::vector<void *> arguments = {const_cast<polytile_domain *>(&threads)};
    for (int k = 0; k < launch.n_views; k++)
        arguments.push_back(const_cast<polytile_view *>(&launch.views[k]));
    return pti_cuda_current_api->cudaLaunchKernel(symbol, grid, block, arguments.data(), 0,
                                                  static_cast<cudaStream_t>(launch.stream));
}

#endif
