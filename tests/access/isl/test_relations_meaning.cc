#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "support/elements.h"
#include "support/launch.h"

extern "C" {
#include "access/isl/footprint_isl.h"
}

namespace {

using Member = std::function<bool(int64_t i, int64_t j, int64_t a, int64_t b)>;

struct Relation {
    const char *braces;
    Member member;
};

bool is_odd(int64_t x) {
    return x % 2 != 0;
}

/** Conditions as the parser reads them, and as C++ does. */
const Relation relations[] = {
    {"a = i and 0 <= b <= j",
     [](auto i, auto j, auto a, auto b) { return a == i && 0 <= b && b <= j; }},
    {"a + b = i + j", [](auto i, auto j, auto a, auto b) { return a + b == i + j; }},
    {"a > b and b >= j and i != a",
     [](auto i, auto j, auto a, auto b) { return a > b && b >= j && i != a; }},
    {"(a + b) mod 2 = 1 and a = i",
     [](auto i, auto, auto a, auto b) { return is_odd(a + b) && a == i; }},
    {"exists (e, f : a = 2e + i and b = 3f + j)",
     [](auto i, auto j, auto a, auto b) { return (a - i) % 2 == 0 && (b - j) % 3 == 0; }},
    {"a = i or b = j and a <= 2",
     [](auto i, auto j, auto a, auto b) { return a == i || (b == j && a <= 2); }},
    {"(a = i or b = j) and a <= 2",
     [](auto i, auto j, auto a, auto b) { return (a == i || b == j) && a <= 2; }},
    {"i, j <= a, b",
     [](auto i, auto j, auto a, auto b) { return std::max(i, j) <= std::min(a, b); }},
    {"2a <= i + 3 and 2a >= i - 1 and b = 3(j - i)",
     [](auto i, auto j, auto a, auto b) {
         return 2 * a <= i + 3 && 2 * a >= i - 1 && b == 3 * (j - i);
     }},
    {"a = i % 3 and b = (2i + j) % 4",
     [](auto i, auto j, auto a, auto b) { return a == i % 3 && b == (2 * i + j) % 4; }},
    {"1 = 0", [](auto, auto, auto, auto) { return false; }},
};

TEST(RelationMeaning, IsWhatTheConditionSays) {
    for (const Relation &relation : relations) {
        SCOPED_TRACE(relation.braces);
        Launch launch("k[i, j]: in {[i, j] -> A[a, b] : " + std::string(relation.braces) + "}",
                      "4x5", {{"A", "7x6"}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const pti_instance &instance = *launch.instance();
        pti_boxes boxes = {};
        for_each_point(instance.threads, [&](const Point &thread) {
            const polytile_domain one = polytile_domain_from_bounds(2, &thread[0], &thread[0]);
            bool exact = false;
            ASSERT_EQ(pti_footprint_isl(launch.kernel(), &instance, 0, PTI_READS, &one, 1000,
                                        &boxes, &exact),
                      POLYTILE_OK);
            EXPECT_TRUE(exact);
            Elements found(instance.operand[0].domain), truth(instance.operand[0].domain);
            found.add(boxes);
            for_each_point(instance.operand[0].domain, [&](const Point &element) {
                if (relation.member(thread[0], thread[1], element[0], element[1]))
                    truth.add(element);
            });
            EXPECT_TRUE(found == truth) << "thread " << thread[0] << ", " << thread[1];
            EXPECT_EQ(pti_boxes_count(&boxes), truth.count()) << "boxes overlap";
        });
        pti_boxes_free(&boxes);
    }
}

} // namespace
