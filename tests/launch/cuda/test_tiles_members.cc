#include "launch/cuda/tile_programs.h"
#include "support/places.h"
#include "support/scale.h"

#include <string>

/* Launches of several devices, in tiles. */

namespace {

using namespace tile_programs;

/** Members compute less of their neighbours' rows from launch to launch; what tiles do not store of
 * these they forget. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTiles) {
    for (const char *devices : {"cuda:0,cuda:1", "cuda:0,cuda:1,cuda:2"}) {
        Random random(1);
        const Turns of = make_taller(alternate(40), 10);
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, devices), 40);
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** A link of GPUs whose cache is so fast that slabs in it pay. */
polytile_link link_with_fast_cache() {
    polytile_link link = polytile_link_default;
    link.kernel_bytes_per_s = link.cache_bytes_per_s / 3;
    link.launch_latency_s = 1e-9;
    link.cache_bytes = 100000;
    return link;
}

/** Slabs in the cache would be schedules that need all that their launches compute. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTilesAlsoWhereTheCacheIsFast) {
    environment_.set("POLYTILE_CACHE", in_build("cache/fast").c_str());
    const polytile_link link = link_with_fast_cache();
    Random random(1);
    const Turns of = make_taller(alternate(40), 10);
    Fields got = fill(of, &random), wanted = got;
    EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0,cuda:1", true, true, &link),
              40);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

/** The same of launches whose arrays change roles in turn. */
TEST_F(CudaTiles, LaunchesOfMembersRunInTwoPartsEach) {
    for (const int k : {first_wave, first_wave + 1}) {
        Random random(1);
        Turns of = make_taller(alternate(40), 6);
        of.kernel = &tile_kernels[k];
        of.threads.range[1].lo = 2;
        Fields got = fill(of, &random), wanted = got;
        EXPECT_GT(run_on_fake(of, 1, size_t{228} << 10, 0, got, "cuda:0,cuda:1"), 20)
            << of.kernel->declaration;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
    }
}

/** The device's memory grows for what tiles store aside, which must not lose what was pulled. */
TEST_F(CudaTiles, MembersWhoseMemoryGrowsKeepWhatTheyPulled) {
    for (int k = first_wave; k < n_kernels; k++) {
        Random random(k);
        Turns of = alternate(60);
        of.turns[2].waits = true;
        of.kernel = &tile_kernels[k];
        of.extents[0] = 387;
        of.extents[1] = 72;
        for (int d = 0; d < 2; d++)
            of.threads.range[d] = of.kernel->is_round[d]
                                      ? polytile_range{0, of.extents[d] - 1, 1}
                                      : polytile_range{of.kernel->before[d],
                                                       of.extents[d] - 1 - of.kernel->after[d], 1};
        Fields got = fill(of, &random), wanted = got;
        run_on_fake(of, static_cast<uint64_t>(k), size_t{164} << 10, 0, got, "cuda:0,cuda:1");
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            FAIL() << describe(of);
    }
}

TEST_F(CudaTiles, GiveTheResultsOfLaunchAfterLaunchOnSeveralDevices) {
    Random random(test_seed("CudaTiles.GiveTheResultsOfLaunchAfterLaunchOnSeveralDevices"));
    int64_t n_tiled = 0, n_run = 0;
    const int64_t n_rounds = scaled(16), n_most = 8 * n_rounds;
    const auto goes_on = [&] {
        return n_run < n_rounds || (n_tiled == 0 && n_rounds >= 10 && n_run < n_most);
    };
    for (; goes_on() && !HasFailure(); n_run++) {
        const Turns of = make_taller(draw(&random), random.number(1, 12));
        const auto shared_bytes = static_cast<size_t>(random.one_of({64, 100, 164, 228})) << 10;
        const std::string devices = random.chance(50) ? "cuda:0,cuda:1" : "cuda:0,cuda:1,cuda:2";
        Fields got = fill(of, &random), wanted = got;
        n_tiled += run_on_fake(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)),
                               shared_bytes, 0, got, devices) > 0;
        run(of, "host", *of.kernel->host, 0, wanted);
        expect_equal(got, wanted);
        if (HasFailure())
            ADD_FAILURE() << describe(of) << ", shared memory " << shared_bytes << ", " << devices;
    }
    EXPECT_GE(n_tiled, least_count(n_run, 0.3));
}

/** Of so many supersteps the next one is handed out while one runs, once they are known. */
TEST_F(CudaTiles, LaunchesThatAreHandedOutAheadRunInTiles) {
    Random random(test_seed("CudaTiles.LaunchesThatAreHandedOutAheadRunInTiles"));
    const Turns of = make_taller(alternate(100), 4);
    Fields got = fill(of, &random), wanted = got;
    const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
    EXPECT_GT(run_on_fake(of, seed, size_t{228} << 10, 0, got, "cuda:0,cuda:1"), 50);
    run(of, "host", *of.kernel->host, 0, wanted);
    expect_equal(got, wanted);
}

} // namespace
