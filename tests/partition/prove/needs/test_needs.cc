extern "C" {
#include "partition/prove/needs/needs.h"
}

#include "partition/prove/enumerate.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <set>

/* What the checker says that threads touch, element by element. */

namespace {

using Elements = std::set<Element>;

Elements ElementsOf(const pti_boxes &set) {
    Elements found;
    for (int k = 0; k < set.n_boxes; k++)
        ForEachElement(set.box[k], [&](const Element &element) { found.insert(element); });
    return found;
}

pti_subscript DrawSubscript(Random &random) {
    std::vector<int64_t> factors = {random.one_of({0, 0, 1, 1, 1, 2, -1}),
                                    random.one_of({0, 0, 0, 1, 1, -2})};
    const int64_t lo = random.number(-3, 3);
    pti_subscript subscript = Sub(lo, lo + random.number(-1, 3), factors);
    subscript.step = random.one_of({1, 1, 1, 2});
    if (random.chance(10))
        subscript.hi.index[random.number(0, 1)] += 1;
    return subscript;
}

/** What threads touch through a section, clipped to its array. */
Elements Touched(const pti_section &section, const polytile_domain &array,
                 const polytile_domain &threads) {
    Elements touched;
    ForEachElement(threads, [&](const Element &thread) {
        ForEachTouched(section, array, thread,
                       [&](const Element &element) { touched.insert(element); });
    });
    return touched;
}

TEST(CheckNeeds, AreWhatTheThreadsTouchOneByOne) {
    Random random(test_seed("CheckNeeds"));
    int64_t n_boxes = 0;
    for (int64_t round = 0; round < scaled(5000); round++) {
        HandKernel kernel;
        const int64_t i = random.number(0, 5), j = random.number(0, 5);
        kernel.threads = Box({{i, i + random.number(0, 5)}, {j, j + random.number(0, 4)}});
        const polytile_domain array = Box({{0, random.number(3, 12)}, {0, random.number(3, 9)}});
        kernel.Operand("A", 4, array);
        kernel.Section(POLYTILE_IN, false, {DrawSubscript(random), DrawSubscript(random)});
        const pti_instance instance = kernel.Instance();
        const Elements touched = Touched(kernel.sections[0], array, kernel.threads);
        pti_boxes list = {}, hull = {};
        polytile_domain box;
        pti_needs_list(&instance, &instance.section[0], &kernel.threads, &list);
        ASSERT_EQ(ElementsOf(list), touched);
        const bool is_box =
            pti_needs_is_box(&instance, &instance.section[0], &kernel.threads, &box);
        pti_boxes_append(&hull, &box);
        const Elements around = ElementsOf(hull);
        ASSERT_TRUE(std::includes(around.begin(), around.end(), touched.begin(), touched.end()));
        ASSERT_TRUE(!is_box || around == touched);
        n_boxes += is_box && !touched.empty();
        for (pti_boxes *set : {&list, &hull})
            pti_boxes_free(set);
    }
    EXPECT_GE(n_boxes, least_count(scaled(5000), 0.1));
}

TEST(CheckNeeds, AreFewWhereTwoStretchesLieFarApart) {
    constexpr int64_t half = 1 << 18;
    HandKernel kernel;
    kernel.threads = Box({{0, 1}, {0, half - 1}});
    kernel.Operand("x", 4, Box({{0, 4 * half - 1}}));
    kernel.Section(POLYTILE_INOUT, false, {Sub(0, 0, {2 * half, 1})});
    kernel.Section(POLYTILE_INOUT, false, {Sub(0, 0, {half * half, half})});
    const pti_instance instance = kernel.Instance();
    for (int s = 0; s < 2; s++) {
        pti_boxes list = {};
        pti_needs_list(&instance, &instance.section[s], &kernel.threads, &list);
        EXPECT_LE(list.n_boxes, 2) << "section " << s;
        pti_boxes_free(&list);
    }
}

} // namespace
