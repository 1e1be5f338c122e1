#include "launch/cuda/sequences.h"

/* Rounds in loops on the GPU, on a runtime that needs no GPU. */

namespace {

using namespace sequences;

#if CUDART_VERSION >= 13000

TEST(CudaLoops, SurviveEveryCallThatFails) {
    expect_every_failing_call_is_survived(FakeCuda::Options(), scaled(7) == 7 ? 1 : 5);
}

TEST(CudaLoops, RunAllRoundsButTheFirstOnTheGpu) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int n_lanes : {1, 2, 4, 8})
        for (int k = 0; k < 5; k++) {
            FakeWorld world(static_cast<uint64_t>(10 * n_lanes + k));
            Sequences of(&world.cuda, "cuda:0(streams=" + std::to_string(n_lanes) + ")", 23);
            for (int run = 0; run < 3; run++) {
                ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
                of.expect_right();
            }
            EXPECT_EQ(count_streams(of.launcher), static_cast<size_t>(n_lanes));
            EXPECT_EQ(of.launcher.calls.size(), 2 * of.sub_kernels().size());
            EXPECT_EQ(world.cuda.n_looped(), 3 * of.count_rounds());
            EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), n_lanes);
            world.expect_idle();
        }
}

/** Another executable graph takes the place of one that cannot become it, and may still run. */
TEST(CudaLoops, MayHaveOtherNodesFromLaunchToLaunch) {
    FakeWorld world(11);
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    for (const bool steps_twice : {false, true, false}) {
        of.launcher.steps_twice = steps_twice;
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
    }
    EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), 3 * 4);
    EXPECT_EQ(world.cuda.n_calls("cudaGraphExecDestroy"), 2 * 4);
    world.expect_idle();
}

TEST(CudaLoops, RunWithinLittleMemory) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int64_t memory_bytes : {2100, 3000, 4000}) {
        FakeWorld world(static_cast<uint64_t>(memory_bytes));
        Sequences of(&world.cuda, "cuda:0(streams=4,memory=" + std::to_string(memory_bytes) + "B)",
                     300);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_GT(world.cuda.n_looped(), 300);
        world.expect_idle();
    }
}

TEST(CudaLoops, AreLeftToTheHostWhereCudaHasNone) {
    FakeWorld world(1, without_loops());
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    of.expect_right();
    EXPECT_EQ(world.cuda.n_looped(), 0);
    EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), 1);
    world.expect_idle();
}

TEST(CudaLoops, AreLeftToTheHostIfTheLauncherCannotBeCaptured) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    FakeWorld world(1);
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    of.launcher.waits = true;
    testing::internal::CaptureStderr();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    const std::string log = testing::internal::GetCapturedStderr();
    const size_t at = log.find("the host enqueues each round of its launcher on cuda:0");
    EXPECT_NE(at, std::string::npos) << log;
    EXPECT_EQ(log.find("the host enqueues each round", at + 1), std::string::npos) << log;
    of.expect_right();
    EXPECT_EQ(world.cuda.n_looped(), 0);
    world.expect_idle();
}

/** Rounds without end, of which one cancels the run. */
struct Endless {
    static int enqueue(const polytile_sub_kernel *launch) {
        const auto *of = static_cast<const Endless *>(launch->user);
        EXPECT_LT(launch->repetition->round, 2) << of->n_rounds;
        launch->repetition->condition = element(launch->views[0], launch->threads->range[0].lo);
        return launch_over(&round_symbol, *launch) == cudaSuccess ? 0 : 1;
    }
    static void run(const polytile_domain *threads, const polytile_view *views, void *user) {
        auto *of = static_cast<Endless *>(user);
        *element(views[0], threads->range[0].lo) = 1;
        if (++of->n_rounds == 1000)
            polytile_device_cancel(of->device);
    }

    polytile_device *device = nullptr;
    int n_rounds = 0;
};

TEST(CudaLoops, EndWhenTheirRunIsCancelled) {
    for (const int64_t n : {1, 40}) {
        FakeWorld world(static_cast<uint64_t>(n));
        Endless endless;
        std::vector<int32_t> memory(static_cast<size_t>(n));
        polytile_implementation body = {}, launcher = {};
        polytile_context *ctx = nullptr;
        polytile_kernel *kernel = nullptr;
        polytile_array *x = nullptr;
        body.n_indices = body.n_views = 1;
        body.views = shapes;
        body.host = Endless::run;
        body.user = launcher.user = &endless;
        world.cuda.add_kernel(&round_symbol, body);
        launcher.cuda_launcher = Endless::enqueue;
        launcher.cuda_launcher_overlaps = true;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "cuda:0(streams=4,memory=1MiB)", &endless.device),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "endless[i]: inout x[i]", &launcher, &kernel),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, &n, memory.data(), &x),
                  POLYTILE_OK);
        const polytile_domain threads = polytile_domain_from_extents(1, &n);
        EXPECT_EQ(polytile_run(endless.device, kernel, &threads, 1, &x, nullptr),
                  POLYTILE_CANCELLED)
            << polytile_last_error(ctx);
        EXPECT_GE(endless.n_rounds, 1000);
        EXPECT_GT(world.cuda.n_looped(), 900);
        polytile_context_destroy(ctx);
        world.expect_idle();
        world.expect_nothing_taken();
    }
}

TEST(CudaLoops, OfAKernelThatFaultsEndWithTheGpu) {
    for (const int64_t nth : {2, 5, 30}) {
        FakeWorld world(static_cast<uint64_t>(nth));
        {
            Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
            world.cuda.let_kernel_fault(nth);
            EXPECT_EQ(of.run(), POLYTILE_DEVICE);
            EXPECT_NE(of.first_error.find("faulted"), std::string::npos) << of.first_error;
        }
        EXPECT_EQ(world.cuda.violations(), "");
        world.expect_nothing_taken();
    }
}

#endif

} // namespace
