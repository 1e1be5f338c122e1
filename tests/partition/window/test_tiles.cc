#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "partition/prove/extremes.h"
#include "support/scale.h"

extern "C" {
#include "partition/prove/check.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
#include "partition/window/tiles.h"
#include "partition/window/tiles_aside.h"
}

/* Which launches of a schedule run as one, in tiles; and that the schedule checker finds whatever
 * is wrong with that. */

namespace {

/** Launches of one kernel over two fields, and the schedule in which they come one by one. */
class Tiles : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override {
        pti_schedule_free(schedule_);
        pti_text_free(&why_);
        polytile_context_destroy(ctx_);
    }

    /** The first array and the last one are fields; what is between is read by all launches. '>'
     * goes from the first to the last, '<' back, and 'x' from a third field to the first; of three
     * fields digits say how often each has become the next one. */
    void make(const char *declaration, const std::string &directions, bool has_all_rows = false) {
        const int64_t extents[] = {600, 900};
        const polytile_domain field = polytile_domain_from_extents(2, extents);
        polytile_domain threads = {2, {{2, 597, 1}, {2, 897, 1}}};
        if (has_all_rows)
            threads.range[0] = {0, 599, 1};
        polytile_kernel *kernel = nullptr;
        polytile_array *arrays[3] = {};
        polytile_plan *plan = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx_, declaration, nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx_);
        const int n_arrays = polytile_kernel_get_n_arrays(kernel);
        ASSERT_LE(n_arrays, 3);
        for (int a = 0; a < n_arrays; a++)
            ASSERT_EQ(polytile_array_describe(ctx_, polytile_kernel_get_array_name(kernel, a),
                                              POLYTILE_F32, &field, &arrays[a]),
                      POLYTILE_OK);
        polytile_array *const last = arrays[n_arrays - 1];
        polytile_array *there[] = {arrays[0], arrays[1], arrays[2]};
        polytile_array *back[] = {last, arrays[1], arrays[2]};
        back[n_arrays - 1] = arrays[0];
        polytile_array *third = nullptr;
        ASSERT_EQ(polytile_array_describe(ctx_, "X", POLYTILE_F32, &field, &third), POLYTILE_OK);
        polytile_array *begins[] = {third, arrays[1], arrays[2]};
        begins[n_arrays - 1] = arrays[0];
        polytile_array *round[][3] = {{arrays[0], arrays[1], arrays[2]},
                                      {arrays[2], arrays[0], arrays[1]},
                                      {arrays[1], arrays[2], arrays[0]}};
        std::vector<polytile_chain_launch> launches;
        for (const char direction : directions) {
            polytile_chain_launch launch = {};
            launch.kernel = kernel;
            launch.domain = threads;
            launch.n_arrays = n_arrays;
            launch.arrays = direction == 'x'   ? begins
                            : direction == '<' ? back
                            : direction == '>' ? there
                                               : round[direction - '0'];
            launches.push_back(launch);
        }
        polytile_plan_options options = {};
        options.limit_bytes = int64_t{64} << 20;
        ASSERT_EQ(polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(), 0,
                                             nullptr, &options, &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        schedule_ = pti_schedule_copy(plan->chain->subplan[0].schedule);
        ASSERT_NE(schedule_, nullptr);
    }

    void find(const pti_tile_room &room) {
        const auto all = [](const void *, int) { return PTI_TILES_ROUND; };
        EXPECT_EQ(pti_tiles_find(&room, all, nullptr, schedule_, &why_), POLYTILE_OK);
        EXPECT_EQ(pti_tiles_place_aside(schedule_, &why_), POLYTILE_OK);
    }

    int count_tiled() const {
        int n = 0;
        for (int t = 0; t < schedule_->n_tiles; t++)
            n += schedule_->tiles[t].n_launches;
        return n;
    }

    bool holds() const {
        pti_text why = {};
        const bool does = pti_schedule_check(schedule_, &why);
        last_ = why.data == nullptr ? "" : why.data;
        pti_text_free(&why);
        return does;
    }

    polytile_context *ctx_ = nullptr;
    pti_schedule *schedule_ = nullptr;
    pti_text why_ = {};
    mutable std::string last_;
};

