#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/set/range.h"
}

namespace {

std::set<int64_t> elements_of(polytile_range range) {
    std::set<int64_t> elements;
    for (int64_t x = range.lo; x <= range.hi; x += range.step)
        elements.insert(x);
    return elements;
}

polytile_range draw_range(Random *random) {
    const int64_t lo = random->number(-20, 20);
    return pti_range(lo, lo + random->number(-3, 40), random->number(1, 9));
}

void expect_range(polytile_range range, int64_t lo, int64_t hi, int64_t step) {
    EXPECT_EQ(range.lo, lo);
    EXPECT_EQ(range.hi, hi);
    EXPECT_EQ(range.step, step);
}

TEST(Range, LastElementLiesOnTheLattice) {
    expect_range(pti_range(2, 100, 3), 2, 98, 3);
    expect_range(pti_range(-7, -1, 4), -7, -3, 4);
}

TEST(Range, OneElementHasStepOne) {
    expect_range(pti_range(5, 7, 3), 5, 5, 1);
}

TEST(Range, EmptyWhenTheEndsCross) {
    EXPECT_TRUE(pti_range_is_empty(pti_range_empty()));
    EXPECT_TRUE(pti_range_is_empty(pti_range(3, 2, 1)));
    EXPECT_EQ(pti_range_count(pti_range(3, 2, 5)), 0);
    EXPECT_TRUE(pti_range_equals(pti_range(3, 2, 1), pti_range(9, 0, 4)));
}

TEST(Range, CoarseUnionKeepsTheElementThatThePapersStrideLoses) {
    const polytile_range both = pti_range_coarse_union(pti_range(2, 100, 2), pti_range(2, 100, 3));
    EXPECT_TRUE(pti_range_has(both, 4));
    expect_range(both, 2, 100, 1);
}

TEST(Range, CoarseUnionTakesTheStrideOfTheDistance) {
    expect_range(pti_range_coarse_union(pti_range(0, 8, 4), pti_range(2, 10, 4)), 0, 10, 2);
    expect_range(pti_range_coarse_union(pti_range(0, 8, 4), pti_range(12, 12, 1)), 0, 12, 4);
    expect_range(pti_range_coarse_union(pti_range(3, 3, 1), pti_range(10, 10, 1)), 3, 10, 7);
    expect_range(pti_range_coarse_union(pti_range(3, 3, 1), pti_range(3, 3, 1)), 3, 3, 1);
}

TEST(Range, IntersectMeetsOnTheCommonLattice) {
    expect_range(pti_range_intersect(pti_range(0, 100, 4), pti_range(2, 100, 6)), 8, 92, 12);
    EXPECT_TRUE(pti_range_is_empty(pti_range_intersect(pti_range(0, 100, 4), pti_range(1, 99, 2))));
}

TEST(Range, IntersectOfHugeCoprimeStepsDoesNotOverflow) {
    const int64_t far = INT64_C(1) << 61, step = (INT64_C(1) << 40) + 1;
    const polytile_range a = pti_range(-far, far, step), b = pti_range(-far, far, step + 1);
    const polytile_range common = pti_range_intersect(a, b);
    ASSERT_FALSE(pti_range_is_empty(common));
    EXPECT_EQ(common.lo, -far);
    EXPECT_EQ(common.hi, -far);
    EXPECT_TRUE(pti_range_equals(pti_range_intersect(a, a), a));
}

TEST(Range, PartsAreCountedAlongItAndEndWithIt) {
    const struct {
        polytile_range range;
        int64_t first, count;
        polytile_range part;
    } cases[] = {
        {{0, 9, 1}, 0, 10, {0, 9, 1}}, {{0, 9, 1}, 3, 4, {3, 6, 1}},
        {{0, 9, 1}, 8, 4, {8, 9, 1}},  {{-5, 19, 3}, 2, 3, {1, 7, 3}},
        {{5, 5, 1}, 0, 7, {5, 5, 1}},  {{2, 12, 5}, 1, 1, {7, 7, 1}},
        {{0, 9, 1}, 4, 0, {0, -1, 1}}, {{0, 9, 1}, 10, 3, {0, -1, 1}},
    };
    for (const auto &c : cases) {
        const polytile_range part = pti_range_slice(c.range, c.first, c.count);
        EXPECT_EQ(pti_range_compare(&part, &c.part), 0) << part.lo << ":" << part.hi;
    }
}

TEST(Range, IsCutIntoPartsThatDifferByOneElementAtMost) {
    Random random(test_seed("Range.Cut"));
    for (int64_t round = scaled(5000); round > 0; round--) {
        const polytile_range range = draw_range(&random);
        const int64_t n_parts = random.number(1, 13), least = pti_range_count(range) / n_parts;
        std::set<int64_t> all;
        for (int64_t part = 0; part < n_parts; part++) {
            const std::set<int64_t> own = elements_of(pti_range_cut(range, n_parts, part));
            const int64_t n = static_cast<int64_t>(own.size());
            ASSERT_TRUE(n == least || n == least + 1);
            ASSERT_TRUE(all.empty() || own.empty() || *all.rbegin() < *own.begin());
            all.insert(own.begin(), own.end());
        }
        ASSERT_EQ(all, elements_of(range));
    }
}

TEST(Range, AgreesWithEnumeration) {
    Random random(test_seed("Range.AgreesWithEnumeration"));
    for (int64_t round = scaled(50000); round > 0; round--) {
        const polytile_range a = draw_range(&random), b = draw_range(&random);
        const std::set<int64_t> in_a = elements_of(a), in_b = elements_of(b);
        std::set<int64_t> common, both = in_a;
        both.insert(in_b.begin(), in_b.end());
        for (int64_t x : in_a)
            if (in_b.count(x))
                common.insert(x);
        const polytile_range hull = pti_range_coarse_union(a, b);
        ASSERT_EQ(elements_of(pti_range_intersect(a, b)), common);
        ASSERT_EQ(pti_range_meets(a, b), !common.empty());
        ASSERT_EQ(pti_range_count(a), static_cast<int64_t>(in_a.size()));
        ASSERT_EQ(pti_range_equals(a, b), in_a == in_b);
        ASSERT_EQ(pti_range_contains(a, b), common == in_b);
        ASSERT_TRUE(pti_range_contains(hull, a) && pti_range_contains(hull, b));
        if (!both.empty()) {
            ASSERT_EQ(hull.lo, *both.begin());
            ASSERT_EQ(hull.hi, *both.rbegin());
        }
        const int64_t x = random.number(-25, 65);
        ASSERT_EQ(pti_range_has(a, x), in_a.count(x) == 1);
    }
}

} // namespace
