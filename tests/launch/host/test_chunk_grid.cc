#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

extern "C" {
#include "launch/host/chunk_grid.h"
}

namespace {

const bool all[POLYTILE_MAX_DIMS] = {true, true, true, true, true, true, true, true};

polytile_domain box_of(const std::vector<int64_t> &extents) {
    return polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
}

TEST(ChunkGrid, ChunksAreDisjointAndCoverTheBox) {
    Random random(test_seed("ChunkGrid.ChunksAreDisjointAndCoverTheBox"));
    for (int64_t round = 0; round < scaled(2000) && !testing::Test::HasFailure(); round++) {
        polytile_domain box = {};
        box.n_dims = static_cast<int>(random.number(1, 4));
        for (int d = 0; d < box.n_dims; d++) {
            const int64_t lo = random.number(-9, 9);
            box.range[d] = {lo, lo + random.number(0, 9), 1};
        }
        const int n_workers = static_cast<int>(random.number(1, 20));
        const pti_chunk_grid grid = pti_chunk_grid_evenly(&box, n_workers, all);
        EXPECT_LE(grid.n_chunks, n_workers);
        pti_boxes set = {};
        int64_t n_elements = 0;
        for (int64_t k = 0; k < grid.n_chunks; k++) {
            const polytile_domain chunk = pti_chunk_grid_get(&box, &grid, k);
            EXPECT_TRUE(pti_box_contains(&box, &chunk));
            n_elements += pti_box_count(&chunk);
            pti_boxes_add(&set, &chunk);
        }
        EXPECT_EQ(n_elements, pti_box_count(&box));
        EXPECT_EQ(pti_boxes_count(&set), pti_box_count(&box));
        pti_boxes_free(&set);
    }
}

TEST(ChunkGrid, GivesAllWorkersEqualWorkWhereItCan) {
    const struct {
        std::vector<int64_t> extents;
        int n_workers;
        std::vector<int64_t> n_chunks_along;
    } rows[] = {
        {{1000}, 2, {2}},
        {{1}, 2, {1}},
        {{3}, 16, {3}},
        {{8192, 8192}, 16, {16, 1}},
        {{1, 8192}, 16, {1, 16}},
        {{4, 8192}, 16, {4, 4}},
        {{3, 1000}, 2, {1, 2}},
        {{3, 1000}, 7, {1, 7}},
        {{2, 2, 1000}, 8, {2, 2, 2}},
        {{5, 7}, 1, {1, 1}},
    };
    for (const auto &row : rows) {
        const polytile_domain box = box_of(row.extents);
        const pti_chunk_grid grid = pti_chunk_grid_evenly(&box, row.n_workers, all);
        EXPECT_EQ(std::vector<int64_t>(grid.n_chunks_along, grid.n_chunks_along + box.n_dims),
                  row.n_chunks_along);
    }
}

TEST(ChunkGrid, LeavesOtherDimensionsWhole) {
    const bool only_last[POLYTILE_MAX_DIMS] = {false, true};
    const polytile_domain box = box_of({100, 100});
    const pti_chunk_grid grid = pti_chunk_grid_evenly(&box, 4, only_last);
    EXPECT_EQ(grid.n_chunks_along[0], 1);
    EXPECT_EQ(grid.n_chunks_along[1], 4);
}

TEST(ChunkGrid, HandlesExtentsNearTheLargest) {
    polytile_domain box = {};
    box.n_dims = 1;
    box.range[0] = {-(int64_t(1) << 60), int64_t(1) << 60, 1};
    const pti_chunk_grid grid = pti_chunk_grid_evenly(&box, 1024, all);
    EXPECT_EQ(grid.n_chunks, 1024);
    EXPECT_EQ(pti_chunk_grid_get(&box, &grid, 1023).range[0].hi, box.range[0].hi);
}

} // namespace
