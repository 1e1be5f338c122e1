#include "support/random.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

extern "C" {
#include "launch/host/balance.h"
#include "launch/host/host_launch.h"
}

namespace {

/** Counts how often each row of a launch runs, and sleeps for some of them. */
struct Rows {
    explicit Rows(int64_t n) : n_runs(static_cast<size_t>(n)), sleep_us(static_cast<size_t>(n)) {
        implementation.host = run;
        implementation.user = this;
    }

    static void run(const polytile_domain *threads, const polytile_view *, void *user) {
        Rows *rows = static_cast<Rows *>(user);
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
            rows->n_runs[static_cast<size_t>(i)]++;
            std::this_thread::sleep_for(
                std::chrono::microseconds(rows->sleep_us[static_cast<size_t>(i)]));
        }
        const std::lock_guard<std::mutex> lock(rows->mutex);
        rows->n_pieces++;
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            rows->n_slept[std::this_thread::get_id()] +=
                rows->sleep_us[static_cast<size_t>(i)] > 1000;
    }

    std::vector<std::atomic<int>> n_runs;
    std::vector<int> sleep_us;
    std::mutex mutex;
    int n_pieces = 0;
    std::map<std::thread::id, int> n_slept;
    polytile_implementation implementation = {};
};

class HostBalance : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    void run(Rows *rows, const char *device_text, const char *declaration = "f[i]: out x[i]") {
        const int64_t n = static_cast<int64_t>(rows->n_runs.size());
        std::vector<float> memory(static_cast<size_t>(n));
        polytile_kernel *kernel = nullptr;
        polytile_array *x = nullptr;
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, device_text, &device), POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &rows->implementation, &kernel),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, memory.data(), &x),
                  POLYTILE_OK);
        const polytile_domain domain = polytile_domain_from_extents(1, &n);
        EXPECT_EQ(polytile_run(device, kernel, &domain, 1, &x, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_device_close(device);
        for (int64_t i = 0; i < n; i++)
            EXPECT_EQ(rows->n_runs[static_cast<size_t>(i)], 1) << i;
    }

    polytile_context *ctx = nullptr;
};

TEST_F(HostBalance, EachRowRunsOnce) {
    Random random(test_seed("HostBalance"));
    for (int round = 0; round < 40; round++) {
        Rows rows(random.number(1, 300));
        for (int &us : rows.sleep_us)
            us = random.chance(3) ? 300 : 0;
        run(&rows, random.chance(50) ? "host(threads=3)" : "host(threads=7)");
    }
}

TEST_F(HostBalance, RowsThatReduceIntoElementsOfTheirOwnRunOnce) {
    Rows rows(64);
    run(&rows, "host(threads=4)", "f[i]: sum x[i]");
    EXPECT_GT(rows.n_pieces, 4);
}

/** Of the rows of the first chunk, which sleep long, its own thread runs some and others the
 * rest. */
TEST_F(HostBalance, ThreadsThatAreDoneTakeRowsOfOthers) {
    Rows rows(128);
    for (size_t i = 0; i < 128; i++)
        rows.sleep_us[i] = i < 32 ? 4000 : 100;
    run(&rows, "host(threads=4)");
    int most = 0;
    for (const auto &[thread, n_slept] : rows.n_slept)
        most = std::max(most, n_slept);
    EXPECT_LT(most, 24);
}

/** Calls of a body, whose first n_threads ones return when all of these have begun: so each thread
 * has taken rows of its own. */
struct Calls {
    static void count(const polytile_domain *threads, const polytile_view *, void *user) {
        Calls *calls = static_cast<Calls *>(user);
        calls->n_calls++;
        while (calls->n_calls < calls->n_threads)
            std::this_thread::yield();
        std::this_thread::sleep_for(
            std::chrono::microseconds(pti_range_count(threads->range[0]) * calls->row_us));
    }

    const int n_threads;
    std::atomic<int> n_calls{0};
    int64_t row_us = 0; /* that each row sleeps */
};

/** Run a launch of 64 rows on 4 threads, with what is known of the kernel, and find out more.
 * Returns how often it calls its body. */
