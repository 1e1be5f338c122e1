#include <gtest/gtest.h>

#include <cstdint>

#include "support/elements.h"
#include "support/random.h"
#include "support/scale.h"

namespace {

class Boxes : public ::testing::Test {
  protected:
    ~Boxes() override {
        pti_boxes_free(&set_);
        pti_boxes_free(&other_);
    }

    pti_boxes set_ = {};
    pti_boxes other_ = {};
};

polytile_domain box_of(std::initializer_list<polytile_range> ranges) {
    polytile_domain box = {};
    for (polytile_range range : ranges)
        box.range[box.n_dims++] = range;
    return box;
}

polytile_domain draw_box(Random *random, int n_dims) {
    polytile_domain box = {};
    box.n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        const int64_t lo = random->number(0, 9);
        box.range[d] = pti_range(lo, random->number(random->chance(5) ? 0 : lo, 9),
                                 random->one_of({1, 1, 1, 2, 3, 4}));
    }
    return box;
}

void expect_same(const pti_boxes &set, const Elements &elements) {
    Elements in_set(elements.domain());
    in_set.add(set);
    ASSERT_FALSE(set.failed);
    ASSERT_EQ(pti_boxes_count(&set), in_set.count()) << "boxes overlap";
    ASSERT_TRUE(in_set == elements);
    for (int b = 0; b < set.n_boxes; b++)
        ASSERT_FALSE(pti_box_is_empty(&set.box[b]));
}

TEST_F(Boxes, SubtractingEveryFourthLeavesThreeResidues) {
    const polytile_domain whole = box_of({{0, 96, 1}}), fourth = box_of({{0, 96, 4}});
    pti_boxes_add(&set_, &whole);
    pti_boxes_subtract(&set_, &fourth);
    EXPECT_EQ(set_.n_boxes, 3);
    EXPECT_EQ(pti_boxes_count(&set_), 72);
}

TEST_F(Boxes, SubtractingTwoFarElementsLeavesThreeRuns) {
    const polytile_domain whole = box_of({{0, 1000000, 1}}), ends = box_of({{10, 900010, 900000}});
    pti_boxes_add(&set_, &whole);
    pti_boxes_subtract(&set_, &ends);
    EXPECT_EQ(set_.n_boxes, 3);
    EXPECT_EQ(pti_boxes_count(&set_), 999999);
}

TEST_F(Boxes, MergePutsResiduesTogetherAgain) {
    const polytile_domain even = box_of({{0, 98, 2}, {0, 9, 1}}),
                          odd = box_of({{1, 99, 2}, {0, 9, 1}});
    pti_boxes_add(&set_, &even);
    pti_boxes_add(&set_, &odd);
    pti_boxes_merge(&set_);
    ASSERT_EQ(set_.n_boxes, 1);
    const polytile_domain whole = box_of({{0, 99, 1}, {0, 9, 1}});
    EXPECT_TRUE(pti_box_equals(&set_.box[0], &whole));
}

TEST_F(Boxes, MergeMakesOneBoxOfATornOne) {
    for (int64_t i = 0; i < 12; i++)
        for (int64_t j = 0; j < 12; j++) {
            const polytile_domain element =
                box_of({{5 * i % 12, 5 * i % 12, 1}, {7 * j % 12, 7 * j % 12, 1}});
            pti_boxes_append(&set_, &element);
        }
    pti_boxes_merge(&set_);
    EXPECT_EQ(set_.n_boxes, 1);
    EXPECT_EQ(pti_boxes_count(&set_), 144);
}

TEST_F(Boxes, CountsSaturate) {
    const polytile_domain huge = box_of({{0, INT64_C(1) << 40, 1}, {0, INT64_C(1) << 40, 1}});
    pti_boxes_append(&set_, &huge);
    EXPECT_EQ(pti_box_count(&huge), INT64_MAX);
    EXPECT_EQ(pti_boxes_count(&set_), INT64_MAX);
}

TEST_F(Boxes, SubtractingASetFromItselfLeavesNothing) {
    const polytile_domain whole = box_of({{0, 9, 1}});
    pti_boxes_add(&set_, &whole);
    pti_boxes_subtract_all(&set_, &set_);
    EXPECT_EQ(set_.n_boxes, 0);
}

TEST_F(Boxes, AgreeWithEnumeration) {
    Random random(test_seed("Boxes.AgreeWithEnumeration"));
    for (int64_t round = scaled(4000); round > 0; round--) {
        const int n_dims = static_cast<int>(random.number(1, 3));
        polytile_domain whole = {};
        whole.n_dims = n_dims;
        for (int d = 0; d < n_dims; d++)
            whole.range[d] = {0, 9, 1};
        Elements elements(whole);
        pti_boxes_clear(&set_);
        for (int64_t step = random.number(1, 8); step > 0; step--) {
            const polytile_domain box = draw_box(&random, n_dims);
            switch (random.number(0, 5)) {
            case 0:
            case 1:
            case 2:
                pti_boxes_add(&set_, &box);
                elements.add(box);
                break;
            case 3:
                pti_boxes_subtract(&set_, &box);
                elements.remove(box);
                break;
            case 4: {
                Elements clipped(whole);
                for_each_point(box, [&](const Point &point) {
                    if (elements.has(point))
                        clipped.add(point);
                });
                pti_boxes_clip(&set_, &box);
                elements = clipped;
                break;
            }
            default:
                pti_boxes_merge(&set_);
            }
            ASSERT_NO_FATAL_FAILURE(expect_same(set_, elements));
        }
        const polytile_domain box = draw_box(&random, n_dims);
        Elements of_box(whole);
        of_box.add(box);
        ASSERT_EQ(pti_boxes_cover(&set_, &box), elements.contains(of_box));
        pti_boxes_copy(&other_, &set_);
        pti_boxes_subtract(&other_, &box);
        pti_boxes_subtract_all(&set_, &other_);
        for_each_point(whole, [&](const Point &point) {
            if (!of_box.has(point) && elements.has(point)) {
                polytile_domain one = polytile_domain_from_bounds(n_dims, &point[0], &point[0]);
                elements.remove(one);
            }
        });
        ASSERT_NO_FATAL_FAILURE(expect_same(set_, elements));
    }
}

TEST_F(Boxes, BoxFunctionsAgreeWithEnumeration) {
    Random random(test_seed("Boxes.BoxFunctionsAgreeWithEnumeration"));
    polytile_domain whole = box_of({{0, 9, 1}, {0, 9, 1}});
    for (int64_t round = scaled(10000); round > 0; round--) {
        const polytile_domain a = draw_box(&random, 2), b = draw_box(&random, 2);
        Elements in_a(whole), in_b(whole), in_common(whole), in_hull(whole);
        in_a.add(a);
        in_b.add(b);
        polytile_domain common;
        const bool meets = pti_box_intersect(&a, &b, &common);
        const polytile_domain hull = pti_box_coarse_union(&a, &b);
        in_common.add(common);
        in_hull.add(hull);
        ASSERT_EQ(meets, in_common.count() > 0);
        for_each_point(whole, [&](const Point &point) {
            ASSERT_EQ(in_common.has(point), in_a.has(point) && in_b.has(point));
        });
        ASSERT_TRUE(in_hull.contains(in_a) && in_hull.contains(in_b));
        ASSERT_EQ(pti_box_contains(&a, &b), in_a.contains(in_b));
        ASSERT_EQ(pti_box_equals(&a, &b), in_a == in_b);
        ASSERT_EQ(pti_box_count(&a), in_a.count());
    }
}

} // namespace
