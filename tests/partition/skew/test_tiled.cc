#include "partition/prove/extremes.h"
#include "partition/skew/tiled_skew.h"
#include "support/scale.h"

/* Chains of ping-pong launches over two arrays, several of which run as one in each slab: that
 * their schedules are right both ways, and that the checker finds whatever is wrong with them. */

namespace {

using namespace tiled_skew;

TEST(TiledSkews, GroupsAreOddAndLeaveOutTheLastLaunchUnlessItsSourceIsDropped) {
    for (const bool is_dropped : {false, true}) {
        TiledSkew skew({there, back}, turns(12), is_dropped);
        skew.Tile(room);
        pti_schedule *schedule = skew.Build(shape_of(1, 12, 10, 3));
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(count_launches(*schedule), is_dropped ? 12 : 11);
        for (const auto &unit : units_of(*schedule))
            EXPECT_EQ(unit.second % 2, 1);
        EXPECT_EQ(Objection(schedule), "");
        pti_schedule_free(schedule);
    }
}

/** What launches after a row read must be what its last launch left. */
TEST(TiledSkews, ALaunchBehindARowFindsWhatTheLastOneWrote) {
    std::vector<int> order = turns(9);
    order.push_back(2);
    TiledSkew skew({there, back, reader}, order, true);
    skew.Tile(room);
    pti_schedule *schedule = skew.Build(shape_of(1, 10, 12, 2));
    ASSERT_NE(schedule, nullptr);
    EXPECT_GT(count_launches(*schedule), 2);
    EXPECT_LT(count_launches(*schedule), 9);
    EXPECT_EQ(Objection(schedule), "");
    pti_schedule_free(schedule);
}

/** A pass whose only launch writes an array of which nothing moves leaves no rows to keep. */
TEST(TiledSkews, AnArrayThatIsOnlyWrittenKeepsNothingBetweenLaps) {
    const char *const declaration = "ends[i, j]: in x[i-1:i+1, j]; out y[i, j]";
    const Kernel up = {declaration, "0:39,0:25", {{"x", 0}, {"y", 1}}};
    const Kernel down = {declaration, "0:39,0:25", {{"x", 1}, {"y", 0}}};
    TiledSkew skew({up, down}, turns(13), true);
    skew.Tile(room);
    ASSERT_NE(skew.chain().tiled, nullptr);
    pti_schedule *schedule = skew.Build(shape_of(2, 12, 5, 2));
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(Objection(schedule), "");
    pti_schedule_free(schedule);
}

TEST(TiledSkews, ADeviceWithoutTilesHasNone) {
    TiledSkew skew({there, back}, turns(12), true);
    skew.Tile({0, 48, 4});
    EXPECT_EQ(skew.chain().tiled, nullptr);
    skew.Tile({48 * 8, 48, 4});
    EXPECT_EQ(skew.chain().tiled, nullptr);
}

TEST(TiledSkews, AreProved) {
    const Wrong wrong[] = {
        {[](pti_schedule *s) { s->tiles[3].margin_per_launch.before[0]--; },
         "with others in another slab"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].margin_per_launch.before[0]--;
         },
         "did not compute"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].margin_per_launch.after[0]--;
         },
         "did not compute"},
        {[](pti_schedule *s) { s->n_tiles--; }, "one by one in another slab"},
        {[](pti_schedule *s) { s->tiles[s->n_tiles - 1].own.range[0].lo++; }, "others are stored"},
        {[](pti_schedule *s) { s->dropped[1] = false; }, "is not dropped"},
        {[](pti_schedule *s) { s->tiles[0].stored[0] = 1 - s->tiles[0].stored[0]; }, "n"},
        {[](pti_schedule *s) { s->tiles[0].is_of_slab = false; }, "n"},
        {[](pti_schedule *s) {
             const pti_tiles &last = s->tiles[s->n_tiles - 1];
             s->n_lanes = 2;
             s->op[last.first_op + last.n_ops - 1].lane = 1;
         },
         "stream"},
        {[](pti_schedule *s) { s->tiles[0].first_launch++; }, "launch"},
        {[](pti_schedule *s) { s->tiles[0].n_launches = s->n_launches + 1; }, "as many launches"},
        {[](pti_schedule *s) { s->tiles[1].n_ops--; }, "n"},
        {[](pti_schedule *s) { s->tiles[0].first_op = -1; }, "no such operations"},
    };
    for (const Wrong &one : wrong) {
        TiledSkew skew({there, back}, turns(12), true);
        skew.Tile(room);
        pti_schedule *schedule = skew.Build(shape_of(1, 12, 10, 3));
        ASSERT_NE(schedule, nullptr);
        ASSERT_GE(schedule->n_tiles, 4);
        EXPECT_EQ(Objection(schedule), "");
        one.change(schedule);
        const std::string objection = Objection(schedule);
        EXPECT_NE(objection, "");
        EXPECT_NE(objection.find(one.text), std::string::npos) << objection;
        pti_schedule_free(schedule);
    }
}

TEST(TiledSkews, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("TiledSkews.NumbersThatAreAnythingAreRefused"));
    const std::unique_ptr<TiledSkew> aside(skew_of(wave, rounds_of(wave, 25)));
    TiledSkew plain({there, back}, turns(12), true);
    for (TiledSkew *skew : {&plain, aside.get()}) {
        skew->Tile(room);
        pti_schedule *schedule = skew->Build(shape_of(1, skew->chain().n_launches, 10, 3));
        ASSERT_NE(schedule, nullptr);
        EXPECT_GT(schedule->n_tiles, 0);
        ExpectExtremesRefused(NumbersOf(schedule), scaled(1000), &random,
                              [schedule] { return Objection(schedule); });
        pti_schedule_free(schedule);
    }
}

/** With the offsets and bands of launches that run one by one, rows that tiles load are gone. */
TEST(TiledSkews, NeedTheirOffsetsAndBands) {
    TiledSkew plain({there, back}, turns(12), true), tiled({there, back}, turns(12), true);
    tiled.Tile(room);
    const pti_skew_shape shape = shape_of(1, 12, 1, 3);
    pti_schedule *schedule = plain.Build(shape);
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(Objection(schedule), "");
    mark_threes(tiled, shape.slab, 12, schedule);
    const std::string objection = Objection(schedule);
    EXPECT_NE(objection.find("run as one"), std::string::npos)
        << schedule->n_tiles << " tiles: " << objection;
    pti_schedule_free(schedule);
}

/** A launch after three that run as one must not read what they have not stored. */
TEST(TiledSkews, LoseWhatTheyDoNotStore) {
    const std::vector<int> order = {0, 1, 0, 2};
    TiledSkew plain({there, back, reader}, order, true), tiled({there, back}, turns(12), true);
    tiled.Tile(room);
    const pti_skew_shape shape = shape_of(1, 4, 10, 3);
    pti_schedule *schedule = plain.Build(shape);
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(Objection(schedule), "");
    mark_threes(tiled, shape.slab, 3, schedule);
    const std::string objection = Objection(schedule);
    EXPECT_NE(objection.find("did not store it"), std::string::npos) << objection;
    pti_schedule_free(schedule);
}

} // namespace
