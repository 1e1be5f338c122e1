#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

extern "C" {
#include "partition/memory/relocation.h"
}

namespace {

/** Segments of some sizes, and where they lie. */
struct Placed {
    std::vector<pti_arena_segment> list;
    std::vector<int64_t> place;
    pti_segments segments = {};

    void Add(int64_t offset_bytes, int64_t size_bytes) {
        pti_arena_segment segment = {};
        segment.offset_bytes = offset_bytes;
        segment.size_bytes = size_bytes;
        list.push_back(segment);
        place.push_back(offset_bytes);
    }
    pti_placed Get() {
        segments.memory = list.data();
        segments.n_segments = static_cast<int>(list.size());
        return {&segments, place.data()};
    }
};

/** A schedule that begins from some segments, with what lies in them. */
struct Moved {
    Placed before, after;
    std::vector<pti_placement> placements;
    std::vector<int> placement_within, after_within;
    pti_schedule schedule = {};

    void AddPlacement(int within, int64_t from_bytes, int64_t size_bytes) {
        pti_placement placement = {};
        placement.offset_bytes = before.place[static_cast<size_t>(within)] + from_bytes;
        placement.layout.size_bytes = size_bytes;
        placements.push_back(placement);
        placement_within.push_back(within);
    }
    pti_schedule *Schedule() {
        schedule.placement = placements.data();
        schedule.n_placements = static_cast<int64_t>(placements.size());
        return &schedule;
    }
};

Moved draw_moved(Random *random) {
    Moved moved;
    int64_t offset_bytes = 0;
    const int n_segments = static_cast<int>(random->number(1, 6));
    for (int k = 0; k < n_segments; k++) {
        const int64_t half_bytes = 16 * random->number(1, 20);
        moved.before.Add(offset_bytes, 2 * half_bytes);
        for (const int64_t from_bytes : {int64_t(0), half_bytes}) {
            if (random->chance(70))
                moved.AddPlacement(k, from_bytes, half_bytes - random->number(0, 15));
            moved.after.Add(offset_bytes + from_bytes, half_bytes);
            moved.after_within.push_back(k);
        }
        offset_bytes += 2 * half_bytes;
    }
    return moved;
}

/** The segments in another order, one after the other. */
std::vector<int64_t> draw_places(Random *random, const Placed &before) {
    std::vector<size_t> order(before.list.size());
    std::iota(order.begin(), order.end(), 0u);
    for (size_t k = order.size(); k > 1; k--)
        std::swap(order[k - 1], order[static_cast<size_t>(random->number(0, int64_t(k) - 1))]);
    std::vector<int64_t> place(order.size());
    int64_t offset_bytes = 0;
    for (const size_t k : order) {
        place[k] = offset_bytes;
        offset_bytes += before.list[k].size_bytes;
    }
    return place;
}

TEST(Relocation, WhatLiesInASegmentMovesWithIt) {
    Random random(test_seed("Relocation.WhatLiesInASegmentMovesWithIt"));
    int n_moved = 0;
    for (int64_t k = 0; k < scaled(1000); k++) {
        Moved moved = draw_moved(&random);
        const std::vector<pti_placement> first = moved.placements;
        const pti_placed before = moved.before.Get(), after = moved.after.Get();
        pti_schedule *schedule = moved.Schedule();
        pti_relocation relocation;
        ASSERT_TRUE(pti_relocation_create(&before, &after, schedule, &relocation));
        for (int round = 0; round < 3; round++) {
            const std::vector<int64_t> place = draw_places(&random, moved.before);
            ASSERT_TRUE(pti_relocation_fits(&relocation, place.data()));
            n_moved += pti_relocation_apply(&relocation, place.data(), schedule);
            for (size_t p = 0; p < first.size(); p++) {
                const auto within = static_cast<size_t>(moved.placement_within[p]);
                ASSERT_EQ(moved.placements[p].offset_bytes - place[within],
                          first[p].offset_bytes - moved.before.place[within]);
            }
            for (size_t s = 0; s < moved.after.place.size(); s++) {
                const auto within = static_cast<size_t>(moved.after_within[s]);
                ASSERT_EQ(relocation.after[s] - place[within],
                          moved.after.place[s] - moved.before.place[within]);
            }
            ASSERT_FALSE(pti_relocation_apply(&relocation, place.data(), schedule));
        }
        pti_relocation_free(&relocation);
    }
    EXPECT_GE(n_moved, least_count(scaled(1000), 0.5));
}

/** A placement over two segments is torn where these go apart. */
TEST(Relocation, OfAPlacementOverTwoSegmentsThereIsOnlyTheFirstPlace) {
    Moved moved;
    moved.before.Add(0, 64);
    moved.before.Add(64, 64);
    moved.after.Add(0, 64);
    moved.after.Add(64, 64);
    moved.AddPlacement(0, 32, 64);
    const pti_placed before = moved.before.Get(), after = moved.after.Get();
    pti_relocation relocation;
    ASSERT_TRUE(pti_relocation_create(&before, &after, moved.Schedule(), &relocation));
    const int64_t there[] = {0, 64}, swapped[] = {64, 0};
    EXPECT_TRUE(pti_relocation_fits(&relocation, there));
    EXPECT_FALSE(pti_relocation_fits(&relocation, swapped));
    pti_relocation_free(&relocation);
}

} // namespace
