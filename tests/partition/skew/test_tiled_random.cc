#include "partition/skew/tiled_skew.h"
#include "support/scale.h"

/* Random chains in tiles of slabs, against launch after launch. What the checker accepts of
 * schedules with a mistake is run, too. */

namespace {

using namespace tiled_skew;

/** A random chain of launches whose arrays change roles in turn, perhaps with others between
 * them. */
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
    const int64_t n_rounds = scaled(60), n_most = 8 * n_rounds;
    int64_t n_aside = 0, n_copied = 0, n_run = 0;
    const auto goes_on = [&] {
        const bool has_both = n_aside > 0 && n_copied > 0;
        return n_run < n_rounds || (!has_both && n_rounds >= 10 && n_run < n_most);
    };
    for (; goes_on() && !testing::Test::HasFailure(); n_run++) {
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
        n_copied += std::any_of(schedule->op, schedule->op + schedule->n_ops,
                                [&](const pti_op &op) { return is_copy_aside(*schedule, op); });
        EXPECT_EQ(run_and_compare(skew, *schedule, random.chance(70), &random), "");
        pti_schedule_free(schedule);
    }
    EXPECT_GE(n_aside, least_count(n_run, 0.15));
    EXPECT_GE(n_copied, least_count(n_run, 0.04));
}

/** One mistake in a schedule whose launches run as one, or in how it was made. */
void mistake(Random *random, pti_schedule *schedule) {
    if (schedule->n_tiles == 0)
        return;
    pti_tiles *any = &schedule->tiles[random->number(0, schedule->n_tiles - 1)];
    const auto d = static_cast<size_t>(random->number(0, 1));
    switch (random->number(0, 5)) {
    case 0:
        any->margin_per_launch.before[d] += random->one_of({-1, 1});
        break;
    case 1:
        for (int t = 0; t < schedule->n_tiles; t++)
            schedule->tiles[t].margin_per_launch.after[d]--;
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
