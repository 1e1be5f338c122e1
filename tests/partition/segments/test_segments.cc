#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/segments/segments.h"
}

/* Segments of an arena in random use, against all runs of neighbours that there are. */

namespace {

using Image = pti_resident_image;

/** What each image costs; images are addresses of elements of this list, and never looked into. */
struct Costs {
    std::vector<pti_eviction_cost> of;

    Image *image(size_t k) { return reinterpret_cast<Image *>(&of[k]); }
};

pti_eviction_cost cost_of(const void *, Image *image) {
    return *reinterpret_cast<const pti_eviction_cost *>(image);
}

int64_t last_use_of(const Image *image) {
    return reinterpret_cast<const pti_eviction_cost *>(image)->last_use;
}

const pti_eviction_costs costs_of_images = {nullptr, cost_of, last_use_of};

pti_eviction_cost draw_cost(Random *random) {
    pti_eviction_cost cost = {};
    cost.never = random->chance(15);
    cost.next_use = random->one_of({3, 5, 9, INT64_MAX});
    cost.last_use = random->number(0, 4);
    cost.is_dirty = random->chance(50);
    return cost;
}

/** What taking a run loses, so that a smaller one is better; nothing if it must stay. */
using Loss = std::tuple<int64_t, bool, int64_t, int64_t>;

std::optional<Loss> loss_of(const pti_segments &segments, int first, int end) {
    int64_t next_use = INT64_MAX, last_use = INT64_MIN, n_bytes = 0;
    bool is_dirty = false;
    for (int k = first; k < end; k++) {
        const pti_arena_segment &memory = segments.memory[k];
        n_bytes += memory.size_bytes;
        if (memory.image == nullptr)
            continue;
        const pti_eviction_cost cost = cost_of(nullptr, memory.image);
        if (cost.never)
            return std::nullopt;
        next_use = std::min(next_use, cost.next_use);
        last_use = std::max(last_use, cost.last_use);
        is_dirty = is_dirty || cost.is_dirty;
    }
    return Loss{-next_use, is_dirty, last_use, n_bytes};
}

/** The least loss of all runs with room for so many bytes that no shorter run from the same segment
 * has. */
std::optional<Loss> least_loss(const pti_segments &segments, int64_t size_bytes) {
    std::optional<Loss> least;
    for (int first = 0; first < segments.n_segments; first++) {
        int64_t n_bytes = 0;
        int end = first;
        while (end < segments.n_segments && n_bytes < size_bytes)
            n_bytes += segments.memory[end++].size_bytes;
        const std::optional<Loss> loss =
            n_bytes < size_bytes ? std::nullopt : loss_of(segments, first, end);
        if (loss && (!least || *loss < *least))
            least = loss;
    }
    return least;
}

void expect_whole(const pti_segments &segments, int64_t arena_bytes) {
    int64_t offset_bytes = 0;
    for (int k = 0; k < segments.n_segments; k++) {
        const pti_arena_segment &memory = segments.memory[k];
        ASSERT_EQ(memory.offset_bytes, offset_bytes);
        ASSERT_GT(memory.size_bytes, 0);
        ASSERT_EQ(pti_segments_at(&segments, offset_bytes), &memory);
        offset_bytes += memory.size_bytes;
    }
    ASSERT_EQ(offset_bytes, arena_bytes);
}

/** The latest use of each byte of the arena, by stream 0. */
std::vector<int64_t> uses_of(const pti_segments &segments) {
    std::vector<int64_t> uses;
    for (int k = 0; k < segments.n_segments; k++)
        uses.insert(uses.end(), static_cast<size_t>(segments.memory[k].size_bytes),
                    pti_last_on(&segments.memory[k].users, 0));
    return uses;
}

/** Empty a run, and give its beginning to an image, of a single segment what lies behind some
 * bytes. */
void take_run(pti_segments *segments, pti_segment_run run, int64_t size_bytes, Image *image,
              int64_t front_bytes = 0) {
    const std::vector<int64_t> before = uses_of(*segments);
    const int64_t offset_bytes = segments->memory[run.first].offset_bytes + front_bytes;
    for (int k = 0; k < run.n_segments; k++)
        segments->memory[run.first + k].image = nullptr;
    if (front_bytes > 0)
        run = pti_segments_leave_front(segments, run, front_bytes);
    pti_arena_segment *taken = pti_segments_take(segments, run, size_bytes, image);
    ASSERT_NE(taken, nullptr);
    EXPECT_EQ(taken->image, image);
    EXPECT_EQ(taken->offset_bytes, offset_bytes);
    EXPECT_EQ(taken->size_bytes, size_bytes);
    const std::vector<int64_t> after = uses_of(*segments);
    for (size_t byte = 0; byte < before.size(); byte++)
        ASSERT_GE(after[byte], before[byte]) << "a use of byte " << byte << " is forgotten";
}

TEST(SegmentsRandom, TheRunOfLeastLossIsFoundAndNoUseIsForgotten) {
    Random random(test_seed("SegmentsRandom"));
    for (int64_t round = scaled(200); round > 0; round--) {
        const int64_t arena_bytes = random.number(1, 60);
        pti_segments segments = {};
        Costs costs;
        costs.of.resize(40);
        for (pti_eviction_cost &cost : costs.of)
            cost = draw_cost(&random);
        ASSERT_TRUE(pti_segments_begin(&segments, arena_bytes));
        for (size_t k = 0; k < costs.of.size(); k++) {
            const int64_t size_bytes = random.number(1, 20);
            const std::optional<Loss> least = least_loss(segments, size_bytes);
            const pti_segment_run run = pti_segments_find(&segments, size_bytes, &costs_of_images);
            ASSERT_EQ(run.n_segments > 0, least.has_value());
            if (least) {
                ASSERT_EQ(loss_of(segments, run.first, run.first + run.n_segments), least);
                const pti_arena_segment first = segments.memory[run.first];
                const int64_t left_bytes =
                    run.n_segments == 1 ? random.number(0, first.size_bytes - size_bytes) : 0;
                take_run(&segments, run, size_bytes, costs.image(k), left_bytes);
                pti_last_note_on(
                    &pti_segments_at(&segments, first.offset_bytes + left_bytes)->users,
                    PTI_STREAM_IN, static_cast<int64_t>(k));
            }
            if (random.chance(30))
                pti_segments_join(&segments);
            expect_whole(segments, arena_bytes);
        }
        pti_segments_free(&segments);
    }
}

pti_eviction_cost count_and_cost_of(const void *n_asked, Image *image) {
    ++*static_cast<int *>(const_cast<void *>(n_asked));
    return cost_of(nullptr, image);
}

/** As where data stream through the arena: the images used longest ago lie behind the newest
 * one. */
TEST(Segments, FewImagesAreAskedWhereNoneIsUsedAgain) {
    constexpr size_t n_images = 100;
    for (const size_t oldest : {size_t{0}, size_t{1}, size_t{40}, n_images - 1}) {
        pti_segments segments = {};
        Costs costs;
        costs.of.resize(n_images);
        ASSERT_TRUE(pti_segments_begin(&segments, 10 * n_images));
        for (size_t k = 0; k < n_images; k++) {
            const auto last_use = static_cast<int64_t>((k + n_images - oldest) % n_images);
            costs.of[k] = {false, INT64_MAX, last_use, false};
            take_run(&segments, {static_cast<int>(k), 1}, 10, costs.image(k));
        }
        int n_asked = 0;
        const pti_eviction_costs counted = {&n_asked, count_and_cost_of, last_use_of};
        const pti_segment_run run = pti_segments_find(&segments, 10, &counted);
        EXPECT_EQ(run.first, static_cast<int>(oldest));
        EXPECT_EQ(run.n_segments, 1);
        EXPECT_LE(n_asked, 2);
        pti_segments_free(&segments);
    }
}

TEST(Segments, FreeNeighboursAreJoinedWithTheirUses) {
    pti_segments segments = {}, copy = {};
    Costs costs;
    costs.of.resize(3);
    ASSERT_TRUE(pti_segments_begin(&segments, 40));
    for (size_t k = 0; k < 3; k++)
        take_run(&segments, {static_cast<int>(k), 1}, 10, costs.image(k));
    segments.memory[1].image = segments.memory[2].image = nullptr;
    pti_last_note_on(&segments.memory[1].users, PTI_STREAM_IN, 7);
    pti_last_note_on(&segments.memory[2].users, PTI_STREAM_IN, 4);
    ASSERT_TRUE(pti_segments_copy(&segments, &copy));
    pti_segments_join(&segments);
    ASSERT_EQ(segments.n_segments, 2);
    EXPECT_EQ(segments.memory[1].size_bytes, 30);
    EXPECT_EQ(pti_last_on(&segments.memory[1].users, 0), 7);
    EXPECT_EQ(copy.n_segments, 4);
    pti_segments_reset(&copy);
    EXPECT_EQ(copy.n_segments, 2);
    EXPECT_EQ(pti_last_on(&copy.memory[1].users, 0), -1);
    pti_segments_free(&segments);
    pti_segments_free(&copy);
}

} // namespace
