#include "cuda/on_device.h"

#include <cstdio>
#include <set>
#include <thread>
#include <unistd.h>

/* Runs of the CUDA device, on a runtime that needs no GPU. */

namespace {

TEST(CudaRun, EqualsAPlainLoopUnderAnyLimit) {
    expect_cases_run_under_any_limit<FakeWorld>(test_seed("CudaRun.EqualsAPlainLoopUnderAnyLimit"),
                                                scaled(1500));
}

TEST(CudaRun, LargePageableArraysEqualAPlainLoop) {
    expect_large_arrays_run<FakeWorld>(test_seed("CudaRun.LargePageableArraysEqualAPlainLoop"));
}

TEST(CudaRun, TheMemoryTakenStaysWithinTheLimit) {
    for (const int64_t memory_bytes :
         {int64_t{32} << 20, (int64_t{32} << 20) + 1, (int64_t{35} << 20) - 1, int64_t{48} << 20})
        expect_memory_within_limit<FakeWorld>(1, memory_bytes);
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
        polytile_plan_options options = {};
        options.limit_bytes = polytile_device_get_limit(device);
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
    ASSERT_EQ(polytile_run(device, kernel, &line, &x, nullptr), POLYTILE_OK) << session.error();
    for (int i = 0; i < 5000; i++)
        ASSERT_EQ(elements[i], static_cast<float>(2 * i));
    EXPECT_EQ(world.cuda.host().type_of(elements), cudaMemoryTypeUnregistered);
    EXPECT_EQ(world.cuda.n_pageable_copies(), 0);
    std::remove(path.c_str());
}

/** Some runs in a context of the calling thread's own. */
void run_some(uint64_t seed) {
    Random random(seed);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=16KiB,threads=2)");
    for (const Case &of : FakeWorld::cases().all()) {
        Scene scene(session.ctx, of, of.largest_n, &random);
        polytile_plan_options options = scene.options;
        options.limit_bytes = polytile_device_get_limit(device);
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
polytile_plan_options greedy(int64_t limit_bytes) {
    polytile_plan_options options = {};
    options.limit_bytes = limit_bytes;
    options.strategy = "min-kernels";
    options.n_buffers = 1;
    return options;
}

TEST(CudaRun, PlansForTheMemoryThatOthersLeave) {
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

TEST(CudaRun, ALimitOfWhichOthersHoldAPartIsUsedAsFarAsItGoes) {
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
TEST(CudaRun, WithoutEnoughFreeMemoryNothingFitsAndTheErrorSaysWhatIsFree) {
    PartlyTaken gpu;
    gpu.others(2 * PartlyTaken::MiB);
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("odd[i]"), 1 << 20, &gpu.random);
    EXPECT_EQ(gpu.session.run(gpu.device, scene, scene.options), POLYTILE_NO_FIT);
    EXPECT_TRUE(gpu.session.says("only 1.75 MiB of")) << gpu.session.error();
    EXPECT_TRUE(gpu.session.says("free at present")) << gpu.session.error();
    EXPECT_TRUE(scene.memory == scene.before);
}

TEST(CudaRun, APlanLargerThanWhatIsFreeIsRefused) {
    PartlyTaken gpu;
    Scene scene(gpu.session.ctx, FakeWorld::cases().of("add[i]"), large_n, &gpu.random);
    const polytile_plan_options options = greedy(200 * PartlyTaken::MiB);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(
        polytile_plan_create(scene.kernel, &scene.domain, scene.arrays.data(), &options, &plan),
        POLYTILE_OK);
    gpu.others(10 * PartlyTaken::MiB);
    EXPECT_EQ(polytile_plan_run(plan, gpu.device, scene.kernel, scene.arrays.data()),
              POLYTILE_NO_FIT);
    EXPECT_TRUE(gpu.session.says("10 MiB are free")) << gpu.session.error();
    EXPECT_TRUE(scene.memory == scene.before);
    gpu.others(400 * PartlyTaken::MiB);
    EXPECT_EQ(polytile_plan_run(plan, gpu.device, scene.kernel, scene.arrays.data()), POLYTILE_OK)
        << gpu.session.error();
}

TEST(CudaRun, APlanLargerThanTheLimitIsRefused) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=32MiB)");
    Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), large_n, &random);
    const polytile_plan_options options = greedy(64 << 20);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(
        polytile_plan_create(scene.kernel, &scene.domain, scene.arrays.data(), &options, &plan),
        POLYTILE_OK);
    EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, scene.arrays.data()), POLYTILE_NO_FIT);
    EXPECT_TRUE(session.says("limited to 30 MiB")) << session.error();
    EXPECT_TRUE(scene.memory == scene.before);
}