const char *const jacobi = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const pti_tile_room room = {56 << 10, 128, 8};
const std::string turns_20 = "><><><><><><><><><><";

TEST_F(Tiles, RunAllOfARowButItsEnds) {
    make(jacobi, turns_20);
    find(room);
    EXPECT_GE(count_tiled(), 16);
    EXPECT_LT(count_tiled(), 20);
    EXPECT_TRUE(holds()) << last_;
    for (int t = 0; t < schedule_->n_tiles; t++) {
        EXPECT_EQ(schedule_->tiles[t].n_launches % 2, 1);
        EXPECT_EQ(schedule_->tiles[t].tile[1] + 2 * schedule_->tiles[t].n_launches, 128);
    }
    EXPECT_NE(std::string(why_.data).find("run as"), std::string::npos) << why_.data;
}

/** Threads are those of all rows; columns beside them stay. */
TEST_F(Tiles, GoRoundPeriodicArrays) {
    const struct {
        const char *reason;
        void (*harm)(pti_tiles *tiles);
    } rows[] = {
        {nullptr, [](pti_tiles *) {}},
        {"", [](pti_tiles *tiles) { tiles->rounds = 0; }},
        {"once round", [](pti_tiles *tiles) { tiles->rounds = 2; }},
        {"once round", [](pti_tiles *tiles) { tiles->rounds = 4; }},
        {"", [](pti_tiles *tiles) { tiles->margin_per_launch.before[0]--; }},
        {"once round", [](pti_tiles *tiles) { tiles->tile[0] = tiles->own.range[0].hi; }},
        {"no slab", [](pti_tiles *tiles) { tiles->is_of_ring = true; }},
    };
    for (const auto &row : rows) {
        make("ring[i, j]: in A[wrap(i-2), j]; out B[i, j]", turns_20, true);
        find(room);
        ASSERT_GT(schedule_->n_tiles, 0) << why_.data;
        EXPECT_EQ(schedule_->tiles[0].rounds, 1u);
        row.harm(&schedule_->tiles[0]);
        EXPECT_EQ(holds(), row.reason == nullptr) << last_;
        if (row.reason != nullptr)
            EXPECT_NE(last_.find(row.reason), std::string::npos) << last_;
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

TEST_F(Tiles, AreNotForOtherLaunches) {
    const struct {
        const char *declaration;
        std::string directions;
        pti_tile_room room;
        bool has_all_rows = false;
    } rows[] = {
        {jacobi, ">>>>>>>>>>", room},
        {jacobi, "><", room},
        {jacobi, turns_20, {56 << 10, 128, 1 << 20}},
        {jacobi, turns_20, {1 << 10, 128, 8}},
        {"far[i, j]: in A[i-1:i+1, j], K[i-2, j]; out B[i, j]", turns_20, room},
        {"row[i, j]: in A[i-1:i+1, j], K[0, j]; out B[i, j]", turns_20, room},
        {"two[i, j]: in A[i-1:i+1, j]; out B[i, j]; inout C[i, j]", turns_20, room},
        {"mean[i, j]: in A[i, :]; out B[i, j]", turns_20, room},
        {"flip[i, j]: in A[i, j]; out B[i+1, j]", turns_20, room},
        {"edge[i, j]: in A[clamp(i-2), j]; out B[i, j]", turns_20, room, true},
        {"side[i, j]: in A[i, wrap(j-3)]; out B[i, j]", turns_20, room},
    };
    for (const auto &row : rows) {
        make(row.declaration, row.directions, row.has_all_rows);
        find(row.room);
        EXPECT_EQ(schedule_->n_tiles, 0) << row.declaration << " " << row.directions;
        EXPECT_TRUE(holds()) << last_;
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

TEST_F(Tiles, HoldArraysThatNoLaunchWritesAndAreLowerForThat) {
    make(jacobi, turns_20);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    const int64_t rows = schedule_->tiles[0].tile[0] + 2 * schedule_->tiles[0].n_launches;
    pti_schedule_free(schedule_);
    make("field[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1], K[i-1:i, j]; out B[i, j]", turns_20);
    find(room);
    EXPECT_GE(count_tiled(), 14);
    EXPECT_TRUE(holds()) << last_;
    ASSERT_GE(schedule_->n_tiles, 1);
    const int64_t lower = schedule_->tiles[0].tile[0] + 2 * schedule_->tiles[0].n_launches;
    EXPECT_EQ(rows / 8 * 2 / 3, lower / 8);
}

/** A launch that reads what one before wrote is the first of a row if the next one goes back. */
TEST_F(Tiles, BeginWithTheFirstLaunchThatGoesToAndFro) {
    make(jacobi, "><x" + turns_20);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1) << (why_.data == nullptr ? "" : why_.data);
    EXPECT_EQ(schedule_->tiles[0].first_launch, 3);
    EXPECT_TRUE(holds()) << last_;
    EXPECT_EQ(std::string(why_.data).rfind("19 launches of jacobi in a row", 0), 0u) << why_.data;
}

const char *const wave = "wave[i, j]: out N[i, j]; in U[i-1:i+1, j], U[i, j-1:j+1]; in P[i, j]";
const char *const leap = "leap[i, j]: inout P[i, j]; in U[i-1:i+1, j], U[i, j-1:j+1]";
const std::string rounds_21 = "012012012012012012012";

/** Launches of three arrays in turn, the last of which runs by itself; and of two, one of which is
 * updated in place. */
TEST_F(Tiles, RunInTwoPartsWhereTwoArraysAreAlive) {
    const struct {
        const char *declaration;
        std::string directions;
    } rows[] = {{wave, rounds_21}, {leap, turns_20}};
    for (const auto &row : rows) {
        make(row.declaration, row.directions);
        find(room);
        ASSERT_GE(schedule_->n_tiles, 1) << (why_.data == nullptr ? "" : why_.data);
        EXPECT_GE(count_tiled(), 14);
        EXPECT_EQ(count_tiled() % 2, 0);
        EXPECT_TRUE(holds()) << last_;
        EXPECT_NE(std::string(why_.data).find("arrays change roles in turn, run as"),
                  std::string::npos)
            << why_.data;
        EXPECT_EQ(schedule_->tiles[0].n_stored, 2);
        EXPECT_EQ(schedule_->tiles[0].n_aside, 2);
        EXPECT_TRUE(pti_tiles_are_placed(&schedule_->tiles[0]));
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

TEST_F(Tiles, GoRoundNoPeriodicArraysOfWhichTwoAreAlive) {
    const struct {
        const char *declaration;
        std::string directions;
    } rows[] = {{"wave[i, j]: in U[wrap(i-1:i+1), j], P[i, j]; out N[i, j]", rounds_21},
                {"leap[i, j]: in U[wrap(i-1:i+1), j]; inout P[i, j]", turns_20}};
    for (const auto &row : rows) {
        make(row.declaration, row.directions, true);
        find(room);
        EXPECT_EQ(schedule_->n_tiles, 0);
        ASSERT_NE(why_.data, nullptr);
        EXPECT_NE(std::string(why_.data).find(
                      "tiles that go round periodic arrays store one array, not 2"),
                  std::string::npos)
            << why_.data;
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
        pti_text_free(&why_);
        why_ = {};
    }
    make("leap[i, j]: in U[i, j-1:j+1]; inout P[i, j]", turns_20, true);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    EXPECT_TRUE(holds()) << last_;
    schedule_->tiles[0].rounds = 1;
    EXPECT_FALSE(holds());
    EXPECT_NE(last_.find("once round"), std::string::npos) << last_;
}

TEST_F(Tiles, HaveNoPlaceAsideWhereTheDeviceIsFull) {
    make(wave, rounds_21);
    schedule_->arena_bytes = pti_schedule_peak_bytes(schedule_) + 4000000;
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    EXPECT_FALSE(pti_tiles_are_placed(&schedule_->tiles[0]));
    EXPECT_TRUE(holds()) << last_;
    EXPECT_NE(std::string(why_.data).find("tiles would store 4.12 MiB aside"), std::string::npos)
        << why_.data;
}

/** As a plan that is kept finds its arrays elsewhere when it is run again. */
TEST_F(Tiles, FindAnotherPlaceAsideWhenArraysHaveOtherPlaces) {
    make(wave, rounds_21);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    const int64_t taken = schedule_->tiles[0].aside[1].offset_bytes;
    ASSERT_GE(taken, 0);
    schedule_->placement[0].offset_bytes = taken;
    EXPECT_FALSE(holds());
    EXPECT_EQ(pti_tiles_place_aside(schedule_, &why_), POLYTILE_OK);
    EXPECT_TRUE(pti_tiles_are_placed(&schedule_->tiles[0]));
    EXPECT_TRUE(holds()) << last_;
}

TEST_F(Tiles, SayWhyLaunchesInOtherTurnsHaveNone) {
    make("leap[i, j]: inout P[i, j]; in U[i-1:i+1, j]", "><xxxxxx");
    find(room);
    EXPECT_EQ(schedule_->n_tiles, 0);
    pti_schedule_free(schedule_);
    make(wave, "01010202010102");
    find(room);
    EXPECT_EQ(schedule_->n_tiles, 0);
}

TEST_F(Tiles, SayWhatLaunchesReadTooFarOff) {
    make("far[i, j]: in A[i-1:i+1, j], K[i-2, j]; out B[i, j]", turns_20);
    find(room);
    EXPECT_EQ(
        std::string(why_.data == nullptr ? "" : why_.data),
        "19 launches of far in a row, which alternate between two arrays, run one by one: far "
        "reads K beyond the border that the arrays need which change roles");
}

/** A border is as wide as what launches read of the arrays that change; no other may need more. */
TEST_F(Tiles, AreProvedToHaveBordersForAllArrays) {
    make("cut[i, j]: in A[i-1:i+1, j], K[i, j]; out B[i, j]", turns_20);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    EXPECT_TRUE(holds()) << last_;
    pti_schedule *const narrow = schedule_;
    for (const char *declaration : {"cut[i, j]: in A[i-1:i+1, j], K[i, j-1:j]; out B[i, j]",
                                    "cut[i, j]: in A[i-1:i+1, j], K[i-2, j]; out B[i, j]",
                                    "cut[i, j]: in A[i-1:i+1, j], K[0, j]; out B[i, j]"}) {
        make(declaration, turns_20);
        ASSERT_EQ(schedule_->n_ops, narrow->n_ops);
        EXPECT_TRUE(holds()) << last_;
        std::swap(schedule_->tiles, narrow->tiles);
        std::swap(schedule_->n_tiles, narrow->n_tiles);
        EXPECT_FALSE(holds()) << declaration;
        EXPECT_NE(last_.find("beyond the border"), std::string::npos) << last_;
        std::swap(schedule_->tiles, narrow->tiles);
        std::swap(schedule_->n_tiles, narrow->n_tiles);
        pti_schedule_free(schedule_);
    }
    schedule_ = narrow;
}

/** One change to the first tiles, and the word that the checker's text has. */
struct Wrong {
    std::function<void(pti_schedule *, pti_tiles *)> change;
    const char *text;
};

TEST_F(Tiles, AreProved) {
    const Wrong wrong[] = {
        {[](pti_schedule *, pti_tiles *t) { t->margin_per_launch.before[0]--; }, "did not compute"},
        {[](pti_schedule *, pti_tiles *t) { t->margin_per_launch.after[1]--; }, "did not compute"},
        {[](pti_schedule *, pti_tiles *t) { t->stored[0] = 1 - t->stored[0]; },
         "stored by one tile"},
        {[](pti_schedule *, pti_tiles *t) { t->stored[0] = 7; }, "no such arrays"},
        {[](pti_schedule *, pti_tiles *t) { t->tile[0] = 0; }, "no tile"},
        {[](pti_schedule *, pti_tiles *t) { t->first_op = -1; }, "no such operations"},
        {[](pti_schedule *, pti_tiles *t) { t->n_ops++; }, "not all superblocks"},
        {[](pti_schedule *s, pti_tiles *t) { t->n_launches = s->n_launches + 1; }, "n"},
        {[](pti_schedule *s, pti_tiles *t) {
             s->n_lanes = 2;
             s->op[t->first_op].lane = 1;
         },
         "stream"},
        {[](pti_schedule *s, pti_tiles *t) {
             t[1].first_op = t->first_op;
             s->n_tiles = 2;
         },
         "no such operations"},
    };
    for (const Wrong &one : wrong) {
        make(jacobi, turns_20);
        find(room);
        ASSERT_GE(schedule_->n_tiles, 2);
        EXPECT_TRUE(holds()) << last_;
        one.change(schedule_, &schedule_->tiles[0]);
        EXPECT_FALSE(holds());
        EXPECT_NE(last_.find(one.text), std::string::npos) << last_;
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

TEST_F(Tiles, AreProvedInTwoParts) {
    const Wrong wrong[] = {
        {[](pti_schedule *, pti_tiles *t) { t->margin_per_launch.before[0]--; }, "did not compute"},
        {[](pti_schedule *, pti_tiles *t) { t->n_aside = 0; }, "no such arrays"},
        {[](pti_schedule *, pti_tiles *t) { t->n_aside = 1; }, "did not store"},
        {[](pti_schedule *, pti_tiles *t) { t->n_aside = 4; }, "no such arrays"},
        {[](pti_schedule *, pti_tiles *t) { t->n_stored = 4; }, "no such arrays"},
        {[](pti_schedule *, pti_tiles *t) { t->n_aside = 0, t->n_stored = 1; }, "stored by one"},
        {[](pti_schedule *, pti_tiles *t) {
             t->n_launches--;
             t->n_ops--;
         },
         "parts"},
        {[](pti_schedule *, pti_tiles *t) { t->aside[0].array = 7; }, "no such arrays"},
        {[](pti_schedule *, pti_tiles *t) { t->aside[1].array = t->aside[0].array; },
         "did not store"},
        {[](pti_schedule *, pti_tiles *t) { t->aside[0].offset_bytes += 256; }, "something else"},
        {[](pti_schedule *, pti_tiles *t) { t->aside[1].offset_bytes = 0; }, "something else"},
        {[](pti_schedule *s, pti_tiles *t) { t->aside[1].offset_bytes = s->arena_bytes - 4000; },
         "something else"},
        {[](pti_schedule *, pti_tiles *t) { t->own.range[0].hi--; }, "other threads"},
    };
    for (const Wrong &one : wrong) {
        make(leap, turns_20);
        find(room);
        ASSERT_GE(schedule_->n_tiles, 1);
        ASSERT_TRUE(pti_tiles_are_placed(&schedule_->tiles[0]));
        EXPECT_TRUE(holds()) << last_;
        one.change(schedule_, &schedule_->tiles[0]);
        EXPECT_FALSE(holds()) << one.text;
        EXPECT_NE(last_.find(one.text), std::string::npos) << one.text << ": " << last_;
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

TEST_F(Tiles, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("Tiles.NumbersThatAreAnythingAreRefused"));
    for (const char *declaration : {jacobi, leap}) {
        make(declaration, turns_20);
        find(room);
        ASSERT_GE(schedule_->n_tiles, 1);
        ExpectExtremesRefused(NumbersOf(schedule_), scaled(300), &random,
                              [this] { return holds() ? "" : last_; });
        pti_schedule_free(schedule_);
        schedule_ = nullptr;
    }
}

/** The last launch of three arrays in turn finds nothing of the array that tiles do not store. */
TEST_F(Tiles, InTwoPartsLoseWhatTheyDoNotStore) {
    make(wave, rounds_21);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 1);
    EXPECT_TRUE(holds()) << last_;
    schedule_->tiles[schedule_->n_tiles - 1].n_stored = 1;
    EXPECT_FALSE(holds());
}

/** What tiles do not store is lost, also where a launch after them would read it. */
TEST_F(Tiles, LoseWhatTheyDoNotStore) {
    make(jacobi, turns_20);
    find(room);
    ASSERT_GE(schedule_->n_tiles, 2);
    pti_tiles *last = &schedule_->tiles[schedule_->n_tiles - 1];
    pti_tiles *before = last - 1;
    before->n_launches++;
    before->n_ops++;
    last->first_op++;
    last->n_launches--;
    last->n_ops--;
    EXPECT_FALSE(holds());
}

} // namespace
