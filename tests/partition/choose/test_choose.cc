#include <gtest/gtest.h>

#include <memory>

#include "partition/cut/launches.h"

extern "C" {
#include "partition/choose/choose.h"
}

using namespace cut;

namespace {

/** A thread reads a row of 128 KiB. */
const Kernel rows_alone = {
    "rows[i]: in A[i, :]; out s[i]", "65536", {{"A", "65536x32768"}, {"s", "65536"}}};

/** What is chosen for a launch in 1 GiB on a device that so many threads fill; 0: not known. */
class Choice {
  public:
    Choice(const Kernel &kernel, int64_t fill_threads, int64_t n_streams = 1)
        : launch_(kernel.declaration, kernel.threads, kernel.arrays) {
        polytile_plan_options options = {};
        options.limit_bytes = 1024 * MiB;
        options.fill_threads = fill_threads;
        options.n_streams = n_streams;
        EXPECT_EQ(launch_.status(), POLYTILE_OK) << launch_.error();
        EXPECT_EQ(pti_choose(launch_.context(), launch_.instance(), pti_strategy_find(nullptr),
                             &options, &made_),
                  POLYTILE_OK)
            << launch_.error();
    }
    ~Choice() { pti_schedule_free(made_.schedule); }
    Choice(const Choice &) = delete;
    Choice &operator=(const Choice &) = delete;

    int64_t n() const { return pti_schedule_n_kernels(made_.schedule); }
    double seconds() const { return made_.seconds; }
    double seconds_if(int64_t fill_threads) const {
        return pti_schedule_predict(made_.schedule, &polytile_link_default, fill_threads);
    }

  private:
    Launch launch_;
    pti_choice made_ = {};
};

/** The threads that fill a GPU of 132 multiprocessors. */
constexpr int64_t of_gpu = 132 * 2048;

TEST(Choose, FewThreadsAreInLargeSuperblocksWhereTheyDoNotFillTheDevice) {
    const Choice unknown(rows_alone, 0), known(rows_alone, of_gpu);
    EXPECT_GT(unknown.n(), 50);
    EXPECT_LT(known.n(), 25);
    EXPECT_GT(unknown.seconds_if(of_gpu), 2.5 * known.seconds());
}

TEST(Choose, WhatFillsTheDeviceNeverMakesAPlanSlower) {
    const Kernel sums = {"sums[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                         "2000x2000",
                         {{"A", "2000x100000"}, {"B", "100000x2000"}, {"C", "2000x2000"}}};
    for (const Kernel &kernel : {rows_alone, sums, Add(1 << 28), Gemm(16384), Jacobi(16384)})
        for (const int64_t fill_threads : {1, 500, 20000, 1 << 16, 132 * 2048}) {
            const Choice unknown(kernel, 0), known(kernel, fill_threads);
            EXPECT_DOUBLE_EQ(known.seconds(), known.seconds_if(fill_threads));
            EXPECT_LE(known.seconds(), unknown.seconds_if(fill_threads))
                << kernel.declaration << ", " << fill_threads;
        }
}

TEST(Choose, SuperblocksThatFillTheDeviceAnywayStayAsTheyWere) {
    const Choice unknown(Add(1 << 28), 0), known(Add(1 << 28), 4096);
    EXPECT_EQ(known.n(), unknown.n());
    EXPECT_EQ(known.seconds(), unknown.seconds());
}

/** Superblocks of four lanes run side by side. */
TEST(Choose, SuperblocksInLanesFillTheDeviceTogether) {
    const Choice alone(rows_alone, 0, 1), side_by_side(rows_alone, 0, 4);
    const auto kernels_s = [](const Choice &of) {
        return of.seconds_if(1 << 24) / static_cast<double>(of.n());
    };
    EXPECT_GT(kernels_s(alone), 2 * kernels_s(side_by_side));
}

} // namespace