/** What a launcher of gemm saw: the boxes of C, and whether each was said to be fresh. */
struct GemmLauncher {
    const void *symbol;
    int fails_at;
    int n_calls;
    int n_first;
    cudaStream_t stream;
    std::set<std::pair<int64_t, int64_t>> begun; /* first i and j of boxes of C */
    bool says_first_rightly;
};

int launch_gemm(const polytile_launch *launch) {
    auto *of = static_cast<GemmLauncher *>(launch->user);
    const polytile_domain &threads = *launch->threads;
    EXPECT_EQ(threads.n_dims, 3);
    EXPECT_EQ(launch->n_views, 3);
    EXPECT_TRUE(of->stream == nullptr || of->stream == launch->stream);
    of->stream = static_cast<cudaStream_t>(launch->stream);
    const bool is_new = of->begun.insert({threads.range[0].lo, threads.range[1].lo}).second;
    of->says_first_rightly = of->says_first_rightly && launch->is_first == is_new;
    of->n_first += launch->is_first;
    if (++of->n_calls == of->fails_at)
        return 42;
    return launch_over(of->symbol, *launch) == cudaSuccess ? 0 : 1;
}

/** A gemm whose accumulators are fresh, with a launcher that looks. */
struct GemmScene {
    explicit GemmScene(int fails_at) {
        const Case &gemm =
            FakeWorld::cases().of("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]");
        launcher = {gemm.implementation->cuda, fails_at, 0, 0, nullptr, {}, true};
        implementation = *gemm.implementation;
        implementation.cuda = nullptr;
        implementation.cuda_launcher = launch_gemm;
        implementation.user = &launcher;
        of = gemm;
        of.implementation = &implementation;
        device = session.open("cuda:0(memory=600)");
        scene = std::make_unique<Scene>(session.ctx, of, 24, &random);
        scene->options.strategy = "min-traffic";
    }

    FakeWorld world{1};
    Random random{1};
    GemmLauncher launcher;
    polytile_implementation implementation;
    Case of;
    Session session;
    polytile_device *device;
    std::unique_ptr<Scene> scene;
};

TEST(CudaRun, LaunchersGetTheirBoxViewsAndStreamAndKnowWhatIsFresh) {
    GemmScene gemm(0);
    ASSERT_EQ(gemm.session.run(gemm.device, *gemm.scene, gemm.scene->options), POLYTILE_OK)
        << gemm.session.error();
    EXPECT_NE(gemm.launcher.stream, nullptr);
    EXPECT_TRUE(gemm.launcher.says_first_rightly);
    EXPECT_GT(gemm.launcher.n_first, 1);
    EXPECT_GT(gemm.launcher.n_calls, gemm.launcher.n_first);
    const auto *A = reinterpret_cast<const float *>(gemm.scene->memory[0].data());
    const auto *B = reinterpret_cast<const float *>(gemm.scene->memory[1].data());
    const auto *C = reinterpret_cast<const float *>(gemm.scene->memory[2].data());
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j < 24; j++) {
            float sum = 0;
            for (int k = 0; k < 24; k++)
                sum += A[24 * i + k] * B[24 * k + j];
            ASSERT_EQ(C[24 * i + j], sum) << i << ", " << j;
        }
    }
}

TEST(CudaRun, ALaunchersFailureIsNamed) {
    GemmScene gemm(3);
    EXPECT_EQ(gemm.session.run(gemm.device, *gemm.scene, gemm.scene->options), POLYTILE_DEVICE);
    EXPECT_TRUE(gemm.session.says("42")) << gemm.session.error();
    EXPECT_EQ(gemm.launcher.n_calls, 3);
    gemm.world.expect_idle();
}

} // namespace
