#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/elements.h"
#include "support/random.h"
#include "support/scale.h"

#include <polytile/polytile.h>

extern "C" {
#include "distribute/share/ownership.h"
}

namespace {

class Ownership : public ::testing::Test {
  protected:
    Ownership() { polytile_context_create(&ctx_); }
    ~Ownership() override { polytile_context_destroy(ctx_); }

    pti_ownership of(const polytile_domain &domain, int n_members, const char *grid_text,
                     const std::string &text) {
        pti_distribution distribution;
        pti_member_grid grid;
        EXPECT_EQ(pti_distribution_parse(ctx_, text.c_str(), &distribution), POLYTILE_OK);
        EXPECT_TRUE(grid_text == nullptr || pti_member_grid_parse(grid_text, &grid));
        return pti_ownership_of(&domain, n_members, grid_text == nullptr ? nullptr : &grid,
                                &distribution);
    }

    polytile_context *ctx_ = nullptr;
};

std::string text_of(const pti_member_grid &grid) {
    std::string text;
    for (int d = 0; d < grid.n_dims; d++)
        text += (d ? "x" : "") + std::to_string(grid.extent[d]);
    return text;
}

TEST_F(Ownership, TakesTheGridThatFitsOrABalancedOne) {
    const struct {
        int n_members;
        const char *given;
        const char *distribution;
        int n_dims;
        const char *grid;
    } rows[] = {
        {6, nullptr, "block", 2, "3x2"},
        {6, "2x3", "block", 2, "2x3"},
        {6, "6", "block", 2, "6x1"},
        {6, "6x1", "block", 1, "6"},
        {6, "1x6", "block", 1, "6"},
        {6, "2x3", "block", 3, "2x3x1"},
        {6, "1x2x3", "block", 2, "3x2"},
        {6, "2x3", "block(dim=1)", 2, "1x6"},
        {6, "2x3", "block(dim=1)", 1, "6"},
        {4, nullptr, "cyclic(2)", 2, "2x2"},
        {4, nullptr, "weighted(1,2,3,4)", 2, "4x1"},
        {4, "2x2", "weighted(1,2)", 2, "2x2"},
    };
    for (const auto &row : rows) {
        const int64_t extents[] = {20, 20, 20};
        const polytile_domain domain = polytile_domain_from_extents(row.n_dims, extents);
        const pti_ownership ownership = of(domain, row.n_members, row.given, row.distribution);
        EXPECT_EQ(text_of(ownership.grid), row.grid)
            << row.distribution << " in " << row.n_dims << " dimensions";
    }
}

TEST_F(Ownership, MembersOfOneCoordinateShareItsWeightWhereTheGridDoesNotCut) {
    const struct {
        int n_members;
        const char *given;
        const char *distribution;
        std::vector<int64_t> n_owned; /* of 80 elements along a line */
    } rows[] = {
        {4, "2x2", "weighted(3,1)", {30, 30, 10, 10}},
        {4, "2x2", "weighted(1000,1000)", {20, 20, 20, 20}},
        {8, "1x2x4", "weighted(1,3)", {5, 5, 5, 5, 15, 15, 15, 15}},
        {4, "4x1", "weighted(4,2,1,1)", {40, 20, 10, 10}},
    };
    const int64_t extent = 80;
    const polytile_domain domain = polytile_domain_from_extents(1, &extent);
    for (const auto &row : rows) {
        const pti_ownership ownership = of(domain, row.n_members, row.given, row.distribution);
        std::vector<int64_t> n_owned;
        for (int q = 0; q < row.n_members; q++) {
            const polytile_domain owned = pti_ownership_hull(&ownership, q);
            n_owned.push_back(pti_box_count(&owned));
        }
        EXPECT_EQ(n_owned, row.n_owned) << row.distribution << " over " << row.given;
    }
}

TEST_F(Ownership, GivesEveryElementOneOwner) {
    Random random(test_seed("Ownership.GivesEveryElementOneOwner"));
    for (int64_t round = 0; round < scaled(1500); round++) {
        polytile_domain domain = {};
        domain.n_dims = static_cast<int>(random.number(1, 3));
        for (int d = 0; d < domain.n_dims; d++) {
            const int64_t lo = random.number(-3, 3);
            domain.range[d] = {lo, lo + random.number(0, 8), 1};
        }
        const char *texts[] = {"block",     "block(dim=0)", "block(dim=1)",
                               "cyclic(1)", "cyclic(2)",    "weighted(2,1)"};
        const int n_members = static_cast<int>(random.number(1, 8));
        const pti_ownership ownership = of(domain, n_members, nullptr, texts[random.number(0, 5)]);
        ASSERT_EQ(pti_member_grid_count(&ownership.grid), n_members);
        Elements all(domain);
        int64_t n_owned = 0;
        pti_boxes owned = {};
        for (int q = 0; q < n_members; q++) {
            pti_ownership_boxes(&ownership, q, &owned);
            Elements own(domain);
            own.add(owned);
            all.add(owned);
            n_owned += pti_boxes_count(&owned);
            polytile_domain hull = own.hull(), given = pti_ownership_hull(&ownership, q);
            for (int d = 0; d < domain.n_dims; d++)
                hull.range[d].step = 1;
            ASSERT_TRUE(pti_box_equals(&hull, &given)) << text_of(hull) << text_of(given);
        }
        pti_boxes_free(&owned);
        ASSERT_EQ(n_owned, pti_box_count(&domain));
        ASSERT_EQ(all.count(), n_owned);
    }
}

TEST_F(Ownership, RefusesGridsAndWeightsForOthersThanTheMembers) {
    const struct {
        int n_members;
        const char *grid;
        const char *distribution;
        const char *error; /* NULL: none */
    } rows[] = {
        {4, nullptr, "block", nullptr},
        {4, "2x2", "cyclic(3)", nullptr},
        {4, "2x2", "weighted(1,2)", nullptr},
        {4, "1x4", "weighted(1,2,3,4)", nullptr},
        {4, nullptr, "weighted(1,2,3,4)", nullptr},
        {4, "2x3", "block", "the grid has 6 members, but the queue has 4"},
        {4, nullptr, "weighted(1,2)", "2 weights are given for 4 parts"},
        {4, "2x2", "weighted(1,2,3,4)", "4 weights are given for 2 parts"},
    };
    for (const auto &row : rows) {
        pti_distribution distribution;
        pti_member_grid grid;
        ASSERT_EQ(pti_distribution_parse(ctx_, row.distribution, &distribution), POLYTILE_OK);
        ASSERT_TRUE(row.grid == nullptr || pti_member_grid_parse(row.grid, &grid));
        EXPECT_EQ(
            pti_ownership_check(ctx_, row.n_members, row.grid ? &grid : nullptr, &distribution),
            row.error == nullptr ? POLYTILE_OK : POLYTILE_INVALID);
        const std::string error = row.error == nullptr ? "" : row.error;
        EXPECT_NE(std::string(polytile_last_error(ctx_)).find(error), std::string::npos)
            << polytile_last_error(ctx_);
    }
}

} // namespace
