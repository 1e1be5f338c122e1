#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include "support/scale.h"

#include <functional>

extern "C" {
#include "partition/ping_pong/ping_pong.h"
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
    TiledSkew(const std::vector<Kernel> &kernels, const std::vector<int> &order, bool is_dropped,
              const std::vector<std::string> &fields = two_fields)
        : Skewed(fields, kernels) {
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
        const pti_tiled_unit unit = {first, 3, &skew.chain().tiled->sequence[0], 0, false};
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

/* Arrays that change roles in turn, of which several are alive. */

/** A declaration whose operands are x, y and so on, of so many arrays that take turns; perhaps
 * after them k, which stays. */
struct Turning {
    const char *declaration;
    int n_arrays;
    const char *threads;
    bool has_field = false;
};

const Turning wave = {"wave[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1], y[i, j]; out z[i, j]", 3,
                      "1:38,1:24"};
const Turning leap = {"leap[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; inout y[i, j]", 2, "1:38,1:24"};

/** The launches of a turn, and then one that reads the first array and writes the second one. In
 * each launch x is what the one before wrote. */
std::vector<Kernel> kernels_of(const Turning &of) {
    static const char *const names[] = {"x", "y", "z", "w"};
    std::vector<Kernel> kernels;
    for (int k = 0; k < of.n_arrays; k++) {
        Kernel kernel = {of.declaration, of.threads, {}};
        for (int o = 0; o < of.n_arrays; o++)
            kernel.arguments.push_back({names[o], (o - k + of.n_arrays) % of.n_arrays});
        if (of.has_field)
            kernel.arguments.push_back({"k", of.n_arrays});
        kernels.push_back(kernel);
    }
    kernels.push_back(reader);
    return kernels;
}

std::vector<int> rounds_of(const Turning &of, int n_launches) {
    std::vector<int> order;
    for (int k = 0; k < n_launches; k++)
        order.push_back(k % of.n_arrays);
    return order;
}

std::vector<std::string> fields_of(const Turning &of) {
    return std::vector<std::string>(static_cast<size_t>(of.n_arrays + of.has_field), "40x26");
}

TiledSkew *skew_of(const Turning &of, const std::vector<int> &order) {
    return new TiledSkew(kernels_of(of), order, false, fields_of(of));
}

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

bool is_copy_aside(const pti_schedule &schedule, const pti_op &op) {
    return op.kind == PTI_COPY && schedule.placement[op.placement].is_aside;
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
                 s->tiles[t].step.before[0]--;
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

/** A random chain of launches whose arrays take turns, perhaps with others between them. */
std::vector<int> draw_turns(const Turning &of, Random *random) {
    std::vector<int> order;
    int next = static_cast<int>(random->number(0, of.n_arrays - 1));
    for (int64_t n = random->number(3, 45); n > 0; n--) {
        order.push_back(next);
        next = random->chance(3) ? of.n_arrays : (next + 1) % of.n_arrays;
        if (next == of.n_arrays)
            order.push_back(next--);
    }
    return order;
}

const Turning turning_kernels[] = {
    wave,
    leap,
    {"upwind[i, j]: in x[i-1, j+1], x[i, j-2], y[i, j]; out z[i, j]", 3, "2:37,2:23"},
    {"wide[i, j]: in x[i-2:i+2, j-1:j+1]; inout y[i, j]", 2, "3:30,4:22"},
    {"both[i, j]: in x[i-1:i+1, j], y[i, j-1:j+1]; out z[i, j]", 3, "1:38,2:20"},
    {"third[i, j]: in x[i-1:i+1, j], y[i, j], z[i, j]; out w[i, j]", 4, "1:38,1:24"},
    {"slow[i, j]: in x[i-1:i+1, j], y[i, j], k[i-1, j]; out z[i, j]", 3, "1:38,1:24", true},
    {"mixed[i, j]: in x[i-1:i+1, j-1]; inout y[i, j]; in k[i, j]", 2, "2:35,1:24", true},
    {"heat[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]; in k[i, j:j+1]", 2, "1:38,1:24",
     true},
    {"back[i, j]: out y[i, j]; in x[i-1:i, j], x[i, j+1]", 2, "1:38,1:24"},
};
constexpr int n_turning = sizeof turning_kernels / sizeof *turning_kernels;

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

TEST(TiledSkews, ThatTakeTurnsAreRightInAnyShape) {
    Random random(test_seed("TiledSkews.ThatTakeTurnsAreRightInAnyShape"));
    int64_t n_aside = 0, n_copied = 0;
    for (int64_t round = 0; round < scaled(60) && !testing::Test::HasFailure(); round++) {
        const Turning &of = turning_kernels[random.number(0, n_turning - 1)];
        TiledSkew skew(kernels_of(of), draw_turns(of, &random), false, fields_of(of));
        if (testing::Test::HasFailure() || skew.chain().n_launches < 2)
            continue;
        skew.Tile({random.number(20, 120) * 48 * 8, 48, 4});
        const pti_skew_shape shape = AnyShape(skew.chain(), &random);
        SCOPED_TRACE(of.declaration + std::string(": ") + describe(shape));
        pti_schedule *schedule = skew.Build(shape);
        ASSERT_NE(schedule, nullptr);
        EXPECT_EQ(Objection(schedule), "");
        n_aside += schedule->n_tiles > 0 && schedule->tiles[0].n_aside > 0;
        n_copied += std::count_if(schedule->op, schedule->op + schedule->n_ops,
                                  [&](const pti_op &op) { return is_copy_aside(*schedule, op); });
        EXPECT_EQ(run_and_compare(skew, *schedule, random.chance(70), &random), "");
        pti_schedule_free(schedule);
    }
    EXPECT_TRUE((n_aside > 0 && n_copied > 0) || scaled(60) < 10);
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

/** One mistake in tiles with memory aside, or in the copies of that memory. */
void mistake_aside(Random *random, pti_schedule *schedule) {
    if (schedule->n_tiles == 0 || schedule->tiles[0].n_aside == 0 || random->chance(40)) {
        mistake(random, schedule);
        return;
    }
    pti_tiles *any = &schedule->tiles[random->number(0, schedule->n_tiles - 1)];
    const int64_t any_op = random->number(0, schedule->n_ops - 1);
    pti_op *op = &schedule->op[any_op];
    const bool is_aside = is_copy_aside(*schedule, *op);
    switch (random->number(0, 4)) {
    case 0:
        any->is_from_aside = !any->is_from_aside;
        break;
    case 1: {
        pti_tile_aside *aside = &any->aside[random->number(0, any->n_aside - 1)];
        aside->placement += random->one_of({-1, 1});
        if (aside->placement >= 0 && aside->placement < schedule->n_placements)
            aside->offset_bytes = schedule->placement[aside->placement].offset_bytes;
        break;
    }
    case 2:
        std::swap(any->aside[0], any->aside[1]);
        std::swap(any->stored[0], any->stored[1]);
        break;
    case 3:
        for (int64_t k = any_op; k < schedule->n_ops; k++)
            if (is_copy_aside(*schedule, schedule->op[k])) {
                pti_op *copy = &schedule->op[k];
                copy->box.range[0].hi = copy->box.range[0].lo;
                copy->bytes = pti_box_count(&copy->box) * 8;
                break;
            }
        break;
    default:
        if (is_aside && op->n_waits > 0)
            schedule->wait[op->first_wait] = 0;
    }
}

/** What the checker accepts is right, also of schedules with a mistake. */
TEST(TiledSkews, WhatIsProvedWithMemoryAsideIsRight) {
    Random random(test_seed("TiledSkews.WhatIsProvedWithMemoryAsideIsRight"));
    for (int64_t round = 0; round < scaled(80) && !testing::Test::HasFailure(); round++) {
        const Turning &of = turning_kernels[random.number(0, n_turning - 1)];
        const int n = static_cast<int>(random.number(9, 40));
        TiledSkew skew(kernels_of(of), rounds_of(of, n), false, fields_of(of));
        skew.Tile(room);
        const pti_skew_shape shape = shape_of(1, n, random.number(1, 12), random.number(1, 4));
        SCOPED_TRACE(of.declaration + std::string(": ") + describe(shape));
        pti_schedule *schedule = skew.Build(shape);
        ASSERT_NE(schedule, nullptr);
        mistake_aside(&random, schedule);
        if (Objection(schedule) == "") {
            EXPECT_EQ(run_and_compare(skew, *schedule, true, &random), "");
        }
        pti_schedule_free(schedule);
    }
}

} // namespace
