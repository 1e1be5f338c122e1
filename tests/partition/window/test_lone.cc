#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "partition/choose/choose.h"
#include "partition/choose/grain.h"
#include "partition/prove/check.h"
#include "partition/window/lone.h"
}

/* Lone launches: which these are, and that they move what they were planned to move. */

namespace {

constexpr int64_t MiB = int64_t{1} << 20;

std::string extents_of(std::vector<int64_t> extents) {
    std::string text;
    for (const int64_t extent : extents)
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

/** A product C = A B of m x n elements over k, cut for some memory as a queue cuts it. */
class Product {
  public:
    Product(int64_t m, int64_t n, int64_t k, int64_t memory_bytes)
        : launch_(
              "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]", extents_of({m, n, k}),
              {{"A", extents_of({m, k})}, {"B", extents_of({k, n})}, {"C", extents_of({m, n})}}),
          memory_bytes_(memory_bytes) {
        EXPECT_EQ(launch_.status(), POLYTILE_OK) << launch_.error();
        padded_ = *launch_.instance();
        padded_.piece_alignment_bytes = PTI_RESIDENT_ALIGNMENT;
        pti_ways ways = pti_ways_of({&padded_, nullptr}, false);
        const pti_grain_request request = {&ways, &options_, memory_bytes, false, nullptr};
        int way = -1;
        status_ = pti_grain_choose(launch_.context(), &request, &partition_, &way);
        arrays_ = padded_;
        arrays_.n_sections = 0;
        step_.kind = PTI_STEP_LAUNCH;
        step_.call = {&padded_, places_};
        step_.partition = &partition_;
    }
    ~Product() {
        pti_schedule_free(schedule_);
        pti_partition_free(&partition_);
    }
    Product(const Product &) = delete;
    Product &operator=(const Product &) = delete;

    bool is_cut() const { return status_ == POLYTILE_OK; }
    bool is_lone() const { return pti_launch_is_lone(step_.call, &partition_); }

    void share_array(int operand, int other) { places_[operand] = places_[other]; }

    polytile_status build(int64_t memory_bytes) {
        return pti_lone_build(&step_, &arrays_, &polytile_link_default, memory_bytes, &schedule_);
    }

    /** What it moves as the planner has planned it, by itself. */
    pti_traffic planned() const {
        polytile_plan_options options = options_;
        options.limit_bytes = memory_bytes_;
        pti_choice choice;
        EXPECT_EQ(
            pti_choose(launch_.context(), &padded_, pti_strategy_find(nullptr), &options, &choice),
            POLYTILE_OK);
        pti_schedule_free(choice.schedule);
        return choice.traffic;
    }

    const pti_schedule *schedule() const { return schedule_; }

  private:
    Launch launch_;
    int64_t memory_bytes_;
    polytile_plan_options options_ = {};
    pti_instance padded_ = {};
    pti_instance arrays_ = {}; /* by position, of no kernel */
    int places_[3] = {0, 1, 2};
    pti_partition partition_ = {};
    polytile_status status_;
    pti_step step_ = {};
    pti_schedule *schedule_ = nullptr;
};

void expect_as_planned(Product *of, int64_t memory_bytes) {
    ASSERT_EQ(of->build(memory_bytes), POLYTILE_OK);
    const pti_traffic built = pti_schedule_traffic(of->schedule()), planned = of->planned();
    EXPECT_EQ(built.h2d_bytes, planned.h2d_bytes);
    EXPECT_EQ(built.d2h_bytes, planned.d2h_bytes);
    EXPECT_LE(pti_schedule_peak_bytes(of->schedule()), memory_bytes);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(of->schedule(), &why)) << why.data;
    pti_text_free(&why);
}

/** Sums that stay do not go to the host before they are complete. */
TEST(Lone, ProductsBringEachResultHomeOnce) {
    const int64_t memory_bytes = 1532 * MiB;
    Product of(8192, 32768, 32768, memory_bytes);
    ASSERT_TRUE(of.is_cut());
    ASSERT_TRUE(of.is_lone());
    expect_as_planned(&of, memory_bytes);
    EXPECT_EQ(pti_schedule_traffic(of.schedule()).d2h_bytes, int64_t{8192} * 32768 * 4);
}

TEST(Lone, LaunchesOfLittleMoreThanTheMemoryAreNone) {
    Product of(8192, 8192, 8192, 500 * MiB);
    ASSERT_TRUE(of.is_cut());
    EXPECT_FALSE(of.is_lone());
}

TEST(Lone, ArraysThatStandForSeveralOperandsAreWrittenByNone) {
    Product of(8192, 32768, 32768, 1532 * MiB);
    ASSERT_TRUE(of.is_lone());
    of.share_array(1, 0);
    EXPECT_TRUE(of.is_lone()) << "both are read";
    of.share_array(2, 0);
    EXPECT_FALSE(of.is_lone());
}

TEST(Lone, NeedTheMemoryThatTheyWereCutFor) {
    Product of(8192, 32768, 32768, 1532 * MiB);
    ASSERT_TRUE(of.is_lone());
    EXPECT_EQ(of.build(700 * MiB), POLYTILE_NO_FIT);
    EXPECT_EQ(of.schedule(), nullptr);
}

TEST(Lone, ProductsOfAnySizeMoveWhatWasPlanned) {
    Random random(test_seed("Lone.ProductsOfAnySizeMoveWhatWasPlanned"));
    const int64_t n_rounds = scaled(40);
    int64_t n_lone = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const int64_t m = random.number(2000, 30000), n = random.number(2000, 30000),
                      k = random.number(2000, 30000);
        const int64_t memory_bytes = 4 * (m * n + m * k + n * k) / random.number(5, 40);
        Product of(m, n, k, memory_bytes);
        if (!of.is_cut() || !of.is_lone())
            continue;
        n_lone++;
        expect_as_planned(&of, memory_bytes);
        if (testing::Test::HasFailure())
            ADD_FAILURE() << m << " x " << n << " x " << k << ", " << memory_bytes << " bytes";
    }
    EXPECT_GE(n_lone, least_count(n_rounds, 0.34));
}

} // namespace
