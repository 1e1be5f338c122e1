#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

extern "C" {
#include "access/set/memory_layout.h"
}

namespace {

polytile_domain Box(std::vector<polytile_range> ranges) {
    polytile_domain box{};
    box.n_dims = static_cast<int>(ranges.size());
    for (size_t d = 0; d < ranges.size(); d++)
        box.range[d] = ranges[d];
    return box;
}

/** The bytes of rows whose pitches are multiples of the powers of two in their steps. */
int64_t AlignedBytes(const polytile_domain &box, int64_t element_bytes) {
    int64_t row_bytes = element_bytes, size_bytes = element_bytes;
    for (int d = box.n_dims - 1; d >= 0; d--) {
        const int64_t count = pti_range_count(box.range[d]);
        int64_t pitch_bytes = row_bytes;
        while (count > 1 && pitch_bytes % (box.range[d].step & -box.range[d].step) != 0)
            pitch_bytes++;
        size_bytes += (count - 1) * pitch_bytes;
        row_bytes = count * pitch_bytes;
    }
    return size_bytes;
}

TEST(Layout, ADenseBoxIsInCOrder) {
    polytile_domain box = Box({{10, 12, 1}, {-5, 4, 1}});
    pti_memory_layout layout = pti_memory_layout_of(&box, 4);
    EXPECT_EQ(layout.stride_bytes[1], 4);
    EXPECT_EQ(layout.stride_bytes[0], 40);
    EXPECT_EQ(layout.size_bytes, 120);
    int64_t element[] = {12, 4};
    EXPECT_EQ(pti_memory_layout_offset(&layout, element), 116);
}

TEST(Layout, EveryOtherElementTakesHalfTheMemory) {
    polytile_domain box = Box({{1, 99, 2}});
    pti_memory_layout layout = pti_memory_layout_of(&box, 4);
    EXPECT_EQ(layout.size_bytes, 50 * 4);
    EXPECT_EQ(layout.stride_bytes[0], 2);
}

TEST(Layout, ElementsOfAnyOddStepLieSideBySide) {
    for (int64_t element_bytes : {1, 2, 4, 8, 12, 16})
        for (int64_t step : {3, 5, 7, 9, 15, 1001}) {
            polytile_domain box = Box({{-7, -7 + 99 * step, step}});
            pti_memory_layout layout = pti_memory_layout_of(&box, element_bytes);
            EXPECT_EQ(layout.size_bytes, 100 * element_bytes) << element_bytes << " " << step;
            int64_t element[] = {-7 + 42 * step};
            EXPECT_EQ(pti_memory_layout_offset(&layout, element), 42 * element_bytes);
        }
}

TEST(Layout, APitchIsAMultipleOfThePowerOfTwoInTheStep) {
    polytile_domain box = Box({{0, 12 * 9, 12}, {0, 24 * 4, 24}});
    pti_memory_layout layout = pti_memory_layout_of(&box, 4);
    EXPECT_EQ(layout.size_bytes, 9 * 40 + 4 * 8 + 4);
}

TEST(Layout, AnEmptyBoxTakesNothing) {
    polytile_domain box = pti_box_empty(2);
    EXPECT_EQ(pti_memory_layout_of(&box, 8).size_bytes, 0);
}

TEST(Layout, SaysWhenItExceeds64Bits) {
    int64_t huge = int64_t{1} << 40;
    polytile_domain box = Box({{0, huge, 1}, {0, huge, 1}});
    EXPECT_EQ(pti_memory_layout_of(&box, 4).size_bytes, INT64_MAX);
}

TEST(Layout, GivesEveryElementBytesOfItsOwnInsideTheSize) {
    const char *text = std::getenv("POLYTILE_TEST_SEED");
    uint64_t seed = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    auto number = [&](int64_t lo, int64_t hi) {
        return std::uniform_int_distribution<int64_t>(lo, hi)(random);
    };
    const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16};
    for (int n = 0; n < 20000; n++) {
        polytile_domain box{};
        box.n_dims = static_cast<int>(number(1, 3));
        for (int d = 0; d < box.n_dims; d++) {
            int64_t lo = number(-20, 20), step = number(1, 7);
            box.range[d] = {lo, lo + step * number(0, 5), step};
        }
        int64_t element_bytes = sizes[number(0, 6)];
        pti_memory_layout layout = pti_memory_layout_of(&box, element_bytes);
        ASSERT_TRUE(pti_box_equals(&layout.hull, &box));
        ASSERT_LE(layout.size_bytes, AlignedBytes(box, element_bytes));
        std::vector<bool> used(static_cast<size_t>(layout.size_bytes), false);
        std::vector<int64_t> element(box.n_dims);
        for (int d = 0; d < box.n_dims; d++)
            element[d] = box.range[d].lo;
        for (int d = 0; d >= 0;) {
            int64_t at = pti_memory_layout_offset(&layout, element.data());
            ASSERT_GE(at, 0);
            ASSERT_LE(at + element_bytes, layout.size_bytes);
            polytile_domain rest = box;
            for (int e = 0; e < box.n_dims; e++)
                rest.range[e].lo = element[e];
            ASSERT_EQ(pti_memory_layout_offset_of(&layout, &rest), at);
            for (int64_t b = at; b < at + element_bytes; b++) {
                ASSERT_FALSE(used[static_cast<size_t>(b)]);
                used[static_cast<size_t>(b)] = true;
            }
            for (d = box.n_dims - 1; d >= 0; d--) {
                element[d] += box.range[d].step;
                if (element[d] <= box.range[d].hi)
                    break;
                element[d] = box.range[d].lo;
            }
        }
    }
}

} // namespace
