#include "partition/skew/tiled_skew.h"

/* Slabs in tiles that store several arrays, in memory aside. */

namespace {

using namespace tiled_skew;

/** Groups are of whole rounds of the arrays, and store aside and where the arrays are in turn; of
 * three arrays the last launch is by itself. */
TEST(TiledSkews, GroupsOfArraysThatTakeTurnsAreAsManyThereAsBack) {
    for (const Turning &of : {wave, leap}) {
        const std::unique_ptr<TiledSkew> skew(skew_of(of, rounds_of(of, 25)));
        skew->Tile(room);
        ASSERT_NE(skew->chain().tiled, nullptr);
        pti_schedule *schedule = skew->Build(shape_of(1, 25, 10, 3));
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(count_launches(*schedule), 24);
        EXPECT_EQ(units_of(*schedule).size() % 2, 0u);
        for (const auto &unit : units_of(*schedule))
            EXPECT_EQ(unit.second % of.n_arrays, 0);
        for (int t = 0; t < schedule->n_tiles; t++)
            EXPECT_EQ(schedule->tiles[t].n_aside, 2);
        EXPECT_EQ(Objection(schedule), "");
        pti_schedule_free(schedule);
    }
}

/** Memory aside takes room from slabs. So tiles that need it are kept only where that is predicted
 * to be faster than to run launches one by one: with little memory it is not, with more it is. */
TEST(TiledSkews, KeepMemoryAsideWhereThatIsFaster) {
    const Turning large = {wave.declaration, 3, "1:3998,1:998"};
    int n_kept = 0, n_lost = 0;
    for (const int64_t arena_bytes : {3 << 20, 8 << 20, 16 << 20, 20 << 20, 24 << 20, 32 << 20}) {
        SCOPED_TRACE("an arena of " + std::to_string(arena_bytes >> 20) + " MiB");
        const std::vector<int> order = rounds_of(large, 240);
        TiledSkew apart(kernels_of(large), order, false, {"4000x1000", "4000x1000", "4000x1000"});
        TiledSkew skew(kernels_of(large), order, false, {"4000x1000", "4000x1000", "4000x1000"});
        skew.Tile(pti_tile_room_default);
        ASSERT_NE(skew.chain().tiled, nullptr);
        ASSERT_TRUE(pti_tiled_has_aside(skew.chain().tiled));
        pti_text why = {};
        pti_skew_shape untiled, tiled, chosen;
        const pti_skew_request request = apart.Request(arena_bytes);
        const pti_skew_request wanted = skew.Request(arena_bytes);
        ASSERT_TRUE(pti_skew_choose(&request, &untiled, &why)) << why.data;
        const bool has_room = pti_skew_choose(&wanted, &tiled, &why);
        ASSERT_TRUE(
            pti_skew_choose_tiled(&wanted, const_cast<pti_chain *>(&skew.chain()), &chosen, &why));
        pti_text_free(&why);
        EXPECT_LE(chosen.seconds, untiled.seconds);
        if (has_room) {
            EXPECT_LE(chosen.seconds, tiled.seconds);
        }
        const bool is_kept = skew.chain().tiled != nullptr;
        EXPECT_EQ(is_kept, has_room && tiled.seconds < untiled.seconds);
        (is_kept ? n_kept : n_lost)++;
    }
    EXPECT_GT(n_kept, 0);
    EXPECT_GT(n_lost, 0);
}

/** Return the first tiles of a slab that load from aside, or store there. */
pti_tiles *tiles_with(pti_schedule *schedule, bool is_from_aside) {
    for (int t = 0; t < schedule->n_tiles; t++)
        if (schedule->tiles[t].is_from_aside == is_from_aside &&
            !pti_box_is_empty(&schedule->tiles[t].own))
            return &schedule->tiles[t];
    return nullptr;
}

/** Let all tiles of the launches of some do as they do. */
void spread(pti_schedule *schedule, const pti_tiles *like,
            const std::function<void(pti_tiles *)> &change) {
    const int first = like->first_launch;
    for (int t = 0; t < schedule->n_tiles; t++)
        if (schedule->tiles[t].first_launch == first)
            change(&schedule->tiles[t]);
}

TEST(TiledSkews, AreProvedWithMemoryAside) {
    const Wrong wrong[] = {
        {[](pti_schedule *s) { s->tiles[0].is_from_aside = true; }, "another slab"},
        {[](pti_schedule *s) {
             spread(s, tiles_with(s, false), [](pti_tiles *t) { t->is_from_aside = true; });
         },
         "loaded from aside"},
        {[](pti_schedule *s) {
             spread(s, tiles_with(s, true), [](pti_tiles *t) { t->is_from_aside = false; });
         },
         "did not store it"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].margin_per_launch.before[0]--;
         },
         "did not compute"},
        {[](pti_schedule *s) { s->tiles[0].n_aside = 0; }, "no such arrays"},
        {[](pti_schedule *s) { s->tiles[0].n_aside = 1; }, "no such arrays"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].n_aside = s->tiles[t].n_stored = 1;
         },
         "did not store it"},
        {[](pti_schedule *s) { s->tiles[0].aside[0].placement = 0; }, "not as its array's"},
        {[](pti_schedule *s) { s->tiles[0].aside[0].offset_bytes += 8; }, "not as its array's"},
        {[](pti_schedule *s) { s->tiles[0].aside[1] = s->tiles[0].aside[0]; },
         "not as its array's"},
        {[](pti_schedule *s) { std::swap(s->tiles[0].stored[0], s->tiles[0].stored[1]); },
         "not as its array's"},
        {[](pti_schedule *s) {
             const pti_tile_aside &aside = s->tiles[0].aside[0];
             s->placement[aside.placement].offset_bytes = 0;
         },
         "is aside, where another one lies"},
        {[](pti_schedule *s) {
             const pti_tile_aside &aside = s->tiles[0].aside[0];
             s->placement[aside.placement].is_aside = false;
         },
         "aside"},
        {[](pti_schedule *s) { s->placement[0].is_aside = true; }, "aside"},
        {[](pti_schedule *s) {
             for (int64_t k = 0; k < s->n_ops; k++)
                 if (is_copy_aside(*s, s->op[k])) {
                     s->op[k].box.range[0].lo = s->op[k].box.range[0].hi;
                     s->op[k].bytes = pti_box_count(&s->op[k].box) * 8;
                 }
         },
         "is read"},
        {[](pti_schedule *s) {
             pti_tiles *last = &s->tiles[s->n_tiles - 1];
             last->own.range[0].lo++;
         },
         "others are stored"},
    };
    for (const Wrong &one : wrong) {
        const std::unique_ptr<TiledSkew> skew(skew_of(wave, rounds_of(wave, 25)));
        skew->Tile(room);
        pti_schedule *schedule = skew->Build(shape_of(1, 25, 1, 1));
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(Objection(schedule), "");
        one.change(schedule);
        const std::string objection = Objection(schedule);
        EXPECT_NE(objection, "") << one.text;
        EXPECT_NE(objection.find(one.text), std::string::npos) << objection;
        pti_schedule_free(schedule);
    }
}

