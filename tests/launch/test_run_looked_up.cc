#include <gtest/gtest.h>

#include <atomic>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/scale.h"

namespace {

TEST(RunLookedUp, EqualsPlainLoopsOnHostsUnderAnyLimit) {
    const uint64_t seed = test_seed("RunLookedUp");
    Random random(seed);
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    int64_t n_run = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        n_run += looked_up::round_runs_right("host", &random);
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_GE(n_run, least_count(scaled(400), 0.45)) << "seed " << seed;
}

std::atomic<int> n_calls;

/** Adds 1 for each entry, and counts how often it is called. */
void count_entries(const polytile_domain *threads, const polytile_view *views, void *) {
    PT_VIEW(const int32_t, R, 1, views[0]);
    PT_VIEW(float, y, 1, views[1]);
    n_calls++;
    for (int64_t e = threads->range[0].lo; e <= threads->range[0].hi; e++)
        PT_AT(y, PT_AT(R, e)) += 1;
}

/** Each thread needs a copy of what it looks up alone, which is little where entries lie row by
 * row: here the threads next to each other have a row in common. */
TEST(RunLookedUp, SumsOfSortedEntriesRunOnAllThreads) {
    enum { N_ROWS = 200001, EACH = 10, N_THREADS = 4 };
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    polytile_implementation counting = {};
    counting.host = count_entries;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_device_open(ctx, "host(threads=4)", &device), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "count[e]: in R[e]; sum y[R[e]]", &counting, &kernel),
              POLYTILE_OK);
    for (const bool is_sorted : {true, false}) {
        std::vector<int64_t> R;
        for (int64_t e = 0; e < N_ROWS * EACH; e++)
            R.push_back(is_sorted ? e / EACH : e % N_ROWS);
        looked_up::Arrays arrays(ctx, false);
        arrays.add_indices("R", R);
        arrays.add_values("y", std::vector<float>(N_ROWS));
        n_calls = 0;
        ASSERT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(N_ROWS * EACH), 2,
                               arrays.list.data(), nullptr),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(n_calls, is_sorted ? N_THREADS : 1);
        EXPECT_EQ(arrays.read(1), std::vector<float>(N_ROWS, EACH));
    }
    polytile_context_destroy(ctx);
}

} // namespace
