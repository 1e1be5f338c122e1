#include "launch/cuda/tile_programs.h"
#include "support/scale.h"

#include <string>

/* Launches of a queue whose arrays change roles in turn, on a GPU that runs several as one. */

namespace {

using namespace tile_programs;

/** All but the last one, and those that run before others are queued. */
TEST_F(CudaTiles, LaunchesOfARowRunInTiles) {
    for (const int n : {8, 19, 20, 31}) {
        Random random(1);
        const Turns of = alternate(n);
        Fields got = fill(of, &random), wanted = got;
        const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
        EXPECT_LE(n_tiled, n - 1);
        EXPECT_GE(n_tiled, n - 4);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Each launch with values of its own. */
TEST_F(CudaTiles, LaunchesOfARowGetTheirOwnParameters) {
    for (const bool streams : {false, true}) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[4];
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got,
                              streams ? small_device(of, 60) : "cuda:0"),
                  26);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** Arrays that all launches read lie in tiles, too. */
TEST_F(CudaTiles, LaunchesOfARowReadArraysThatNoneOfThemWrites) {
    for (const int k : {5, 6}) {
        Random random(1);
        Turns of = alternate(30);
        of.kernel = &tile_kernels[k];
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 22) << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** A limit within which the arena has room for so many fields of a program: streams take an eighth
 * of small ones. */
int64_t limit_for_fields(const Turns &of, int64_t n_fields) {
    const int64_t n_bytes = of.extents[0] * of.extents[1] * of.kernel->host->views[0].element_bytes;
    return (n_fields * ((n_bytes + 255) / 256 * 256) * 8 + 6) / 7;
}

/** All but the first ones, between which arrays still arrive, and those of the end. */
TEST_F(CudaTiles, LaunchesWhoseArraysChangeRolesRunInTwoPartsEach) {
    for (int k = first_wave; k < n_kernels; k++)
        for (const int n : {13, 30}) {
            Random random(1);
            Turns of = alternate(n);
            of.kernel = &tile_kernels[k];
            of.threads.range[1].lo = 2;
            Fields got = fill(of, &random), wanted = got;
            const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got);
            EXPECT_EQ(n_tiled % 2, 0);
            EXPECT_GE(n_tiled, n - 11) << of.kernel->declaration << n;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

/** What tiles store aside is within the limit; where it has no room they do not run. */
TEST_F(CudaTiles, WhatIsStoredAsideCountsInTheLimit) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    for (int k = first_wave; k < n_kernels; k++)
        for (const bool has_room : {false, true}) {
            Random random(1);
            Turns of = alternate(30);
            of.kernel = &tile_kernels[k];
            of.extents[0] = 120;
            of.threads.range[0].hi = 118;
            of.threads.range[1].lo = 2;
            Fields got = fill(of, &random), wanted = got;
            const std::string roles = of.kernel->roles;
            const auto n_arrays = static_cast<int64_t>(roles.size());
            const int64_t n_aside = of.kernel->n_turning() - (of.kernel->n_turning() > 2 ? 1 : 0);
            const int64_t bytes = limit_for_fields(of, n_arrays + n_aside) - (has_room ? 0 : 512);
            testing::internal::CaptureStderr();
            const int64_t n_tiled = run_on_fake(of, 1, size_t{228} << 10, 0, got,
                                                "cuda:0(memory=" + std::to_string(bytes) + "B)");
            const std::string log = testing::internal::GetCapturedStderr();
            EXPECT_EQ(n_tiled > 0, has_room) << log;
            EXPECT_EQ(log.find("aside, of which the device has") == std::string::npos, has_room)
                << log;
            run(of, "host", *of.kernel->host, 0, wanted);
            expect_equal(got, wanted);
        }
}

TEST_F(CudaTiles, LaunchesOfEachWindowRunInTwoPartsEach) {
    constexpr int n_windows = 6;
    for (const int k : {first_wave, first_wave + 1}) {
        Random random(1);
        Turns of = alternate(12 * n_windows);
        of.kernel = &tile_kernels[k];
        of.threads.range[1].lo = 2;
        for (size_t l = 11; l < of.turns.size(); l += 12)
            of.turns[l].waits = true;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 6 * n_windows);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

int count_of(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t k = text.find(part); k != std::string::npos; k = text.find(part, k + 1))
        n++;
    return n;
}

/** What is said of launches says that they are looked at: with the first windows, which find other
 * things on the device, and not with those that repeat them. */
TEST_F(CudaTiles, TilesOfAPlanThatIsKeptAreFoundOnce) {
    constexpr int n_windows = 12;
    Random random(1);
    Turns of = alternate(10 * n_windows);
    Fields got = fill(of, &random), wanted = got;
    for (size_t k = 9; k < of.turns.size(); k += 10)
        of.turns[k].waits = true;
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    testing::internal::CaptureStderr();
    EXPECT_GE(run_on_fake(of, 1, size_t{228} << 10, 0, got), 6 * n_windows);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_GE(count_of(log, "in a row, which alternate"), 1) << log;
    EXPECT_LE(count_of(log, "in a row, which alternate"), n_windows / 2) << log;
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

TEST_F(CudaTiles, RowsThatAreTooShortOrAskedApartRunOneByOne) {
    for (const int per_pass : {0, 1}) {
        Random random(1);
        const Turns of = alternate(per_pass == 0 ? 3 : 20);
        Fields got = fill(of, &random);
        EXPECT_EQ(run_on_fake(of, 1, size_t{228} << 10, per_pass, got), 0);
    }
}

TEST_F(CudaTiles, AGpuWithoutSharedMemoryRunsNone) {
    Random random(1);
    const Turns of = alternate(20);
    Fields got = fill(of, &random);
    EXPECT_EQ(run_on_fake(of, 1, size_t{4} << 10, 0, got), 0);
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunch) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunch"));
    int64_t n_tiled = 0;
    const int64_t n_rounds = scaled(24);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const Turns of = draw(&random);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, 0, got) > 0;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes;
    }
    EXPECT_GE(n_tiled, least_count(n_rounds, 0.5));
}

} // namespace
