#include "launch/cuda/runs.h"

#include <cstdio>
#include <thread>
#include <unistd.h>

/* Runs of the CUDA device, on a runtime that needs no GPU. */

namespace {

TEST(CudaRun, EqualsAPlainLoopUnderAnyLimit) {
    expect_cases_run_under_any_limit<FakeWorld>(test_seed("CudaRun.EqualsAPlainLoopUnderAnyLimit"),
                                                scaled(1500));
}

TEST(CudaRun, EqualsAPlainLoopThoughThreadsRunSeveralNeighbours) {
    expect_coarse_cases_run<FakeWorld>(test_seed("CudaRun.Coarse"), scaled(600));
}

TEST(CudaRun, RunsNeighboursInOneThreadIfATableSaysSo) {
    for (const bool is_said : {false, true}) {
        std::unique_ptr<CoarseTable> table;
        if (is_said)
            table = std::make_unique<CoarseTable>();
        FakeWorld world(1);
        Random random(1);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=64KiB)");
        Scene scene(session.ctx, FakeWorld::cases().of("jacobi[i, j]"), 50, &random);
        scene.options.plan.limit_bytes = polytile_device_get_limit(device);
        EXPECT_TRUE(runs_right(session, device, scene, scene.options, 1));
        EXPECT_EQ(world.cuda.n_coarse_launches() > 0, is_said);
        world.expect_idle();
    }
}

/** Thousands of sub-kernels, stretch by stretch; the stand-in's streams run early or late by
 * chance. */
TEST(CudaRun, PlansWithAPeriodEqualAPlainLoop) {
    const struct {
        const char *declaration;
        int64_t n, block, limit_bytes;
    } rows[] = {
        {"add[i]", 40000, 4, 192}, {"smooth[i]", 40000, 4, 256}, {"scale[i]", 40000, 4, 64}};
    const uint64_t seed = test_seed("CudaRun.PlansWithAPeriodEqualAPlainLoop");
    for (const auto &row : rows) {
        SCOPED_TRACE(row.declaration);
        FakeWorld world(seed);
        Random random(seed);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=64KiB)");
        Scene scene(session.ctx, FakeWorld::cases().of(row.declaration), row.n, &random);
        for (const int n_buffers : {1, 2, 3}) {
            polytile_launch_options options = scene.options;
            options.plan.block = &row.block;
            options.plan.limit_bytes = row.limit_bytes;
            options.plan.n_buffers = n_buffers;
            polytile_plan *plan = nullptr;
            ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                           static_cast<int>(scene.arrays.size()),
                                           scene.arrays.data(), &options, &plan),
                      POLYTILE_OK)
                << session.error();
            EXPECT_GT(plan->schedule->period.times, 0);
            polytile_plan_destroy(plan);
            EXPECT_TRUE(runs_right(session, device, scene, options, 1));
            polytile_report report;
            polytile_device_get_report(device, &report);
            EXPECT_GT(report.transfer_s, 0.02 * report.run_s) << "of one stretch alone?";
        }
        world.expect_idle();
    }
}

TEST(CudaRun, LargePageableArraysEqualAPlainLoop) {
    expect_large_arrays_run<FakeWorld>(test_seed("CudaRun.LargePageableArraysEqualAPlainLoop"));
}

/** The element of a fill is such a copy, and a small one, which CUDA takes over at once. */
bool may_fill(const Case &of) {
    return std::string(of.declaration).find("out sum") != std::string::npos ||
           std::string(of.declaration).find("out min") != std::string::npos;
}

TEST(CudaRun, CopiesFromPageableMemoryAreNeverLeftToCuda) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=16KiB,threads=2)");
    for (const Case &of : FakeWorld::cases().all()) {
        if (may_fill(of))
            continue;
        Scene scene(session.ctx, of, of.largest_n, &random);
        EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    }
    EXPECT_EQ(world.cuda.n_pageable_copies(), 0);
}

TEST(CudaRun, PinnedMemoryIsUsedAsItIs) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=16KiB)");
    Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), 3000, &random);
    for (const auto &bytes : scene.memory)
        world.cuda.host().declare(byte_range(bytes.data(), bytes.size()), cudaMemoryTypeHost);
    const int64_t n_before = world.cuda.n_calls("cudaHostRegister");
    EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    EXPECT_EQ(world.cuda.n_calls("cudaHostRegister"), n_before);
    EXPECT_EQ(world.cuda.n_pageable_copies(), 0);
}

