#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/window/plan.h"
}

/* Which index arrays are refused, compared with going through all threads. */

namespace {

/** A launch with two indices over index arrays that may be wrong. */
class InspectCheck : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_array *describe(const char *name, std::vector<int64_t> extents) {
        polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_describe(ctx, name, POLYTILE_F32, &domain, &array), POLYTILE_OK);
        return array;
    }

    polytile_array *wrap(const char *name, std::vector<int64_t> &of) {
        const auto extent = static_cast<int64_t>(of.size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_I64, 1, &extent, of.data(), &array),
                  POLYTILE_OK);
        return array;
    }

    bool is_accepted(const char *declaration, polytile_array *const *arrays) {
        polytile_kernel *kernel = nullptr;
        pti_instance *instance = nullptr;
        const polytile_launch_options options = {};
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        const polytile_status status =
            pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(n_i, n_j), arrays, &options, &instance);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_DECLARATION)
            << polytile_last_error(ctx);
        pti_instance_free(instance);
        return status == POLYTILE_OK;
    }

    /** Ends of rows, mostly right. */
    void draw_rows(int64_t n_entries, Random *random) {
        P.assign(1, random->number(0, 1));
        for (int64_t i = 0; i < n_i; i++)
            P.push_back(std::min(n_entries, P.back() + random->one_of({0, 0, 1, 2})));
        if (random->chance(20))
            P[static_cast<size_t>(random->number(0, n_i))] = random->number(-1, n_entries + 1);
    }

    int64_t end(int64_t i) const { return P[static_cast<size_t>(i)]; }

    polytile_context *ctx = nullptr;
    int64_t n_i = 0, n_j = 0;
    std::vector<int64_t> P, K, L;
};

bool is_in(int64_t index, int64_t extent) {
    return 0 <= index && index < extent;
}

TEST_F(InspectCheck, RangesAreRefusedWithTheDimensionsBesideThem) {
    const uint64_t seed = test_seed("InspectCheck");
    Random random(seed);
    int64_t n_accepted = 0;
    const int64_t n_rounds = scaled(1000);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        n_i = random.number(1, 4), n_j = random.number(1, 3);
        const int64_t n_entries = random.number(1, 5), n_lines = random.number(1, 8);
        draw_rows(n_entries, &random);
        polytile_array *arrays[] = {describe("A", {n_lines, n_entries}), wrap("P", P),
                                    describe("y", {n_i, n_j})};
        bool is_right = true;
        for (int64_t i = 0; i < n_i; i++)
            for (int64_t j = 0; j < n_j; j++) {
                const bool has_any = end(i) < end(i + 1);
                is_right =
                    is_right && end(i + 1) >= end(i) &&
                    (!has_any || (is_in(end(i), n_entries) && is_in(end(i + 1) - 1, n_entries) &&
                                  i + j + 1 >= 1 && i + j - 1 < n_lines));
            }
        n_accepted += is_right;
        EXPECT_EQ(is_accepted("k[i, j]: in A[i+j-1:i+j, P[i]:P[i+1]-1]; out y[i, j]", arrays),
                  is_right)
            << "seed " << seed << " round " << round;
    }
    EXPECT_GE(n_accepted, least_count(n_rounds, 0.16));
    EXPECT_GE(n_rounds - n_accepted, least_count(n_rounds, 0.16));
}

/** Ranges around one element, also empty or out of order; threads along j have the same. */
TEST_F(InspectCheck, RangesAroundOneElementAreRefusedOutsideTheArray) {
    const uint64_t seed = test_seed("InspectCheck.around");
    Random random(seed);
    int64_t n_accepted = 0;
    const int64_t n_rounds = scaled(1000);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        n_i = random.number(1, 4), n_j = random.number(1, 3);
        const int64_t n_x = random.number(2, 12), from = random.number(0, 2),
                      to = random.chance(10) ? from - random.number(1, 2)
                                             : from + random.number(0, 2);
        const int64_t follows_j = random.number(0, 1);
        K.clear();
        for (int64_t i = 0; i < n_i; i++)
            K.push_back(random.chance(90) ? random.number(0, n_x - 1) : random.number(-5, 20));
        polytile_array *arrays[] = {describe("x", {n_x}), wrap("K", K), describe("y", {n_i, n_j})};
        bool is_right = true;
        for (int64_t i = 0; i < n_i; i++)
            for (int64_t j = 0; j < n_j; j++) {
                const int64_t at = K[static_cast<size_t>(i)] + follows_j * j;
                is_right = is_right && to >= from - 1 &&
                           (to < from || (is_in(at + from, n_x) && is_in(at + to, n_x)));
            }
        n_accepted += is_right;
        const std::string j = follows_j ? "+j" : "";
        const std::string declaration = "k[i, j]: in x[K[i]" + j + "+" + std::to_string(from) +
                                        ":K[i]" + j + (to < 0 ? "" : "+") + std::to_string(to) +
                                        "]; out y[i, j]";
        EXPECT_EQ(is_accepted(declaration.c_str(), arrays), is_right)
            << declaration << " seed " << seed << " round " << round;
    }
    EXPECT_GE(n_accepted, least_count(n_rounds, 0.16));
    EXPECT_GE(n_rounds - n_accepted, least_count(n_rounds, 0.16));
}

