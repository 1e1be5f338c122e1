#include <algorithm>
#include <gtest/gtest.h>

#include "support/elements.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/set/box.h"
#include "partition/cost/grid.h"
}

/* Grids of blocks, against enumeration of their threads. */

namespace {

/** A launch domain, its grid, and the shape of superblocks in blocks. */
struct Cut {
    pti_grid grid;
    int64_t shape[POLYTILE_MAX_DIMS];
};

Cut draw_cut(Random *random) {
    polytile_domain threads = {};
    int64_t block[POLYTILE_MAX_DIMS];
    threads.n_dims = static_cast<int>(random->number(1, 3));
    for (int d = 0; d < threads.n_dims; d++) {
        const int64_t lo = random->number(-9, 9);
        threads.range[d] = {lo, lo + random->number(0, 11), 1};
        block[d] = random->number(1, pti_range_count(threads.range[d]));
    }
    Cut cut = {pti_grid_of(&threads, block), {}};
    for (int d = 0; d < threads.n_dims; d++)
        cut.shape[d] = random->number(1, cut.grid.n_blocks[d]);
    return cut;
}

/** The positions of all superblocks of a shape, as a box. */
polytile_domain positions_of(const pti_grid &grid, const int64_t *shape) {
    polytile_domain positions = {};
    positions.n_dims = grid.threads.n_dims;
    for (int d = 0; d < positions.n_dims; d++)
        positions.range[d] = {0, pti_grid_quotient(&grid, shape, d) - 1, 1};
    return positions;
}

TEST(GridRandom, SuperblocksAreDisjointBoxesOfWholeBlocksThatCoverTheDomain) {
    Random random(test_seed("GridRandom.Superblocks"));
    for (int64_t round = scaled(400); round > 0; round--) {
        const Cut cut = draw_cut(&random);
        const polytile_domain &threads = cut.grid.threads;
        int64_t n_superblocks = 0, n_threads = 0;
        for_each_point(positions_of(cut.grid, cut.shape), [&](const Point &position) {
            const polytile_domain box = pti_grid_superblock(&cut.grid, cut.shape, position.data());
            n_superblocks++;
            n_threads += pti_box_count(&box);
            ASSERT_TRUE(pti_box_contains(&threads, &box));
            for (int d = 0; d < threads.n_dims; d++) {
                const int64_t first = box.range[d].lo - threads.range[d].lo;
                const int64_t end = box.range[d].hi + 1 - threads.range[d].lo;
                const bool is_last = box.range[d].hi == threads.range[d].hi;
                ASSERT_EQ(first,
                          position[static_cast<size_t>(d)] * cut.shape[d] * cut.grid.block[d]);
                ASSERT_TRUE(is_last || end == first + cut.shape[d] * cut.grid.block[d]);
            }
        });
        EXPECT_EQ(n_superblocks, pti_grid_n_superblocks(&cut.grid, cut.shape));
        EXPECT_EQ(n_threads, pti_box_count(&threads));
    }
}

TEST(GridRandom, ABoxOfBlocksHasTheThreadsOfItsBlocks) {
    Random random(test_seed("GridRandom.Boxes"));
    for (int64_t round = scaled(400); round > 0; round--) {
        const Cut cut = draw_cut(&random);
        int64_t first[POLYTILE_MAX_DIMS];
        for (int d = 0; d < cut.grid.threads.n_dims; d++)
            first[d] = random.number(0, cut.grid.n_blocks[d] - 1);
        const polytile_domain box = pti_grid_box(&cut.grid, first, cut.shape);
        int64_t n_threads = 0;
        for_each_point(positions_of(cut.grid, pti_one_block), [&](const Point &block) {
            const polytile_domain threads =
                pti_grid_superblock(&cut.grid, pti_one_block, block.data());
            bool is_in = true;
            for (int d = 0; d < box.n_dims; d++) {
                const int64_t at = block[static_cast<size_t>(d)];
                is_in = is_in && at >= first[d] && at < first[d] + cut.shape[d];
            }
            n_threads += is_in ? pti_box_count(&threads) : 0;
            ASSERT_EQ(pti_box_contains(&box, &threads), is_in);
        });
        EXPECT_EQ(n_threads, pti_box_count(&box));
    }
}

TEST(Grid, MoreSuperblocksThan64BitsCountAreTheMost) {
    polytile_domain threads = {};
    int64_t block[POLYTILE_MAX_DIMS];
    threads.n_dims = 3;
    for (int d = 0; d < 3; d++) {
        threads.range[d] = {0, (int64_t{1} << 40) - 1, 1};
        block[d] = 1;
    }
    const pti_grid grid = pti_grid_of(&threads, block);
    EXPECT_EQ(pti_grid_n_superblocks(&grid, pti_one_block), INT64_MAX);
}

TEST(Grid, DefaultBlocksAreWarpsOf256ThreadsWithinTheDomain) {
    const struct {
        std::vector<int64_t> extents, block;
    } rows[] = {{{1000}, {256}},
                {{7}, {7}},
                {{100, 100}, {8, 32}},
                {{100, 5}, {8, 5}},
                {{100, 100, 100}, {1, 8, 32}},
                {{3, 3, 3, 3}, {1, 2, 3, 3}}};
    for (const auto &row : rows) {
        polytile_domain threads = {};
        int64_t block[POLYTILE_MAX_DIMS];
        threads.n_dims = static_cast<int>(row.extents.size());
        for (int d = 0; d < threads.n_dims; d++)
            threads.range[d] = {1, row.extents[static_cast<size_t>(d)], 1};
        pti_grid_default_block(&threads, block);
        EXPECT_EQ(std::vector<int64_t>(block, block + threads.n_dims), row.block);
    }
}

TEST(Grid, HalvingEndsAtOneThread) {
    int64_t block[] = {5, 32, 1};
    int64_t largest = 32;
    int n_halves = 0;
    while (pti_grid_halve_block(3, block)) {
        const int64_t now = *std::max_element(block, block + 3);
        EXPECT_LE(now, largest);
        largest = now;
        n_halves++;
    }
    EXPECT_EQ(n_halves, 3 + 5);
    EXPECT_EQ(largest, 1);
}

} // namespace
