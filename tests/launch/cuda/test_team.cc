#include "launch/cuda/programs.h"
#include "queue/small_program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

/* Queues over several devices with GPUs among them, on a runtime that needs none. */

namespace {

/** A GPU of so many bytes, too few for all arrays of a program, or plenty. */
std::string draw_gpu(int number, Random *random) {
    const int64_t memory_bytes = random->one_of({4500, 6 << 10, 9 << 10, 1 << 20});
    return "cuda:" + std::to_string(number) + "(memory=" + std::to_string(memory_bytes) + "B)";
}

/** Launches that one random program ran; the seed is the streams' too. */
int64_t run_program(const std::string &devices, const std::string &layout, uint64_t seed) {
    int64_t n_launched = 0;
    FakeCuda::Options machine;
    machine.n_devices = 2;
    FakeCuda cuda(seed, machine);
    add_program_kernels(cuda);
    {
        Random random(seed);
        Program::Options options;
        options.n = random.one_of({5, 16, 24});
        options.n_steps = static_cast<int>(random.one_of({30, 60}));
        options.has_internal = random.chance(30);
        options.implementations = &fake_program_kernels();
        options.create_queue = [&](polytile_context *ctx, const char *text,
                                   polytile_queue **queue) {
            polytile_share_options share = {};
            share.layout = layout.c_str();
            return polytile_queue_create_shared(ctx, text, &share, queue);
        };
        Program program(devices, options, &random);
        program.run();
        n_launched = program.n_launched();
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.violations(), "");
    }
    EXPECT_EQ(cuda.leaks(), "");
    if (testing::Test::HasFailure())
        ADD_FAILURE() << devices << " " << layout << " seed " << seed;
    return n_launched;
}

class CudaTeam : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Layouts, CudaTeam,
                         testing::Values("block", "weighted(5,2)", "weighted(0,1)", "pool",
                                         "weighted"));

TEST_P(CudaTeam, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    environment.set("POLYTILE_CACHE", "off");
    Random random(test_seed("CudaTeam.ResultsAreThoseOfRunningInOrder"));
    const int64_t n_rounds = scaled(10);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const std::string devices =
            draw_gpu(0, &random) + "," +
            (random.chance(60) ? draw_gpu(1, &random)
                               : std::string(random.chance(50) ? "host" : "host(memory=6KiB)"));
        n_run += run_program(devices, GetParam(),
                             static_cast<uint64_t>(random.number(0, int64_t{1} << 62))) > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

/** Small arrays, which GPUs seldom share evenly, or at all. */
int64_t run_small_program(const std::string &devices, const std::string &layout, uint64_t seed) {
    int64_t n_launched = 0;
    FakeCuda::Options machine;
    machine.n_devices = 2;
    FakeCuda cuda(seed, machine);
    {
        Random random(seed);
        const int64_t launches_per_exchange = random.one_of({0, 0, 1, 3});
        TwinPlace place;
        place.create_queue = [&](polytile_context *ctx, const char *text, polytile_queue **queue) {
            polytile_share_options share = {};
            share.layout = layout.c_str();
            share.launches_per_exchange = launches_per_exchange;
            return polytile_queue_create_shared(ctx, text, &share, queue);
        };
        place.prepare = [&](polytile_implementation *implementation) {
            implementation->cuda = implementation->user;
            cuda.add_kernel(implementation->cuda, *implementation);
        };
        SmallProgram program(&random);
        n_launched = program.run(devices, place);
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.violations(), "");
    }
    EXPECT_EQ(cuda.leaks(), "");
    if (testing::Test::HasFailure())
        ADD_FAILURE() << devices << " " << layout << " seed " << seed;
    return n_launched;
}

TEST_P(CudaTeam, SmallArraysAreAsAfterRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    environment.set("POLYTILE_CACHE", "off");
    Random random(test_seed("CudaTeam.SmallArraysAreAsAfterRunningInOrder"));
    const int64_t n_rounds = scaled(8);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const std::string memory = random.chance(50) ? "32KiB" : "1MiB";
        const std::string second = random.chance(70) ? "cuda:1" : "host";
        n_run += run_small_program("cuda:0(memory=1MiB)," + second + "(memory=" + memory + ")",
                                   GetParam(),
                                   static_cast<uint64_t>(random.number(0, int64_t{1} << 62))) > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

/** Threads at the border of two GPUs are run by both, over the same memory of what they update:
 * neither may find there what the other one made of it. */
TEST(CudaTeamMeets, WhatTwoGpusUpdateGoesHomeWhenBothAreDone) {
    Environment environment;
    environment.set("POLYTILE_CACHE", "off");
    FakeCuda::Options machine;
    machine.n_devices = 2;
    for (uint64_t seed = 0; seed < 20 && !testing::Test::HasFailure(); seed++) {
        FakeCuda cuda(seed, machine);
        Random random(seed);
        TwinPlace place;
        place.prepare = [&](polytile_implementation *implementation) {
            implementation->cuda = implementation->user;
            cuda.add_kernel(implementation->cuda, *implementation);
        };
        Twin twin("cuda:0(memory=1MiB),cuda:1(memory=1MiB)", &random, place);
        const int updated = twin.add_field({1, 19}, 4), sums = twin.add_field({20}, 4);
        const int kernel = twin.add_kernel(
            1, {{POLYTILE_INOUT, updated, {{{GenericWindow::fixed, 0, 0}, {0, 0, 0}}}},
                {POLYTILE_SUM, sums, {{{0, 0, 1}}}}});
        EXPECT_EQ(twin.launch(kernel), POLYTILE_OK) << twin.error();
        twin.finish();
    }
}

} // namespace
