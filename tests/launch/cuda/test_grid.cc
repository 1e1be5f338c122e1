#include "support/box_memory.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <map>

extern "C" {
#include "launch/cuda/grid.h"
}

namespace {

polytile_domain box_of(const std::vector<int64_t> &counts) {
    return polytile_domain_from_extents(static_cast<int>(counts.size()), counts.data());
}

bool fits(const pti_cuda_extents &extents, const pti_cuda_extents &most) {
    return extents.x <= most.x && extents.y <= most.y && extents.z <= most.z;
}

TEST(CudaGrid, BlocksAreAWarpWideAndNoWiderThanTheBox) {
    const struct {
        std::vector<int64_t> counts;
        int n_threads;
        int64_t x, y, z;
    } rows[] = {
        {{1000000}, 256, 256, 1, 1},
        {{100}, 256, 128, 1, 1},
        {{1}, 256, 1, 1, 1},
        {{1000, 1000}, 256, 32, 8, 1},
        {{1000, 5}, 256, 8, 32, 1},
        {{2, 1000}, 256, 128, 2, 1},
        {{1000, 1000, 1000}, 1024, 32, 32, 1},
        {{1000, 2, 1000}, 256, 32, 2, 4},
        {{1000, 1, 1000}, 256, 64, 1, 4},
        {{1000, 2, 2}, 256, 2, 2, 64},
        {{1000, 1, 1}, 256, 1, 1, 64},
        {{3, 3, 2, 1000}, 128, 32, 2, 2},
        {{1000, 1000}, 96, 32, 2, 1},
    };
    for (const auto &row : rows) {
        const polytile_domain threads = box_of(row.counts);
        const pti_cuda_extents block = pti_cuda_block_for(&threads, row.n_threads);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(block.x, row.x);
        EXPECT_EQ(block.y, row.y);
        EXPECT_EQ(block.z, row.z);
    }
}

TEST(CudaGrid, WideBlocksHaveAllThreadsAlongXIfTheBoxIsAsWide) {
    const struct {
        std::vector<int64_t> counts;
        int64_t x, y, z;
    } rows[] = {{{1000, 1000}, 256, 1, 1},  {{1000, 100}, 128, 2, 1}, {{1000, 5}, 8, 32, 1},
                {{9, 2, 1000}, 256, 1, 1},  {{9, 2, 60}, 64, 2, 2},   {{1000, 1, 1}, 1, 1, 64},
                {{5, 5, 2, 100}, 128, 2, 1}};
    for (const auto &row : rows) {
        const polytile_domain threads = box_of(row.counts);
        const pti_cuda_extents block = pti_cuda_wide_block_for(&threads, 256);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(block.x, row.x);
        EXPECT_EQ(block.y, row.y);
        EXPECT_EQ(block.z, row.z);
    }
}

/** Any cut of the groups into boxes has each thread once, along the index before the last. */
TEST(CudaGrid, GroupsHaveEachThreadOnce) {
    Random random{test_seed("CudaGrid.Groups")};
    for (int64_t round = 0; round < scaled(2000); round++) {
        const int n_dims = static_cast<int>(random.number(2, 4)), along = n_dims - 2;
        polytile_domain threads = {};
        threads.n_dims = n_dims;
        for (int d = 0; d < n_dims; d++) {
            threads.range[d] = {random.number(-20, 20), 0, 1};
            threads.range[d].hi = threads.range[d].lo + random.number(0, 30);
        }
        const int n = static_cast<int>(random.number(1, 9));
        const polytile_domain groups = pti_cuda_groups_of(&threads, n);
        const int64_t n_groups = pti_range_count(groups.range[along]);
        EXPECT_EQ(n_groups, (pti_range_count(threads.range[along]) + n - 1) / n);
        int64_t next = threads.range[along].lo;
        for (int64_t g = 0; g < n_groups;) {
            polytile_domain part = groups;
            const int64_t end = random.number(g, n_groups - 1);
            part.range[along] = {groups.range[along].lo + g, groups.range[along].lo + end, 1};
            const polytile_domain members = pti_cuda_members_of(&threads, &part, n);
            for (int d = 0; d < n_dims; d++) {
                if (d != along) {
                    EXPECT_EQ(members.range[d].lo, threads.range[d].lo);
                    EXPECT_EQ(members.range[d].hi, threads.range[d].hi);
                }
            }
            EXPECT_EQ(members.range[along].lo, next);
            EXPECT_EQ((pti_range_count(members.range[along]) + n - 1) / n, end - g + 1);
            next = members.range[along].hi + 1;
            g = end + 1;
        }
        EXPECT_EQ(next, threads.range[along].hi + 1);
    }
}

TEST(CudaGrid, TheLastIndexRunsAlongXAndTheFirstOnesTogetherAlongZ) {
    const int64_t numbers[] = {2, 3, 5, 7};
    const struct {
        int n_indices;
        int64_t x, y, z;
    } rows[] = {{1, 2, 1, 1}, {2, 3, 2, 1}, {3, 5, 3, 2}, {4, 7, 5, 6}};
    for (const auto &row : rows) {
        const pti_cuda_extents extents = pti_cuda_extents_of(row.n_indices, numbers);
        EXPECT_EQ(extents.x, row.x);
        EXPECT_EQ(extents.y, row.y);
        EXPECT_EQ(extents.z, row.z);
    }
}

/** Which thread of a part runs at a place of its grid; none beyond the part's ends. */
bool thread_at(const polytile_domain &part, const pti_cuda_extents &place, Point &thread) {
    int64_t along_z = place.z;
    thread.resize(static_cast<size_t>(part.n_dims));
    for (int d = part.n_dims - 1; d >= 0; d--) {
        const polytile_range &range = part.range[d];
        const int64_t count = pti_range_count(range);
        const int from_last = part.n_dims - 1 - d;
        int64_t position = from_last == 0 ? place.x : place.y;
        if (from_last >= 2) {
            position = along_z % count;
            along_z /= count;
        }
        if (position >= count)
            return false;
        thread[static_cast<size_t>(d)] = range.lo + position;
    }
    return along_z == 0;
}

void run_grid(const polytile_domain &part, const pti_cuda_extents &block,
              std::map<Point, int> &n_runs) {
    const pti_cuda_extents grid = pti_cuda_grid_of(&part, block);
    const bool has_y = part.n_dims > 1, has_z = part.n_dims > 2;
    Point thread;
    for (int64_t z = 0; z < grid.z * block.z; z++) {
        for (int64_t y = 0; y < grid.y * block.y; y++) {
            for (int64_t x = 0; x < grid.x * block.x; x++) {
                if ((has_y || y == 0) && (has_z || z == 0) && thread_at(part, {x, y, z}, thread))
                    n_runs[thread]++;
            }
        }
    }
}

TEST(CudaGrid, RunsEveryThreadOfABoxOnce) {
    Random random(test_seed("CudaGrid.RunsEveryThreadOfABoxOnce"));
    for (int64_t round = 0; round < scaled(500) && !HasFailure(); round++) {
        std::vector<polytile_range> ranges(static_cast<size_t>(random.number(1, 5)));
        for (polytile_range &range : ranges) {
            const int64_t lo = random.number(-5, 5);
            range = {lo, lo + random.number(0, ranges.size() > 3 ? 3 : 9), 1};
        }
        const polytile_domain threads = domain_of(ranges);
        const pti_cuda_extents block =
            pti_cuda_block_for(&threads, static_cast<int>(random.one_of({1, 2, 4, 8, 32})));
        const pti_cuda_extents most = {random.number(1, 4), random.number(1, 4),
                                       random.number(1, 4)};
        const pti_cuda_grids parts = pti_cuda_grids_of(&threads, block, most);
        std::map<Point, int> n_runs;
        for (int64_t k = 0; k < parts.n_parts; k++) {
            const polytile_domain part = pti_cuda_grid_box(&threads, &parts, k);
            EXPECT_TRUE(fits(pti_cuda_grid_of(&part, block), most));
            EXPECT_TRUE(pti_box_contains(&threads, &part));
            run_grid(part, block, n_runs);
        }
        EXPECT_EQ(static_cast<int64_t>(n_runs.size()), pti_box_count(&threads));
        for (const auto &[thread, n] : n_runs)
            EXPECT_EQ(n, 1);
    }
}

TEST(CudaGrid, CutsHugeBoxesIntoGridsWithinCudasLimits) {
    const struct {
        std::vector<int64_t> counts;
        pti_cuda_extents block;
        int64_t n_parts;
    } rows[] = {
        {{int64_t{1} << 31}, {256, 1, 1}, 1},
        {{(int64_t{1} << 31) + 1}, {256, 1, 1}, 2},
        {{int64_t{1} << 45}, {256, 1, 1}, 1 << 14},
        {{65535 * 8, 1000}, {32, 8, 1}, 1},
        {{65535 * 8 + 1, 1000}, {32, 8, 1}, 2},
        {{65536, 10, 10}, {16, 16, 1}, 2},
        {{65536, 10, 10}, {16, 8, 2}, 1},
        {{1000, 1000, 10, 10}, {16, 16, 1}, 16},
        {{3, 70000, 10, 10}, {16, 16, 1}, 6},
        {{int64_t{1} << 20, int64_t{1} << 40}, {32, 8, 1}, 3 * 512},
    };
    for (const auto &row : rows) {
        const polytile_domain threads = box_of(row.counts);
        const pti_cuda_grids parts = pti_cuda_grids_of(&threads, row.block, pti_cuda_most_blocks);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(parts.n_parts, row.n_parts);
        int64_t n_threads = 0;
        pti_boxes covered = {};
        for (int64_t k = 0; k < parts.n_parts; k++) {
            const polytile_domain part = pti_cuda_grid_box(&threads, &parts, k);
            const pti_cuda_extents grid = pti_cuda_grid_of(&part, row.block);
            EXPECT_TRUE(fits(grid, pti_cuda_most_blocks));
            EXPECT_LE(grid.x * row.block.x, int64_t{UINT32_MAX});
            EXPECT_FALSE(pti_boxes_meet(&covered, &part));
            pti_boxes_append(&covered, &part);
            n_threads += pti_box_count(&part);
        }
        EXPECT_EQ(n_threads, pti_box_count(&threads));
        pti_boxes_free(&covered);
    }
}

} // namespace
