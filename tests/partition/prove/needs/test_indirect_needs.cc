#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/declare/kernel.h"
#include "access/footprint/footprint.h"
#include "partition/prove/needs/needs.h"
#include "partition/window/plan.h"
}

namespace {

/** A matrix in compressed rows, as a bound launch with a thread a row. */
class Rows : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override {
        pti_instance_free(instance);
        polytile_context_destroy(ctx);
    }

    void bind(int64_t n_rows, Random *random) {
        pti_instance_free(instance);
        P = {0};
        K.clear();
        for (int64_t i = 0; i < n_rows; i++)
            P.push_back(P.back() + random->one_of({0, 0, 1, 2, 5}));
        for (int64_t k = 0; k < std::max<int64_t>(P.back(), 1); k++)
            K.push_back(random->number(0, n_rows - 1));
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(
                      ctx, "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]", nullptr,
                      &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        const polytile_launch_options options = {};
        polytile_array *arrays[] = {wrap("V", K), wrap("P", P), wrap("x", P), wrap("K", K),
                                    wrap("y", P)};
        ASSERT_EQ(
            pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(n_rows), arrays, &options, &instance),
            POLYTILE_OK)
            << polytile_last_error(ctx);
    }

    const pti_section *section(int operand) const {
        return &instance->section[instance->operand[operand].first_section];
    }

    polytile_context *ctx = nullptr;
    pti_instance *instance = nullptr;
    std::vector<int64_t> P, K;

  private:
    polytile_array *wrap(const char *name, std::vector<int64_t> &values) {
        polytile_array *array = nullptr;
        const int64_t extent = static_cast<int64_t>(values.size());
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_I64, 1, &extent, values.data(), &array),
                  POLYTILE_OK);
        return array;
    }
};

TEST_F(Rows, NeedWhatTheirElementsSayAndHullsHoldIt) {
    enum { V, P_OPERAND, X };
    Random random(test_seed("IndirectNeeds"));
    for (int64_t round = 0; round < scaled(100) && !HasFatalFailure(); round++) {
        const int64_t n_rows = random.number(1, 300);
        bind(n_rows, &random);
        const int64_t lo = random.number(0, n_rows - 1), hi = random.number(lo, n_rows - 1);
        const polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
        const size_t begin = static_cast<size_t>(P[static_cast<size_t>(lo)]);
        const size_t end = static_cast<size_t>(P[static_cast<size_t>(hi) + 1]);
        polytile_domain entries, columns;
        EXPECT_TRUE(pti_needs_is_box(instance, section(V), &threads, &entries));
        EXPECT_TRUE(pti_needs_is_box(instance, section(X), &threads, &columns));
        const polytile_domain entries_hull = pti_footprint_hull(instance, V, PTI_READS, &threads);
        const polytile_domain columns_hull = pti_footprint_hull(instance, X, PTI_READS, &threads);
        ASSERT_EQ(pti_box_is_empty(&entries), begin == end);
        ASSERT_TRUE(pti_box_equals(&entries, &entries_hull) || begin == end);
        ASSERT_EQ(pti_box_is_empty(&entries_hull), begin == end);
        ASSERT_EQ(pti_box_is_empty(&columns_hull), begin == end);
        if (begin == end)
            continue;
        const auto first = K.begin() + static_cast<int64_t>(begin);
        const auto last = K.begin() + static_cast<int64_t>(end);
        EXPECT_EQ(entries.range[0].lo, static_cast<int64_t>(begin));
        EXPECT_EQ(entries.range[0].hi, static_cast<int64_t>(end) - 1);
        EXPECT_EQ(columns.range[0].lo, *std::min_element(first, last));
        EXPECT_EQ(columns.range[0].hi, *std::max_element(first, last));
        // Of few columns the box has steps; hulls have none.
        columns = pti_box_without_steps(&columns);
        EXPECT_TRUE(pti_box_equals(&columns, &columns_hull));
    }
}

TEST_F(Rows, AreNotCoveredByLessThanTheyLookUp) {
    Random random(test_seed("IndirectNeedsCovered"));
    bind(200, &random);
    const int64_t lo = 20, hi = 120;
    const polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
    polytile_domain hull = pti_footprint_hull(instance, 0, PTI_READS, &threads), missing;
    ASSERT_FALSE(pti_box_is_empty(&hull));
    pti_boxes there = {};
    pti_boxes_assign(&there, &hull);
    EXPECT_TRUE(pti_needs_covered(instance, section(0), &threads, &there, &missing));
    hull.range[0].hi--;
    pti_boxes_assign(&there, &hull);
    EXPECT_FALSE(pti_needs_covered(instance, section(0), &threads, &there, &missing));
    pti_boxes_free(&there);
}

} // namespace
