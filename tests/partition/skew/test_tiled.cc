#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include "support/scale.h"

#include <functional>

extern "C" {
#include "partition/skew/tiled.h"
}

/* Chains of ping-pong launches over two arrays, several of which run as one in each slab: that
 * their schedules are right both ways, and that the checker finds whatever is wrong with them. */

namespace {

const std::vector<std::string> two_fields = {"40x26", "40x26"};
const Kernel there = {
    "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]", "1:38,1:24", {{"x", 0}, {"y", 1}}};
const Kernel back = {
    "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]", "1:38,1:24", {{"x", 1}, {"y", 0}}};
const Kernel border = {"edge[i, j]: in x[i, j]; out y[i, j]", "0:39,0:0", {{"x", 0}, {"y", 1}}};
const Kernel reader = {
    "mean[i, j]: in x[i-1:i+1, j]; inout y[i, j]", "1:38,1:24", {{"x", 1}, {"y", 0}}};

/** A device whose tiles are of 48 rows and 48 columns of eight bytes. */
const pti_tile_room room = {48 * 48 * 8, 48, 4};

/** A chain, and which of its launches may run as one. */
class TiledSkew : public Skewed {
  public:
    TiledSkew(const std::vector<Kernel> &kernels, const std::vector<int> &order, bool is_dropped)
        : Skewed(two_fields, kernels) {
        for (const int kernel : order)
            Add(kernel);
        if (is_dropped)
            MakeScratch(1);
        EXPECT_EQ(Find(), "");
    }

    void Tile(const pti_tile_room &of) {
        const std::vector<pti_tile_kernel> tiles(static_cast<size_t>(chain().n_launches),
                                                 PTI_TILES_ROUND);
        pti_skew_request request = Request(0);
        EXPECT_EQ(
            pti_tiled_find(&of, tiles.data(), request.dropped, const_cast<pti_chain *>(&chain())),
            POLYTILE_OK);
    }

