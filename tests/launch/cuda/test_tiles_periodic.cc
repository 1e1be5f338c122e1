#include "launch/cuda/tile_programs.h"
#include "support/scale.h"

#include <string>

/* Launches that go round periodic arrays, in tiles. */

namespace {

using namespace tile_programs;

/** Periodic along both dimensions, along rows, and along columns. */
TEST_F(CudaTiles, LaunchesOfARowGoRoundPeriodicArrays) {
    for (int k = first_round; k < round_leap; k++) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[k];
        for (int d = 0; d < 2; d++)
            if (of.kernel->is_round[d])
                of.threads.range[d] = {0, of.extents[d] - 1, 1};
        of.threads.range[1].lo = 0;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 22) << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Rows and slabs, and the log says what to do. */
TEST_F(CudaTiles, PeriodicLaunchesWhoseKernelIsNotCompiledForItRunOneByOne) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    for (int k = first_round; k < round_leap; k++)
        for (const bool streams : {false, true}) {
            Random random(1);
            Turns of = alternate(30);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 401;
            for (int d = 0; d < 2; d++) {
                const bool is_round = of.kernel->is_round[d];
                of.threads.range[d] = {is_round ? 0 : of.kernel->before[d],
                                       of.extents[d] - 1 - (is_round ? 0 : of.kernel->after[d]), 1};
            }
            Fields got = fill(of, &random), wanted = got;
            testing::internal::CaptureStderr();
            const int64_t n_tiled =
                run_on_fake(of, 1, size_t{228} << 10, 0, got,
                            streams ? small_device(of, 60) : "cuda:0", true, false);
            const std::string log = testing::internal::GetCapturedStderr();
            EXPECT_EQ(n_tiled, 0) << of.kernel->declaration;
            const bool is_in_slabs = streams && k < first_round + 2;
            if (!streams || is_in_slabs)
                EXPECT_NE(log.find("do not go round periodic arrays; compile the kernel with "
                                   "POLYTILE_PERIODIC_TILES defined as 1"),
                          std::string::npos)
                    << log;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** What is periodic by declaration alone is tiled as any other: threads wrap nowhere. */
TEST_F(CudaTiles, LaunchesThatWrapNowhereNeedNoKernelThatGoesRound) {
    Random random(1);
    Turns of = alternate(30);
    of.kernel = &tile_kernels[first_round];
    Fields got = fill(of, &random), wanted = got;
    EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0", true, false), 22);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** Tiles that store two arrays go round none. */
TEST_F(CudaTiles, LaunchesThatKeepTwoPeriodicArraysAliveRunOneByOne) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    Random random(1);
    Turns of = alternate(30);
    of.kernel = &tile_kernels[round_leap];
    of.threads.range[0] = {0, of.extents[0] - 1, 1};
    Fields got = fill(of, &random), wanted = got;
    testing::internal::CaptureStderr();
    const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(n_tiled, 0);
    EXPECT_NE(log.find("tiles that go round periodic arrays store one array, not 2"),
              std::string::npos)
        << log;
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** Slabs go both ways round a ring at once, and tiles at its ends load from both. */
TEST_F(CudaTiles, LaunchesThatStreamRoundARingRunInTilesInEachSlab) {
    for (const int k : {first_round, first_round + 1})
        for (const bool is_dropped : {false, true}) {
            Random random(1);
            Turns of = alternate(20);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 401;
            of.threads.range[0] = {0, of.extents[0] - 1, 1};
            of.threads.range[1] = {0, of.extents[1] - 1 - (k == first_round ? 0 : 1), 1};
            of.is_dropped = is_dropped;
            Fields got = fill(of, &random), wanted = got;
            EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60)), 19);
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** Periodic programs: of few rows and many, of fewer than a launch reaches, of prime numbers. */
Turns draw_periodic(Random *random) {
    Turns made = draw(random);
    made.kernel = &tile_kernels[first_round + random->one_of({0, 0, 1, 1, 2, 3})];
    for (int d = 0; d < 2; d++) {
        const bool is_round = made.kernel->is_round[d];
        const int64_t before = is_round ? 0 : made.kernel->before[d];
        const int64_t after = is_round ? 0 : made.kernel->after[d];
        if (is_round && random->chance(15))
            made.extents[d] = random->one_of({1, 2, 3, 5, 13});
        else if (random->chance(30))
            made.extents[d] = random->one_of({101, 127, 128, 129, 199, 257});
        made.threads.range[d] = {before, made.extents[d] - 1 - after, 1};
    }
    made.is_dropped = random->chance(50);
    return made;
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchRoundRings) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchRoundRings"));
    int64_t n_tiled = 0, n_tiled_in_slabs = 0, n_run = 0;
    const int64_t n_rounds = scaled(40), n_most = 8 * n_rounds;
    const auto goes_on = [&] {
        const bool has_both = n_tiled > 0 && n_tiled_in_slabs > 0;
        return n_run < n_rounds || (!has_both && n_rounds >= 20 && n_run < n_most);
    };
    for (; goes_on() && !HasFailure(); n_run++) {
        const Turns of = draw_periodic(&random);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const bool is_large = of.extents[0] >= 60 && of.extents[1] >= 60;
        const bool streams = is_large && random.chance(60);
        const bool are_several = !streams && random.chance(20);
        const std::string device = streams       ? small_device(of, random.number(50, 99))
                                   : are_several ? "cuda:0,cuda:1"
                                                 : "cuda:0";
        Fields got = fill(of, &random), wanted = got;
        const int64_t n = run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                                      shared_bytes, random.one_of({0, 0, 0, 7}), got, device);
        *(streams ? &n_tiled_in_slabs : &n_tiled) += n > 0;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << device;
    }
    EXPECT_GE(n_tiled, least_count(n_run, 0.05));
    EXPECT_GE(n_tiled_in_slabs, least_count(n_run, 0.05));
}

} // namespace
