#ifndef POLYTILE_TESTS_LAUNCH_CUDA_MEMORY_LIMIT_H
#define POLYTILE_TESTS_LAUNCH_CUDA_MEMORY_LIMIT_H

#include "launch/cuda/launcher.h"
#include "launch/cuda/session.h"

extern "C" {
#include "launch/cuda/runtime/cuda.h"
}

/* That the memory taken stays within the limit, on a GPU and on the runtime that needs none. */

/** What a launcher of add was told, and the least device memory that it found free. */
struct AddLauncher {
    const void *symbol;
    size_t least_free_bytes;
    int64_t n_calls;
};

inline int launch_and_look_at_memory(const polytile_sub_kernel *launch) {
    auto *of = static_cast<AddLauncher *>(launch->user);
    size_t free_bytes = 0, total_bytes = 0;
    of->n_calls++;
    if (pti_cuda_current_api->cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
        return 1;
    of->least_free_bytes = std::min(of->least_free_bytes, free_bytes);
    return launch_over(of->symbol, *launch) == cudaSuccess ? 0 : 2;
}

/** Run add with its launcher: free device memory falls by no more than memory= from before the
 * device is opened. Returns whether the run made the ring, whose memory is the host's. */
inline bool stays_within_limit(const Case &with_launcher, AddLauncher *add, int64_t memory_bytes,
                               int n_threads, Random *random) {
    size_t before_bytes = 0, total_bytes = 0;
    *add = {add->symbol, SIZE_MAX, 0};
    EXPECT_EQ(pti_cuda_current_api->cudaMemGetInfo(&before_bytes, &total_bytes), cudaSuccess);
    Session session;
    Scene scene(session.ctx, with_launcher, memory_bytes / 8, random);
    polytile_device *device = session.open("cuda:0(memory=" + std::to_string(memory_bytes) +
                                           "B,threads=" + std::to_string(n_threads) + ")");
    EXPECT_LE(polytile_device_get_limit(device), memory_bytes);
    EXPECT_GE(polytile_device_get_limit(device), memory_bytes / 4 * 3);
    EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    EXPECT_GT(add->n_calls, 1);
    EXPECT_LE(before_bytes - add->least_free_bytes, static_cast<size_t>(memory_bytes));
    return pti_cuda_of(device)->staging != nullptr;
}

/** With arrays that are pinned, as one thread makes them, and with the ring, as many do. What CUDA
 * takes for its context and a kernel's code is taken before, so it is the same kernel. */
template <class World> void expect_memory_within_limit(uint64_t seed, int64_t memory_bytes) {
    World world(seed);
    Random random(seed);
    const Case &of = World::cases().of("add[i]");
    polytile_implementation implementation = *of.implementation;
    const bool has_two = implementation.cuda_contiguous != nullptr;
    AddLauncher add = {has_two ? implementation.cuda_contiguous : implementation.cuda, SIZE_MAX, 0};
    implementation.cuda_launcher = launch_and_look_at_memory;
    implementation.user = &add;
    Case with_launcher = of;
    with_launcher.implementation = &implementation;
    {
        Session warm;
        Scene scene(warm.ctx, of, 1000, &random);
        EXPECT_EQ(warm.run(warm.open("cuda:0(memory=1MiB)"), scene, scene.options), POLYTILE_OK)
            << warm.error();
    }
    bool has_ring = false;
    for (const int n_threads : {1, 16})
        has_ring |= stays_within_limit(with_launcher, &add, memory_bytes, n_threads, &random);
    EXPECT_TRUE(has_ring);
    world.expect_nothing_taken();
}

#endif