/** Rows of a list, which may be wrong itself. */
TEST_F(InspectCheck, RowsOfAListAreRefusedWhereTheirEndsAreOutOfOrder) {
    const uint64_t seed = test_seed("InspectCheck.listed");
    Random random(seed);
    int64_t n_accepted = 0;
    const int64_t n_rounds = scaled(1000);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        n_i = random.number(1, 4), n_j = random.number(1, 3);
        const int64_t n_entries = random.number(1, 5), after = random.one_of({1, 1, 0, -1});
        draw_rows(n_entries, &random);
        const auto n_ends = static_cast<int64_t>(P.size());
        L.clear();
        for (int64_t i = 0; i < n_i; i++)
            L.push_back(random.chance(95) ? random.number(after < 0, n_i - (after > 0))
                                          : random.number(-1, n_i + 1));
        polytile_array *arrays[] = {describe("V", {n_entries}), wrap("P", P), wrap("L", L),
                                    describe("y", {n_i, n_j})};
        bool is_right = true;
        for (const int64_t row : L) {
            is_right = is_right && is_in(row, n_ends) && is_in(row + after, n_ends);
            if (!is_right)
                break;
            const int64_t first = end(row), last = end(row + after) - 1;
            is_right = last >= first - 1 &&
                       (last < first || (is_in(first, n_entries) && is_in(last, n_entries)));
        }
        n_accepted += is_right;
        const std::string behind = after == 0 ? "" : after < 0 ? "-1" : "+1";
        const std::string declaration =
            "k[i, j]: in V[P[L[i]]:P[L[i]" + behind + "]-1]; out y[i, j]";
        EXPECT_EQ(is_accepted(declaration.c_str(), arrays), is_right)
            << declaration << " seed " << seed << " round " << round;
    }
    if (n_rounds >= 1000) {
        EXPECT_GT(n_accepted, n_rounds / 10);
        EXPECT_LT(n_accepted, n_rounds - n_rounds / 10);
    }
}

TEST_F(InspectCheck, GathersAreRefusedByWhatIsLookedUpAlone) {
    const uint64_t seed = test_seed("InspectCheck.gathers");
    Random random(seed);
    int64_t n_accepted = 0;
    const int64_t n_rounds = scaled(1000);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        n_i = random.number(1, 4), n_j = random.number(1, 3);
        const int64_t n_entries = random.number(1, 6), n_links = random.number(1, 8),
                      n_x = random.number(3, 9), n_lines = random.number(1, 8);
        draw_rows(n_entries, &random);
        L.clear(), K.clear();
        for (int64_t e = 0; e < n_entries; e++)
            L.push_back(random.number(0, n_links - 1));
        for (int64_t k = 0; k < n_links; k++)
            K.push_back(random.chance(80) ? random.number(0, n_x - 1) : random.number(-5, 20));
        polytile_array *arrays[] = {describe("x", {n_x, n_lines}), wrap("K", K), wrap("L", L),
                                    wrap("P", P), describe("y", {n_i, n_j})};
        bool is_right = true;
        for (int64_t i = 0; i < n_i; i++) {
            is_right = is_right && end(i + 1) >= end(i) &&
                       (end(i) == end(i + 1) ||
                        (is_in(end(i), n_entries) && is_in(end(i + 1) - 1, n_entries)));
            for (int64_t e = end(i); is_right && e < end(i + 1); e++)
                is_right = is_in(K[static_cast<size_t>(L[static_cast<size_t>(e)])], n_x) &&
                           i + n_j - 1 < n_lines;
        }
        n_accepted += is_right;
        EXPECT_EQ(is_accepted("k[i, j]: in x[K[L[P[i]:P[i+1]-1]], i+j]; out y[i, j]", arrays),
                  is_right)
            << "seed " << seed << " round " << round;
    }
    EXPECT_GE(n_accepted, least_count(n_rounds, 0.16));
    EXPECT_GE(n_rounds - n_accepted, least_count(n_rounds, 0.16));
}

} // namespace
