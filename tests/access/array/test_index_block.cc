#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/array/index_block.h"
}

/* Blocks against loops over their elements. Whole blocks may be read by other instructions than
 * parts of them. */

namespace {

pti_index_block summarise(const std::vector<int32_t> &element) {
    return pti_index_block_narrow(element.data(), static_cast<int>(element.size()), true);
}

pti_index_block summarise(const std::vector<int64_t> &element) {
    return pti_index_block_wide(element.data(), static_cast<int>(element.size()), true);
}

template <class T> std::vector<T> draw_block(Random *random, int64_t n, T least, T most) {
    std::vector<T> element;
    for (int64_t k = 0; k < n; k++)
        element.push_back(static_cast<T>(random->number(least, most)));
    if (random->chance(40))
        std::sort(element.begin(), element.end());
    if (random->chance(20))
        element[static_cast<size_t>(random->number(0, n - 1))] = random->chance(50) ? least : most;
    return element;
}

template <class T> void expect_right(const std::vector<T> &element) {
    const pti_index_block found = summarise(element);
    EXPECT_EQ(found.values.least, *std::min_element(element.begin(), element.end()));
    EXPECT_EQ(found.values.most, *std::max_element(element.begin(), element.end()));
    EXPECT_EQ(found.ascends, std::is_sorted(element.begin(), element.end()));
}

/** The sum of a block is that of the block without its last element, and a multiple of that. */
template <class T, class U> void expect_weighed(std::vector<T> element, T last) {
    const uint64_t without = summarise(std::vector<T>(element.begin(), element.end() - 1)).sum;
    element.back() = 1;
    const uint64_t weight = summarise(element).sum - without;
    EXPECT_EQ(weight % 2, 1u);
    element.back() = last;
    EXPECT_EQ(summarise(element).sum, without + static_cast<U>(last) * weight);
}

template <class T, class U> void compare_blocks(Random *random, T least, T most) {
    for (int64_t round = scaled(2000); round > 0 && !testing::Test::HasFailure(); round--) {
        const int64_t n = random->one_of({1, 2, 7, 8, 63, 64, 64, 64});
        expect_right(draw_block<T>(random, n, least, most));
        expect_right(draw_block<T>(random, n, 0, 3));
        expect_weighed<T, U>(draw_block<T>(random, std::max<int64_t>(n, 2), least, most),
                             static_cast<T>(random->number(least, most)));
    }
}

TEST(IndexBlock, IsThatOfALoopOverNarrowElements) {
    Random random(test_seed("IndexBlock.Narrow"));
    compare_blocks<int32_t, uint32_t>(&random, INT32_MIN, INT32_MAX);
}

TEST(IndexBlock, IsThatOfALoopOverWideElements) {
    Random random(test_seed("IndexBlock.Wide"));
    compare_blocks<int64_t, uint64_t>(&random, -(INT64_C(1) << 62), INT64_C(1) << 62);
}

TEST(IndexBlock, SeesADescentAtEachPlace) {
    for (size_t at = 1; at < PTI_INDEX_BLOCK; at++) {
        std::vector<int32_t> element(PTI_INDEX_BLOCK, 5);
        std::fill(element.begin() + static_cast<std::ptrdiff_t>(at), element.end(), 4);
        EXPECT_FALSE(summarise(element).ascends) << at;
    }
}

} // namespace
