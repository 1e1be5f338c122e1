#include "launch/cuda/tile_programs.h"
#include "support/scale.h"

#include <string>

/* Launches that stream, in tiles of each slab. */

namespace {

using namespace tile_programs;

/** All launches of a chain that streams, if nobody needs the array that the last one reads; else
 * all but that. */
TEST_F(CudaTiles, LaunchesThatStreamRunInTilesInEachSlab) {
    for (const bool is_dropped : {false, true}) {
        Random random(1);
        Turns of = alternate(20);
        of.is_dropped = is_dropped;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60)), 19);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** So do those whose two or three arrays change roles in turn, of which two are alive: groups of
 * whole rounds, an even number of them. Arrays that no launch writes are there, too. */
TEST_F(CudaTiles, LaunchesThatStreamRunInTilesWhereTwoArraysAreAlive) {
    const struct {
        int kernel;
        int64_t percent; /* of two fields */
    } cases[] = {{first_wave, 90}, {first_wave + 1, 90}, {first_wave + 2, 140}, {a_field, 90}};
    for (const auto &c : cases) {
        Random random(1);
        Turns of = alternate(40);
        of.kernel = &tile_kernels[c.kernel];
        of.threads.range[1] = {2, 397, 1};
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, c.percent)), 30)
            << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** A body that takes any strides has no tiles, which is known only when its launches run. */
TEST_F(CudaTiles, LaunchesThatStreamRunOneByOneWhereTheDeviceRunsNoTiles) {
    Random random(1);
    Turns of = alternate(20);
    Fields got = fill(of, &random), wanted = got;
    EXPECT_EQ(run_on_fake(of, 1, size_t{228} << 10, 0, got, small_device(of, 60), false), 0);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchInSlabs) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchInSlabs"));
    int64_t n_tiled = 0, n_run = 0;
    const int64_t n_rounds = scaled(16), n_most = 8 * n_rounds;
    const auto goes_on = [&] {
        return n_run < n_rounds || (n_tiled == 0 && n_rounds >= 10 && n_run < n_most);
    };
    for (; goes_on() && !HasFailure(); n_run++) {
        Turns of = draw(&random);
        of.is_dropped = random.chance(60);
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const bool is_ring = of.kernel->is_round[0] || of.kernel->is_round[1];
        const std::string device = small_device(of, random.number(is_ring ? 60 : 20, 99));
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, random.one_of({0, 0, 0, 7, 10}), got, device) > 0;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << device;
    }
    EXPECT_GE(n_tiled, least_count(n_run, 0.2));
}

} // namespace
