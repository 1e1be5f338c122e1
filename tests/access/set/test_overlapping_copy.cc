#include "access/set/draw_boxes.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

extern "C" {
#include "access/set/overlapping_copy.h"
}

namespace {

constexpr int64_t element_bytes = 4;

int32_t number_of(const Point &point) {
    int64_t number = 1;
    for (const int64_t index : point)
        number = number * 31 + index;
    return static_cast<int32_t>(number);
}

int64_t place_of(const pti_memory_layout &layout, const Point &point) {
    int64_t place = 0;
    for (size_t d = 0; d < point.size(); d++)
        place += (point[d] - layout.hull.range[d].lo) * layout.stride_bytes[d];
    return place;
}

int32_t value_at(const std::vector<char> &memory, const pti_memory_layout &layout,
                 const Point &point) {
    int32_t value;
    std::memcpy(&value, &memory[static_cast<size_t>(place_of(layout, point))], sizeof value);
    return value;
}

/** Copy a slice as a device may, all at once: no byte that is read is written, too. */
void copy_slice(std::vector<char> *memory, const pti_memory_layout &from,
                const pti_memory_layout &to, const polytile_domain &slice) {
    std::set<int64_t> read, written;
    const std::vector<char> before = *memory;
    for_each_point(slice, [&](const Point &point) {
        const int64_t source = place_of(from, point), target = place_of(to, point);
        read.insert(source);
        written.insert(target);
        std::memcpy(&(*memory)[static_cast<size_t>(target)], &before[static_cast<size_t>(source)],
                    static_cast<size_t>(element_bytes));
    });
    for (const int64_t place : written)
        EXPECT_EQ(read.count(place), 0u);
}

TEST(OverlappingCopy, MovesEachElementOnceFromSlicesThatDoNotMeetTheirTargets) {
    Random random(
        test_seed("OverlappingCopy.MovesEachElementOnceFromSlicesThatDoNotMeetTheirTargets"));
    int n_slices = 0;
    for (int64_t k = 0; k < scaled(3000); k++) {
        polytile_domain source = draw_whole(&random);
        polytile_domain target = source;
        const int dim = static_cast<int>(random.number(0, source.n_dims - 1));
        const int64_t distance = random.number(-4, 4);
        target.range[dim].lo += distance;
        target.range[dim].hi += distance;
        const pti_memory_layout from = pti_memory_layout_of(&source, element_bytes);
        const pti_memory_layout to = pti_memory_layout_of(&target, element_bytes);
        polytile_domain box = {}, slice = {};
        if (!pti_box_intersect(&source, &target, &box))
            continue;
        std::vector<char> memory(static_cast<size_t>(from.size_bytes));
        for_each_point(source, [&](const Point &point) {
            const int32_t value = number_of(point);
            std::memcpy(&memory[static_cast<size_t>(place_of(from, point))], &value, sizeof value);
        });
        pti_overlapping_copy slices;
        ASSERT_TRUE(pti_overlapping_begin(&from, &to, &box, &slices));
        while (pti_overlapping_next(&slices, &slice)) {
            copy_slice(&memory, from, to, slice);
            n_slices++;
        }
        for_each_point(box, [&](const Point &point) {
            ASSERT_EQ(value_at(memory, to, point), number_of(point));
        });
    }
    EXPECT_GE(n_slices, least_count(scaled(3000), 0.3));
}

TEST(OverlappingCopy, IsRefusedWhereElementsMoveAlongTwoDimensionsOrLieDifferently) {
    const polytile_domain source = box_of({{0, 7, 1}, {0, 7, 1}});
    const struct {
        polytile_domain target;
        bool is_known;
    } rows[] = {
        {box_of({{0, 7, 1}, {0, 7, 1}}), true},  {box_of({{2, 9, 1}, {0, 7, 1}}), true},
        {box_of({{0, 7, 1}, {-1, 6, 1}}), true}, {box_of({{1, 8, 1}, {1, 8, 1}}), false},
        {box_of({{1, 8, 1}, {0, 6, 1}}), false},
    };
    const pti_memory_layout from = pti_memory_layout_of(&source, element_bytes);
    for (const auto &row : rows) {
        const pti_memory_layout to = pti_memory_layout_of(&row.target, element_bytes);
        polytile_domain box;
        ASSERT_TRUE(pti_box_intersect(&source, &row.target, &box));
        pti_overlapping_copy slices;
        EXPECT_EQ(pti_overlapping_begin(&from, &to, &box, &slices), row.is_known);
    }
}

TEST(OverlappingCopy, TakesAWholeBoxAsOneSlice) {
    const polytile_domain box = box_of({{1, 9, 2}, {0, 3, 1}});
    pti_overlapping_copy slices = pti_overlapping_whole(&box);
    polytile_domain slice;
    ASSERT_TRUE(pti_overlapping_next(&slices, &slice));
    EXPECT_TRUE(pti_box_equals(&slice, &box));
    EXPECT_FALSE(pti_overlapping_next(&slices, &slice));
}

} // namespace
