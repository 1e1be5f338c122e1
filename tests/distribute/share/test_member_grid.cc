#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

extern "C" {
#include "distribute/share/member_grid.h"
}

namespace {

using Extents = std::vector<int>;

Extents balanced(int n_members, int n_dims) {
    const pti_member_grid grid = pti_member_grid_balanced(n_members, n_dims);
    EXPECT_EQ(grid.n_dims, n_dims);
    return Extents(grid.extent, grid.extent + grid.n_dims);
}

/** Call visit(extents) for every way to write a number as a product, in any order. */
template <class Visit> void for_each_product(int n, int n_dims, Extents *extents, Visit visit) {
    if (n_dims == 0) {
        if (n == 1)
            visit(*extents);
        return;
    }
    for (int extent = 1; extent <= n; extent++)
        if (n % extent == 0) {
            extents->push_back(extent);
            for_each_product(n / extent, n_dims - 1, extents, visit);
            extents->pop_back();
        }
}

/* MPI 4.0, section 8.5.2, has the first three among its examples. */
TEST(MemberGrid, IsWhatMpiDimsCreateMakesInTheStandard) {
    EXPECT_EQ(balanced(6, 2), Extents({3, 2}));
    EXPECT_EQ(balanced(7, 2), Extents({7, 1}));
    EXPECT_EQ(balanced(6, 3), Extents({3, 2, 1}));
    EXPECT_EQ(balanced(1, 3), Extents({1, 1, 1}));
    EXPECT_EQ(balanced(16, 2), Extents({4, 4}));
    EXPECT_EQ(balanced(12, 3), Extents({3, 2, 2}));
    EXPECT_EQ(balanced(72, 2), Extents({9, 8}));
    EXPECT_EQ(balanced(4096, 3), Extents({16, 16, 16}));
    EXPECT_EQ(balanced(4099, 2), Extents({4099, 1}));
}

TEST(MemberGrid, HasTheLeastLargestExtentsOfAll) {
    for (int n_dims = 1; n_dims <= 4; n_dims++)
        for (int n = 1; n <= 130; n++) {
            Extents best = {n + 1}, extents;
            for_each_product(n, n_dims, &extents, [&](Extents sorted) {
                std::sort(sorted.rbegin(), sorted.rend());
                best = std::min(best, sorted);
            });
            ASSERT_EQ(balanced(n, n_dims), best) << n << " in " << n_dims << " dimensions";
        }
}

TEST(MemberGrid, LeavesShortDimensionsWhole) {
    const struct {
        int n_members;
        std::vector<int64_t> domain;
        Extents extents;
    } rows[] = {
        {6, {100, 100}, {3, 2}},
        {4, {1000, 3}, {4, 1}},
        {4, {1, 1000}, {1, 4}},
        {4, {1000, 1, 1000}, {2, 1, 2}},
        {4, {16, 16}, {2, 2}},
        {4, {15, 1000}, {1, 4}},
        {64, {40, 100000}, {1, 64}},
        {6, {20, 20}, {3, 2}},
        {8, {3, 500, 500, 3}, {1, 4, 2, 1}},
        {12, {1000, 1000, 1000}, {3, 2, 2}},
        {5, {2}, {5}},
        {1, {1, 1}, {1, 1}},
    };
    for (const auto &row : rows) {
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(row.domain.size()), row.domain.data());
        const pti_member_grid grid = pti_member_grid_for(row.n_members, &domain);
        EXPECT_EQ(Extents(grid.extent, grid.extent + grid.n_dims), row.extents)
            << row.n_members << " members over " << testing::PrintToString(row.domain);
    }
}

TEST(MemberGrid, LocatesMembersInCOrder) {
    pti_member_grid grid;
    ASSERT_TRUE(pti_member_grid_parse("3x2x4", &grid));
    ASSERT_EQ(pti_member_grid_count(&grid), 24);
    int member = 0, at[POLYTILE_MAX_DIMS];
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 2; y++)
            for (int z = 0; z < 4; z++) {
                pti_member_grid_locate(&grid, member++, at);
                ASSERT_EQ(Extents(at, at + 3), Extents({x, y, z}));
            }
}

TEST(MemberGrid, IsReadFromText) {
    pti_member_grid grid;
    ASSERT_TRUE(pti_member_grid_parse("4", &grid));
    EXPECT_EQ(Extents(grid.extent, grid.extent + grid.n_dims), Extents({4}));
    ASSERT_TRUE(pti_member_grid_parse("1x1x1x1x1x1x1x9", &grid));
    EXPECT_EQ(pti_member_grid_count(&grid), 9);
    for (const char *wrong :
         {"", "x", "4x", "x4", "0", "2x0", "-1x2", "2 x2", "2x2 ", "2,2", "2xx2", "2147483648",
          "65536x65536", "99999999999999999999", "1x1x1x1x1x1x1x1x1"})
        EXPECT_FALSE(pti_member_grid_parse(wrong, &grid)) << "'" << wrong << "'";
}

} // namespace
