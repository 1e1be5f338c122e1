#include <gtest/gtest.h>

#include <cstdlib>

#include <jansson.h>

#include "distribute/shared_program.h"

extern "C" {
#include "distribute/outer_plan.h"
}

namespace {

class OuterPlan : public ::testing::Test {
  protected:
    ~OuterPlan() override { pti_outer_plan_free(plan_); }

    /** One launch over arrays of 16 by 16 and lines of 16. */
    polytile_status make(const char *declaration, polytile_domain threads,
                         const std::vector<int> &n_dims, int n_members, const char *grid_text,
                         const char *layout) {
        const int64_t extents[] = {16, 16};
        std::vector<int> arrays;
        pti_member_grid grid = {};
        for (int n : n_dims)
            arrays.push_back(
                program_.add_array(polytile_domain_from_extents(n, extents), 1, "", "block"));
        EXPECT_TRUE(program_.add_launch(declaration, threads, arrays)) << program_.error();
        const bool has_grid = pti_member_grid_parse(grid_text, &grid);
        return pti_outer_plan_create(program_.context(), program_.launches().back().instance,
                                     n_members, has_grid ? &grid : nullptr, layout, &plan_);
    }

    std::string text(polytile_format format) {
        char *text = pti_outer_plan_to_string(plan_, format);
        const std::string copy = text == nullptr ? "" : text;
        std::free(text);
        return copy;
    }

    const polytile_domain inner_ = {2, {{1, 14, 1}, {1, 14, 1}}};
    SharedProgram program_;
    pti_outer_plan *plan_ = nullptr;
};

const char *const nine_points = "nine[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]";

TEST_F(OuterPlan, CountsWhatComesFromEachNeighbour) {
    ASSERT_EQ(make(nine_points, inner_, {2, 2}, 4, "2x2", nullptr), POLYTILE_OK);
    ASSERT_EQ(plan_->n_members, 4);
    for (int q = 0; q < 4; q++) {
        const pti_outer_member &member = plan_->member[q];
        EXPECT_EQ(member.n_threads, 49);
        EXPECT_EQ(member.owned_bytes, 2 * 64 * 4);
        EXPECT_EQ(member.received_bytes, 17 * 4);
        EXPECT_EQ(member.n_messages, 3);
        ASSERT_EQ(member.n_neighbours, 3);
        for (int k = 0; k < 3; k++) {
            const pti_outer_neighbour &neighbour = member.neighbour[k];
            EXPECT_EQ(neighbour.n_bytes, neighbour.member == 3 - q ? 4 : 32);
            EXPECT_EQ(neighbour.n_messages, 1);
        }
    }
    EXPECT_EQ(plan_->combined_bytes, 0);
}

TEST_F(OuterPlan, SaysWhatIsCombined) {
    const int64_t n = 16;
    ASSERT_EQ(make("dot[i]: in x[i]; out sum s[0]", polytile_domain_from_extents(1, &n), {1, 1}, 8,
                   "", "block"),
              POLYTILE_OK);
    EXPECT_EQ(plan_->combined_bytes, 4);
    EXPECT_EQ(plan_->member[7].n_threads, 2);
    EXPECT_EQ(plan_->member[7].received_bytes, 0);
}

TEST_F(OuterPlan, IsPrintedForPeople) {
    ASSERT_EQ(make(nine_points, inner_, {2, 2}, 2, "", "block(dim=0)"), POLYTILE_OK);
    EXPECT_EQ(text(POLYTILE_TEXT),
              "nine over 2 ranks, 2x1, block(dim=0)\n"
              "  rank              threads        owned     received messages  from\n"
              "     0                   98        1 KiB         64 B        1  1: 64 B\n"
              "     1                   98        1 KiB         64 B        1  0: 64 B\n");
    EXPECT_EQ(text(POLYTILE_SVG), "");
}

TEST_F(OuterPlan, IsPrintedForPrograms) {
    ASSERT_EQ(make(nine_points, inner_, {2, 2}, 6, "3x2", "block"), POLYTILE_OK);
    json_t *root = json_loads(text(POLYTILE_JSON).c_str(), 0, nullptr);
    ASSERT_NE(root, nullptr);
    EXPECT_EQ(json_integer_value(json_object_get(root, "ranks")), 6);
    EXPECT_EQ(json_integer_value(json_array_get(json_object_get(root, "grid"), 0)), 3);
    json_t *members = json_object_get(root, "members");
    ASSERT_EQ(json_array_size(members), 6U);
    int64_t n_threads = 0;
    for (size_t q = 0; q < 6; q++)
        n_threads += json_integer_value(json_object_get(json_array_get(members, q), "threads"));
    EXPECT_EQ(n_threads, 14 * 14);
    json_t *last = json_array_get(members, 5);
    EXPECT_EQ(json_integer_value(json_array_get(json_object_get(last, "hi"), 1)), 14);
    EXPECT_EQ(json_array_size(json_object_get(last, "from")), 3U);
    json_decref(root);
}

TEST_F(OuterPlan, WrongLayoutsAndGridsAreRefused) {
    EXPECT_EQ(make(nine_points, inner_, {2, 2}, 4, "", "blok"), POLYTILE_INVALID);
    EXPECT_EQ(plan_, nullptr);
    EXPECT_EQ(make(nine_points, inner_, {2, 2}, 4, "3x2", "block"), POLYTILE_INVALID);
    EXPECT_EQ(plan_, nullptr);
}

} // namespace