/** Return whether memory aside overlaps other memory, each with each. */
bool overlaps_aside(const pti_schedule &schedule) {
    bool does = false;
    for (int64_t p = 0; p < schedule.n_placements; p++)
        for (int64_t q = 0; q < schedule.n_placements; q++)
            does |= schedule.placement[p].is_aside && !schedule.placement[q].is_aside &&
                    pti_placements_overlap(&schedule.placement[p], &schedule.placement[q]);
    return does;
}

/** Memory aside that overlaps any other is found, wherever both lie. */
TEST(TiledSkews, MemoryAsideIsApartAsComparedEachWithEach) {
    Random random(test_seed("TiledSkews.MemoryAsideIsApartAsComparedEachWithEach"));
    const std::unique_ptr<TiledSkew> skew(skew_of(wave, rounds_of(wave, 25)));
    skew->Tile(room);
    pti_schedule *schedule = skew->Build(shape_of(1, 25, 10, 2));
    ASSERT_NE(schedule, nullptr);
    schedule->arena_bytes *= 4 * schedule->n_placements;
    schedule->limit_bytes = schedule->arena_bytes;
    int n_apart = 0, n_overlapping = 0;
    for (int k = 0; k < 400 && !HasFailure(); k++) {
        for (int64_t p = 0; p < schedule->n_placements; p++) {
            pti_placement *placement = &schedule->placement[p];
            placement->offset_bytes =
                random.number(0, schedule->arena_bytes - placement->layout.size_bytes);
        }
        const bool is_found =
            Objection(schedule).find("is aside, where another one lies") != std::string::npos;
        EXPECT_EQ(is_found, overlaps_aside(*schedule));
        (is_found ? n_overlapping : n_apart)++;
    }
    EXPECT_GT(n_apart, 0);
    EXPECT_GT(n_overlapping, 0);
    pti_schedule_free(schedule);
}

} // namespace
