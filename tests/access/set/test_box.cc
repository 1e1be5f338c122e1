#include <gtest/gtest.h>

#include <cstdint>

#include "access/set/draw_boxes.h"
#include "support/scale.h"

namespace {

polytile_domain smallest_around(const polytile_domain &whole, const polytile_domain &a,
                                const polytile_domain &b) {
    return all_of(elements_of(whole, a), elements_of(whole, b)).hull();
}

TEST(Box, FunctionsAgreeWithEnumeration) {
    Random random(test_seed("Box.Functions"));
    for (int64_t round = scaled(10000); round > 0; round--) {
        const polytile_domain whole = draw_whole(&random);
        const polytile_domain a = draw_box(&random, whole), b = draw_box(&random, whole);
        const Elements in_a = elements_of(whole, a), in_b = elements_of(whole, b);
        const Elements in_both = both_of(in_a, in_b);
        polytile_domain common;
        ASSERT_EQ(pti_box_intersect(&a, &b, &common), in_both.count() > 0);
        ASSERT_TRUE(elements_of(whole, common) == in_both);
        ASSERT_TRUE(in_both.count() == 0 || pti_box_may_meet(&a, &b));
        ASSERT_EQ(pti_box_is_empty(&a), in_a.count() == 0);
        ASSERT_EQ(pti_box_count(&a), in_a.count());
        const polytile_domain filled = pti_box_without_steps(&a);
        ASSERT_TRUE(pti_box_is_empty(&a) ||
                    pti_box_has_gaps(&a) == (pti_box_count(&filled) > in_a.count()));
        ASSERT_EQ(pti_box_contains(&a, &b), in_a.contains(in_b));
        ASSERT_EQ(pti_box_equals(&a, &b), in_a == in_b);
    }
}

TEST(Box, HullsAreTheSmallestAroundTwo) {
    Random random(test_seed("Box.Hulls"));
    for (int64_t round = scaled(10000); round > 0; round--) {
        const polytile_domain whole = draw_whole(&random);
        const polytile_domain a = draw_box(&random, whole), b = draw_box(&random, whole);
        const polytile_domain smallest = smallest_around(whole, a, b);
        const polytile_domain stepped = pti_box_coarse_union(&a, &b);
        const polytile_domain enclosed = pti_box_bounding(&a, &b);
        const polytile_domain filled = pti_box_without_steps(&smallest);
        ASSERT_TRUE(pti_box_equals(&stepped, &smallest));
        ASSERT_TRUE(pti_box_equals(&enclosed, &filled));
        ASSERT_TRUE(pti_box_contains(&filled, &smallest));
    }
}

TEST(Box, GrowsToAUnionOnlyIfThatIsABox) {
    Random random(test_seed("Box.Absorb"));
    int64_t n_grown = 0;
    for (int64_t round = scaled(20000); round > 0; round--) {
        const polytile_domain whole = draw_whole(&random);
        const polytile_domain box = draw_box(&random, whole), added = draw_box(&random, whole);
        polytile_domain grown = box;
        if (!pti_box_absorb(&grown, &added)) {
            ASSERT_EQ(pti_box_compare(&grown, &box), 0);
            continue;
        }
        ASSERT_TRUE(elements_of(whole, grown) ==
                    all_of(elements_of(whole, box), elements_of(whole, added)));
        n_grown += !pti_box_contains(&box, &added);
    }
    EXPECT_GE(n_grown, least_count(scaled(20000), 0.1));
}

TEST(Box, NumbersItsPointsInTheOrderOfTheWalk) {
    Random random(test_seed("Box.Points"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        const polytile_domain box = draw_box(&random, draw_whole(&random));
        if (pti_box_is_empty(&box))
            continue;
        int64_t walked[POLYTILE_MAX_DIMS], found[POLYTILE_MAX_DIMS], number = 0;
        pti_box_first_point(&box, walked);
        do {
            pti_box_find_point(&box, number++, found);
            for (int d = 0; d < box.n_dims; d++)
                ASSERT_EQ(found[d], walked[d]) << "point " << number - 1 << ", dimension " << d;
        } while (pti_box_next_point(&box, walked));
        ASSERT_EQ(number, pti_box_count(&box));
    }
}

TEST(Box, EmptyOnesHaveNoElementsAndAreEqual) {
    for (int n_dims = 1; n_dims <= POLYTILE_MAX_DIMS; n_dims++) {
        const polytile_domain empty = pti_box_empty(n_dims);
        polytile_domain other = empty;
        other.range[n_dims - 1] = {7, 3, 2};
        EXPECT_TRUE(pti_box_is_empty(&empty));
        EXPECT_EQ(pti_box_count(&empty), 0);
        EXPECT_TRUE(pti_box_equals(&empty, &other));
        EXPECT_NE(pti_box_compare(&empty, &other), 0);
    }
}

TEST(Box, CountsSaturate) {
    const polytile_domain huge = box_of({{0, INT64_C(1) << 40, 1}, {0, INT64_C(1) << 40, 1}});
    EXPECT_EQ(pti_box_count(&huge), INT64_MAX);
}

/* From the first on, each comes before the next. */
TEST(Box, AreOrderedByDimensionsThenByWhatIsWritten) {
    const polytile_domain in_order[] = {
        box_of({{9, 9, 1}}),
        box_of({{0, 0, 1}, {9, 9, 1}}),
        box_of({{0, 4, 1}, {-1, 3, 1}}),
        box_of({{0, 4, 1}, {0, 2, 1}}),
        box_of({{0, 4, 1}, {0, 4, 1}}),
        box_of({{0, 4, 1}, {0, 4, 2}}),
        box_of({{0, 4, 2}, {0, 0, 1}}),
        box_of({{0, 0, 1}, {0, 0, 1}, {0, 0, 1}}),
    };
    const int n = static_cast<int>(std::size(in_order));
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const int order = pti_box_compare(&in_order[a], &in_order[b]);
            EXPECT_EQ((order > 0) - (order < 0), (a > b) - (a < b)) << a << " and " << b;
        }
}

} // namespace