TEST(CudaRun, PartlyPinnedMemoryGoesThroughBuffers) {
    for (const bool is_first_half : {true, false}) {
        FakeWorld world(1);
        Random random(1);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=16KiB,threads=2)");
        Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), 3000, &random);
        for (const auto &bytes : scene.memory)
            world.cuda.host().declare(
                byte_range(bytes.data() + (is_first_half ? 0 : bytes.size() / 2), bytes.size() / 2),
                cudaMemoryTypeHost);
        polytile_launch_options options = {};
        options.plan.limit_bytes = polytile_device_get_limit(device);
        EXPECT_TRUE(runs_right(session, device, scene, options, 2));
        world.expect_idle();
    }
}

TEST(CudaRun, MappedFilesAreNeverPinned) {
    const std::string path = testing::TempDir() + "polytile-" + std::to_string(getpid()) + ".npy";
    FakeWorld world(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=16KiB,threads=2)");
    polytile_kernel *kernel = nullptr;
    polytile_array *x = nullptr;
    const polytile_domain line = bounds({0}, {4999});
    const Case &scale = FakeWorld::cases().of("scale[i]");
    ASSERT_EQ(polytile_kernel_create(session.ctx, scale.declaration, scale.implementation, &kernel),
              POLYTILE_OK);
    ASSERT_EQ(polytile_npy_create(session.ctx, "x", path.c_str(), POLYTILE_F32, &line, &x),
              POLYTILE_OK)
        << session.error();
    auto *elements = static_cast<float *>(polytile_array_get_data(x));
    for (int i = 0; i < 5000; i++)
        elements[i] = static_cast<float>(i);
    ASSERT_EQ(
        polytile_run(device, kernel, &line, polytile_kernel_get_n_arrays(kernel), &x, nullptr),
        POLYTILE_OK)
        << session.error();
    for (int i = 0; i < 5000; i++)
        ASSERT_EQ(elements[i], static_cast<float>(2 * i));
    EXPECT_EQ(world.cuda.host().type_of(elements), cudaMemoryTypeUnregistered);
    EXPECT_EQ(world.cuda.n_pageable_copies(), 0);
    polytile_array_destroy(x);
    std::remove(path.c_str());
}

/** Some runs in a context of the calling thread's own. */
void run_some(uint64_t seed) {
    Random random(seed);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=16KiB,threads=2)");
    for (const Case &of : FakeWorld::cases().all()) {
        Scene scene(session.ctx, of, of.largest_n, &random);
        polytile_launch_options options = scene.options;
        options.plan.limit_bytes = polytile_device_get_limit(device);
        EXPECT_TRUE(runs_right(session, device, scene, options, 1)) << of.declaration;
    }
}

TEST(CudaRun, ThreadsWithContextsOfTheirOwnShareAGpu) {
    FakeWorld world(1);
    std::thread other(run_some, 1);
    run_some(2);
    other.join();
    world.expect_idle();
    world.expect_nothing_taken();
}

TEST(CudaRun, TwoGpusOfOneContextTakeTurns) {
    FakeCuda::Options options;
    options.n_devices = 2;
    FakeWorld world(1, options);
    Random random(1);
    {
        Session session;
        polytile_device *devices[] = {session.open("cuda:0(memory=16KiB)"),
                                      session.open("cuda:1(memory=16KiB)")};
        polytile_device *host = session.open("host");
        for (int round = 0; round < 4; round++) {
            Scene scene(session.ctx, FakeWorld::cases().of("jacobi[i, j]"), 50, &random);
            Scene same(session.ctx, scene.of_, 50, &random);
            same.memory[0] = scene.memory[0];
            same.memory[1] = scene.memory[1];
            EXPECT_EQ(session.run(devices[round % 2], scene, scene.options), POLYTILE_OK)
                << session.error();
            EXPECT_EQ(session.run(host, same, same.options), POLYTILE_OK) << session.error();
            EXPECT_TRUE(scene.memory == same.memory);
        }
        EXPECT_GT(world.cuda.memory(0).n_allocations(), 0);
        EXPECT_GT(world.cuda.memory(1).n_allocations(), 0);
        world.expect_idle();
    }
    world.expect_nothing_taken();
}

} // namespace