int run_known(pti_host_habit *habit, int64_t row_us = 0) {
    const int64_t n_rows = 64;
    Calls calls{4};
    calls.row_us = row_us;
    polytile_implementation implementation = {};
    implementation.host = Calls::count;
    implementation.user = &calls;
    pti_instance instance = {};
    polytile_domain threads = polytile_domain_from_extents(1, &n_rows);
    pti_host_habits habits = {};
    habits.habit[7] = *habit;
    habits.habit[7].kernel = &implementation;
    pti_sub_kernel sub_kernel = {};
    sub_kernel.instance = &instance;
    sub_kernel.config.implementation = &implementation;
    sub_kernel.threads = &threads;
    pti_host_launch(&sub_kernel, calls.n_threads, &habits);
    *habit = habits.habit[7];
    return calls.n_calls;
}

int count_calls(pti_host_habit habit) {
    return run_known(&habit);
}

TEST(HostHabits, ChunksOfEvenRowsAreNotCut) {
    EXPECT_EQ(count_calls({nullptr, PTI_EVEN, 0, 0, 0}), 4);
    EXPECT_GE(count_calls({nullptr, PTI_UNEVEN, 0, 0, 0}), 8);
    EXPECT_GE(count_calls({nullptr, PTI_EVENNESS_UNKNOWN, 0, 0, 0}), 8);
}

/** A quarter of 16 rows, half of the rest, and so on: one of the last rows may be slow. */
TEST(HostHabits, ChunksThatOnlyLookEvenAreRunByHalves) {
    pti_host_habit unknown = {};
    EXPECT_GE(run_known(&unknown, 1000), 3 * 4);
}

TEST(HostHabits, PartsThatOnlyLookEvenAreHalvesUnlessThatIsLittleOrCostsSomething) {
    const double ms = 1e-3, us = 1e-6;
    EXPECT_EQ(pti_host_even_part(12, ms, ms), 6);
    EXPECT_EQ(pti_host_even_part(13, ms, 0.95 * ms), 7);
    EXPECT_EQ(pti_host_even_part(12, ms, 2 * ms), 6);
    EXPECT_EQ(pti_host_even_part(12, 6 * ms, 4 * ms), 12);
    EXPECT_EQ(pti_host_even_part(12, us, us), 12);
    EXPECT_EQ(pti_host_even_part(1, ms, ms), 1);
}

TEST(HostHabits, ChunksAreNotCutIfThatTookLonger) {
    EXPECT_EQ(count_calls({nullptr, PTI_UNEVEN, 1, 2, 0}), 4);
    EXPECT_GE(count_calls({nullptr, PTI_UNEVEN, 2, 1, 0}), 8);
    EXPECT_GE(count_calls({nullptr, PTI_UNEVEN, 2, 0, 0}), 8);
}

TEST(HostHabits, MuchShorterLaunchesAreNotNoted) {
    pti_host_habit known = {nullptr, PTI_UNEVEN, 3, 2, 1000}, unknown = {};
    run_known(&known);
    EXPECT_EQ(known.evenness, PTI_UNEVEN);
    EXPECT_EQ(known.row_s_parts, 2);
    EXPECT_EQ(known.chunk_s, 1000);
    run_known(&unknown);
    EXPECT_NE(unknown.evenness, PTI_EVENNESS_UNKNOWN);
    EXPECT_GT(unknown.row_s_parts, 0);
}

TEST(HostHabits, AKernelThatIsNewTakesTheOldestPlace) {
    const int64_t n_rows = 8;
    const polytile_domain threads = polytile_domain_from_extents(1, &n_rows);
    const pti_instance instance = {};
    pti_host_habits habits = {};
    Calls calls{0};
    std::vector<polytile_implementation> kernels(PTI_HOST_HABITS + 2);
    for (polytile_implementation &kernel : kernels) {
        kernel.host = Calls::count;
        kernel.user = &calls;
        pti_sub_kernel sub_kernel = {};
        sub_kernel.instance = &instance;
        sub_kernel.config.implementation = &kernel;
        sub_kernel.threads = &threads;
        for (int time = 0; time < 2; time++)
            pti_host_launch(&sub_kernel, 2, &habits);
    }
    EXPECT_EQ(habits.habit[0].kernel, &kernels[PTI_HOST_HABITS]);
    EXPECT_EQ(habits.habit[1].kernel, &kernels[PTI_HOST_HABITS + 1]);
    EXPECT_EQ(habits.habit[2].kernel, &kernels[2]);
}

} // namespace
