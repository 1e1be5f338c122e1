#include <gtest/gtest.h>

#include <cstring>
#include <vector>

extern "C" {
#include "launch/host/copy/box_copy.h"
}

namespace {

/** 1000 i + j, and how often each element was written. */
void WriteSum(const int64_t *index, void *element, void *user) {
    const int64_t sum = 1000 * index[0] + index[1];
    std::memcpy(element, &sum, sizeof sum);
    __atomic_fetch_add(static_cast<int64_t *>(user), 1, __ATOMIC_RELAXED);
}

/** What a box of an array of 200 x 300 is filled with; the rest is -1. */
void ExpectFilled(const polytile_domain &box) {
    const int64_t extents[] = {200, 300};
    const polytile_domain whole = polytile_domain_from_extents(2, extents);
    const pti_memory_layout layout = pti_memory_layout_of(&whole, 8);
    std::vector<int64_t> memory(200 * 300, -1);
    const pti_memory_span image = {memory.data(), &layout};
    int64_t n_written = 0;
    pti_box_fill(&image, &box, 4, WriteSum, &n_written);
    EXPECT_EQ(n_written, pti_box_count(&box));
    for (int64_t i = 0; i < 200; i++)
        for (int64_t j = 0; j < 300; j++) {
            const bool is_in = pti_range_has(box.range[0], i) && pti_range_has(box.range[1], j);
            ASSERT_EQ(memory[i * 300 + j], is_in ? 1000 * i + j : -1) << i << ", " << j;
        }
}

TEST(BoxFill, WritesEveryElementOfALargeBoxOnce) {
    ExpectFilled({2, {{0, 199, 1}, {0, 299, 1}}});
    ExpectFilled({2, {{3, 190, 1}, {7, 297, 1}}});
}

TEST(BoxFill, WritesOnlyTheElementsOfABoxWithSteps) {
    ExpectFilled({2, {{1, 199, 3}, {2, 298, 4}}});
}

TEST(BoxFill, WritesSmallBoxesAndNothing) {
    ExpectFilled({2, {{5, 5, 1}, {6, 6, 1}}});
    ExpectFilled(pti_box_empty(2));
}

} // namespace