    pti_schedule *Build(const pti_skew_shape &shape) {
        const pti_skew_request request = Request(ArenaOf(chain(), shape));
        return pti_skew_build(&request, &shape);
    }
};

/** To and fro, so many times. */
std::vector<int> turns(int n) {
    std::vector<int> order;
    for (int k = 0; k < n; k++)
        order.push_back(k % 2);
    return order;
}

pti_skew_shape shape_of(int n_passes, int n_per_pass, int64_t slab, int64_t n_per_lap) {
    pti_skew_shape shape = {};
    shape.n_passes = n_passes;
    shape.n_per_pass = n_per_pass;
    shape.slab = slab;
    shape.n_per_lap = n_per_lap;
    return shape;
}

std::set<std::pair<int, int>> units_of(const pti_schedule &schedule) {
    std::set<std::pair<int, int>> units;
    for (int t = 0; t < schedule.n_tiles; t++)
        units.insert({schedule.tiles[t].first_launch, schedule.tiles[t].n_launches});
    return units;
}

int count_launches(const pti_schedule &schedule) {
    int n = 0;
    for (const auto &unit : units_of(schedule))
        n += unit.second;
    return n;
}

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

/** One change to a right schedule, and the words that the checker's text has. */
struct Wrong {
    std::function<void(pti_schedule *)> change;
    const char *text;
};

TEST(TiledSkews, AreProved) {
    const Wrong wrong[] = {
        {[](pti_schedule *s) { s->tiles[3].step.before[0]--; }, "with others in another slab"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].step.before[0]--;
         },
         "did not compute"},
        {[](pti_schedule *s) {
             for (int t = 0; t < s->n_tiles; t++)
                 s->tiles[t].step.after[0]--;
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

/** Let three launches at a time of a schedule that has no tiles, of the first so many, run as one
 * in each slab. */
void mark_threes(const TiledSkew &skew, int64_t slab, int n_marked, pti_schedule *schedule) {
    std::vector<pti_tiles> made;
    for (int64_t k = 0; k < schedule->n_ops;) {
        const int64_t first_op = k;
        if (schedule->op[k].kind != PTI_LAUNCH || schedule->op[k].launch >= n_marked) {
            k++;
            continue;
        }
        const int first = schedule->op[k].launch / 3 * 3;
        while (k < schedule->n_ops && schedule->op[k].kind == PTI_LAUNCH &&
               schedule->op[k].launch / 3 * 3 == first &&
               (k == first_op || schedule->op[k].launch > schedule->op[k - 1].launch))
            k++;
        const pti_op &last = schedule->op[k - 1];
        const polytile_domain own = last.launch == first + 2 ? last.box : pti_box_empty(2);
        const pti_tiled_unit unit = {first, 3, &skew.chain().tiled->sequence[0], 0};
        made.push_back(pti_tiled_tiles(&skew.chain(), &unit, slab, &own));
        made.back().first_op = first_op;
        made.back().n_ops = k - first_op;
    }
    schedule->n_tiles = static_cast<int>(made.size());
    schedule->tiles = static_cast<pti_tiles *>(std::malloc(made.size() * sizeof made[0]));
    std::copy(made.begin(), made.end(), schedule->tiles);
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

/** A random chain of ping-pong launches, some before them, and some after. */
std::vector<int> draw_order(Random *random) {
    std::vector<int> order;
    if (random->chance(50))
        order.push_back(2);
    const int64_t n = random->number(3, 30);
    int next = static_cast<int>(random->number(0, 1));
    for (int64_t k = 0; k < n; k++) {
        order.push_back(next);
        next = random->chance(5) ? next : 1 - next;
    }
    if (random->chance(30))
        order.push_back(3);
    if (random->chance(30))
        for (int k = 0; k < 5; k++)
            order.push_back(k % 2);
    return order;
}

/** A body that reads around each thread's element, in both directions. */
std::vector<Kernel> draw_kernels(Random *random) {
    static const char *const declarations[] = {
        "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]",
        "upwind[i, j]: in x[i-1, j+1], x[i, j], x[i, j-2]; out y[i, j]",
        "wide[i, j]: in x[i-2:i+2, j-1:j+1]; out y[i, j]",
        "downwind[i, j]: in x[i+2, j], x[i, j]; out y[i, j]",
        "along[i, j]: in x[i-1:i+1, j]; out y[i, j]",
    };
    const char *declaration = declarations[random->number(0, 4)];
    const char *threads = random->chance(50) ? "2:37,2:23" : "3:30,4:22";
    return {{declaration, threads, {{"x", 0}, {"y", 1}}},
            {declaration, threads, {{"x", 1}, {"y", 0}}},
            border,
            reader};
}

/** Random numbers in arrays; zeros in those that nobody wrote. */
std::vector<HostArray> draw_arrays(const Skewed &skew, Random *random) {
    std::vector<HostArray> host;
    for (size_t a = 0; a < skew.domains().size(); a++) {
        host.emplace_back(domain_of(skew.domains()[a]));
        for (uint64_t &element : host.back().element)
            element = skew.IsScratch(static_cast<int>(a))
                          ? 0
                          : static_cast<uint64_t>(random->number(1, 1000000));
    }
    return host;
}

/** Run a schedule, one by one or as one, and compare with running launch after launch. */
std::string run_and_compare(const Skewed &skew, const pti_schedule &schedule, bool as_one,
                            Random *random) {
    std::vector<HostArray> host = draw_arrays(skew, random), right = host;
    ResidentMemory memory(schedule.arena_bytes);
    const std::string wrong = as_one ? memory.RunSlabsAsOne(schedule, &host, random)
                                     : memory.Run(schedule, &host, random);
    skew.RunAtOnce(&right);
    for (size_t a = 0; a < host.size() && wrong.empty(); a++)
        if (!skew.IsScratch(static_cast<int>(a)) && host[a].element != right[a].element)
            return "array " + std::to_string(a) + " differs";
    return wrong;
}

std::string describe(const pti_skew_shape &shape) {
    return std::to_string(shape.n_per_pass) + " launches a pass, slabs of " +
           std::to_string(shape.slab) + ", laps of " + std::to_string(shape.n_per_lap) +
           (shape.concurrent ? ", concurrent" : "");
}

TEST(TiledSkews, AreRightInAnyShape) {
    Random random(test_seed("TiledSkews.AreRightInAnyShape"));
    for (int64_t round = 0; round < scaled(30) && !testing::Test::HasFailure(); round++) {
        TiledSkew skew(draw_kernels(&random), draw_order(&random), random.chance(60));
        if (testing::Test::HasFailure() || skew.chain().n_launches < 2)
            continue;
        skew.Tile({random.number(16, 90) * 48 * 8, 48, 4});
        const pti_skew_shape shape = AnyShape(skew.chain(), &random);
        SCOPED_TRACE(describe(shape));
        pti_schedule *schedule = skew.Build(shape);
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(Objection(schedule), "");
        EXPECT_EQ(run_and_compare(skew, *schedule, random.chance(60), &random), "");
        pti_schedule_free(schedule);
    }
}

/** One mistake in a schedule whose launches run as one, or in how it was made. */
void mistake(Random *random, pti_schedule *schedule) {
    if (schedule->n_tiles == 0)
        return;
    pti_tiles *any = &schedule->tiles[random->number(0, schedule->n_tiles - 1)];
    const auto d = static_cast<size_t>(random->number(0, 1));
    switch (random->number(0, 5)) {
    case 0:
        any->step.before[d] += random->one_of({-1, 1});
        break;
    case 1:
        for (int t = 0; t < schedule->n_tiles; t++)
            schedule->tiles[t].step.after[d]--;
        break;
    case 2:
        any->own.range[d].lo++;
        break;
    case 3:
        schedule->dropped[0] = !schedule->dropped[0];
        break;
    case 4:
        any->n_launches--;
        break;
    default:
        if (schedule->n_waits > 0)
            schedule->wait[random->number(0, schedule->n_waits - 1)] = 0;
    }
}

/** What the checker accepts is right, also of schedules with a mistake. */
TEST(TiledSkews, WhatIsProvedIsRight) {
    Random random(test_seed("TiledSkews.WhatIsProvedIsRight"));
    for (int64_t round = 0; round < scaled(60) && !testing::Test::HasFailure(); round++) {
        const int n = static_cast<int>(3 * random.number(1, 4));
        TiledSkew plain({there, back}, turns(n), true), tiled({there, back}, turns(n), true);
        tiled.Tile(room);
        const pti_skew_shape shape = shape_of(1, n, random.number(1, 12), random.number(1, 4));
        SCOPED_TRACE(describe(shape));
        const bool is_plain = random.chance(50);
        pti_schedule *schedule = (is_plain ? plain : tiled).Build(shape);
        ASSERT_NE(schedule, nullptr);
        if (is_plain)
            mark_threes(tiled, shape.slab, n, schedule);
        else
            mistake(&random, schedule);
        if (Objection(schedule) == "") {
            EXPECT_EQ(run_and_compare(tiled, *schedule, true, &random), "");
        }
        pti_schedule_free(schedule);
    }
}

} // namespace
