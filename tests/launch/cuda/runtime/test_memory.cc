#include "launch/cuda/memory_limit.h"
#include "support/scale.h"

/* Limits, and memory that others hold, on a runtime that needs no GPU. */

namespace {

TEST(CudaMemory, TheMemoryTakenStaysWithinTheLimit) {
    const int64_t MiB = int64_t{1} << 20,
                  limits[] = {32 * MiB, 32 * MiB + 1, 35 * MiB - 1, 48 * MiB};
    for (int k = 0; k < 4; k++)
        if (!is_left_out(k, 4))
            expect_memory_within_limit<FakeWorld>(1, limits[k]);
}

/** A free GPU of which others take some after it was opened. */
class PartlyTaken {
  public:
    PartlyTaken() {
        device = session.open("cuda:0");
        others(free_bytes_later);
    }

    void others(size_t leave_bytes) {
        FakeDeviceMemory &memory = world.cuda.memory();
        memory.others_bytes = 0;
        memory.others_bytes = memory.free_bytes() - leave_bytes;
    }

    static constexpr size_t MiB = size_t{1} << 20;
    static constexpr size_t free_bytes_later = 80 * MiB;
    FakeWorld world{1};
    Random random{1};
    Session session;
    polytile_device *device = nullptr;
};

/** 96 MiB of arrays. */
constexpr int64_t large_n = 8 << 20;

/** Plans that take all the memory they may. */
polytile_launch_options greedy(int64_t limit_bytes) {
    polytile_launch_options options = {};
    options.plan.limit_bytes = limit_bytes;
    options.plan.strategy = "min-kernels";
    options.plan.n_buffers = 1;
    return options;
}

TEST(CudaMemory, PlansForTheMemoryThatOthersLeave) {
    PartlyTaken gpu;
    EXPECT_GT(polytile_device_get_limit(gpu.device), int64_t{1} << 30);
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("add[i]"), large_n, &gpu.random);
    ASSERT_EQ(gpu.session.run(gpu.device, scene, greedy(0)), POLYTILE_OK) << gpu.session.error();
    polytile_report report;
    polytile_device_get_report(gpu.device, &report);
    EXPECT_GT(report.n_kernels, 1);
    EXPECT_GT(report.peak_device_bytes, static_cast<int64_t>(PartlyTaken::free_bytes_later / 2));
    EXPECT_LE(report.peak_device_bytes, static_cast<int64_t>(PartlyTaken::free_bytes_later));
    const auto *x = reinterpret_cast<const float *>(scene.memory[0].data());
    const auto *y = reinterpret_cast<const float *>(scene.memory[1].data());
    const auto *z = reinterpret_cast<const float *>(scene.memory[2].data());
    for (int64_t i = 0; i < large_n; i++)
        ASSERT_EQ(z[i], x[i] + y[i]) << i;
}

TEST(CudaMemory, ALimitOfWhichOthersHoldAPartIsUsedAsFarAsItGoes) {
    PartlyTaken gpu;
    polytile_device *limited = gpu.session.open("cuda:0(memory=48MiB,threads=2)");
    gpu.others(40 * PartlyTaken::MiB);
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("add[i]"), large_n, &gpu.random);
    ASSERT_EQ(gpu.session.run(limited, scene, greedy(0)), POLYTILE_OK) << gpu.session.error();
    polytile_report report;
    polytile_device_get_report(limited, &report);
    EXPECT_GT(report.peak_device_bytes, static_cast<int64_t>(20 * PartlyTaken::MiB));
    EXPECT_LE(report.peak_device_bytes, static_cast<int64_t>(40 * PartlyTaken::MiB));
}

/** Every thread of odd reads half of x: 4 MiB. */
TEST(CudaMemory, WithoutEnoughFreeMemoryNothingFitsAndTheErrorSaysWhatIsFree) {
    PartlyTaken gpu;
    gpu.others(2 * PartlyTaken::MiB);
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("odd[i]"), 1 << 20, &gpu.random);
    EXPECT_EQ(gpu.session.run(gpu.device, scene, scene.options), POLYTILE_NO_FIT);
    EXPECT_TRUE(gpu.session.says("only 1.75 MiB of")) << gpu.session.error();
    EXPECT_TRUE(gpu.session.says("free at present")) << gpu.session.error();
    EXPECT_TRUE(scene.memory == scene.before);
}

TEST(CudaMemory, APlanLargerThanWhatIsFreeIsRefused) {
    PartlyTaken gpu;
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("add[i]"), large_n, &gpu.random);
    const polytile_launch_options options = greedy(200 * PartlyTaken::MiB);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   &options, &plan),
              POLYTILE_OK);
    gpu.others(10 * PartlyTaken::MiB);
    EXPECT_EQ(polytile_plan_run(plan, gpu.device, scene.kernel,
                                static_cast<int>(scene.arrays.size()), scene.arrays.data(), NULL),
              POLYTILE_NO_FIT);
    EXPECT_TRUE(gpu.session.says("10 MiB are free")) << gpu.session.error();
    EXPECT_TRUE(scene.memory == scene.before);
    gpu.others(400 * PartlyTaken::MiB);
    EXPECT_EQ(polytile_plan_run(plan, gpu.device, scene.kernel,
                                static_cast<int>(scene.arrays.size()), scene.arrays.data(), NULL),
              POLYTILE_OK)
        << gpu.session.error();
}

/** Fragmented, say: every allocation fails. */
TEST(CudaMemory, WhatCudaRefusesAlthoughItIsFreeIsCalledThat) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0");
    Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), large_n, &random);
    world.cuda.memory().is_fragmented = true;
    EXPECT_EQ(session.run(device, scene, greedy(0)), POLYTILE_NO_FIT);
    EXPECT_TRUE(session.says("cuda:0: CUDA refuses the ")) << session.error();
    EXPECT_TRUE(session.says("although 80.00 GiB are free") ||
                session.says("although 79.99 GiB are free"))
        << session.error();
    EXPECT_TRUE(session.says("the last of 4 plans for ever less")) << session.error();
    EXPECT_TRUE(scene.memory == scene.before);
}

TEST(CudaMemory, APlanLargerThanTheLimitIsRefused) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=32MiB)");
    Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), large_n, &random);
    const polytile_launch_options options = greedy(64 << 20);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   &options, &plan),
              POLYTILE_OK);
    EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_NO_FIT);
    EXPECT_TRUE(session.says("limited to 30 MiB")) << session.error();
    EXPECT_TRUE(scene.memory == scene.before);
}

} // namespace
