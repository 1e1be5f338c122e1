#ifndef POLYTILE_TESTS_LAUNCH_CUDA_RUNS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_RUNS_H

#include "launch/cuda/session.h"
#include "support/environment.h"
#include "support/scale.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

/* Cases that run right on a GPU and on the runtime that needs none. */

/** The options and the device of one round, all drawn. */
struct RunDraw {
    RunDraw(const Scene &scene, Random *random) : options(scene.options) {
        const char *strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
        int64_t n_bytes = 0;
        for (const auto &bytes : scene.memory)
            n_bytes += static_cast<int64_t>(bytes.size());
        memory_bytes = 64 + random->number(0, 2 * n_bytes >> random->number(0, 6));
        options.plan.strategy = strategies[random->number(0, 3)];
        options.plan.n_buffers = static_cast<int>(random->number(0, 3));
        for (int64_t &threads : block)
            threads = random->number(1, 9);
        options.plan.block = random->chance(70) ? block : nullptr;
        n_threads = random->one_of({1, 1, 2, 3});
        pinned_percent = static_cast<int>(random->one_of({0, 50, 100}));
        n_runs = static_cast<int>(random->one_of({1, 1, 2}));
    }

    std::string device_text() const {
        return "cuda:0(memory=" + std::to_string(memory_bytes) +
               "B,threads=" + std::to_string(n_threads) + ")";
    }
    std::string describe() const {
        return device_text() + " strategy " +
               (options.plan.strategy ? options.plan.strategy : "default") + " buffers " +
               std::to_string(options.plan.n_buffers) + " pinned " +
               std::to_string(pinned_percent) + "%";
    }

    polytile_launch_options options;
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t memory_bytes, n_threads;
    int pinned_percent, n_runs;
};

/** A case of a random size on a random device, in memory that is pinned, pageable, or both; false
 * when nothing fits. */
template <class World> bool round_runs_right(const Case &of, uint64_t seed) {
    World world(seed);
    bool has_run = false;
    {
        Random random(seed);
        Session session;
        Scene scene(session.ctx, of, random.number(3, of.largest_n), &random);
        RunDraw draw(scene, &random);
        polytile_device *device = session.open(draw.device_text());
        draw.options.plan.limit_bytes = polytile_device_get_limit(device);
        Pins pins;
        for (auto &bytes : scene.memory) {
            if (random.chance(draw.pinned_percent))
                pins.add(bytes);
        }
        has_run = runs_right(session, device, scene, draw.options, draw.n_runs);
        world.expect_idle();
        if (testing::Test::HasFailure())
            ADD_FAILURE() << of.declaration << " on " << draw.describe() << " seed " << seed;
    }
    world.expect_nothing_taken();
    return has_run;
}

template <class World> void expect_cases_run_under_any_limit(uint64_t seed, int64_t n_rounds) {
    Random random(seed);
    const std::vector<Case> &cases = World::cases().all();
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const Case &of = cases[static_cast<size_t>(round) % cases.size()];
        n_run +=
            round_runs_right<World>(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.55));
}

/** A tuning table by which every kernel runs neighbours in one thread where it can, however few
 * threads there are. */
class CoarseTable {
  public:
    CoarseTable() {
        const char *const path = "/tmp/polytile-coarse-XXXXXX";
        std::vector<char> made(path, path + std::strlen(path) + 1);
        const int file = mkstemp(made.data());
        const std::string text =
            R"({"version": 1, "architectures": {"all": ["7.0", "7.5", "8.0", "8.6", "8.9", "9.0", )"
            R"("10.0", "12.0"]}, "rows": [{"architecture": "all", "block": [2, 16], )"
            R"("coarsening": 4}]})";
        EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(file);
        path_ = made.data();
        environment_.set("POLYTILE_TUNING", path_.c_str());
    }
    ~CoarseTable() { std::remove(path_.c_str()); }
    CoarseTable(const CoarseTable &) = delete;
    CoarseTable &operator=(const CoarseTable &) = delete;

  private:
    std::string path_;
    Environment environment_;
};

/** The same with threads that run several neighbours. */
template <class World> void expect_coarse_cases_run(uint64_t seed, int64_t n_rounds) {
    const CoarseTable table;
    expect_cases_run_under_any_limit<World>(seed, n_rounds);
}

/** Arrays of several MiB, so that one transfer fills several buffers, from pageable memory. */
template <class World> void expect_large_arrays_run(uint64_t seed) {
    const struct {
        const char *declaration;
        int64_t n;
    } rows[] = {{"add[i]", 2000000},     {"jacobi[i, j]", 1500}, {"heat[i, j, k]", 120},
                {"least[i, j]", 1500},   {"hankel[i, j]", 2000}, {"coarsen[i]", 1000000},
                {"scatter[i]", 3000000}, {"scale[i]", 3000000}};
    for (const auto &row : rows) {
        World world(seed);
        Random random(seed);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=4MiB,threads=3)");
        Scene scene(session.ctx, World::cases().of(row.declaration), row.n, &random);
        for (const char *strategy : {"min-time", "min-kernels"}) {
            polytile_launch_options options = scene.options;
            options.plan.limit_bytes = polytile_device_get_limit(device);
            options.plan.strategy = strategy;
            EXPECT_TRUE(runs_right(session, device, scene, options, 1)) << row.declaration;
        }
        world.expect_idle();
    }
}

#endif
