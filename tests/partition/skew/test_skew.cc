#include "partition/skew/skewed.h"

#include <climits>

#include "support/scale.h"

extern "C" {
#include "partition/skew/sets.h"
}

namespace {

const std::vector<std::string> two_lines = {"64", "64"};
const Kernel there = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 0}, {"y", 1}}};
const Kernel back = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 1}, {"y", 0}}};

/** Random numbers in arrays; zeros in those that nobody wrote. */
std::vector<HostArray> RandomArrays(const Skewed &skewed, Random *random) {
    std::vector<HostArray> host;
    for (size_t a = 0; a < skewed.domains().size(); a++) {
        host.emplace_back(domain_of(skewed.domains()[a]));
        for (uint64_t &element : host.back().element)
            element = skewed.IsScratch(static_cast<int>(a))
                          ? 0
                          : static_cast<uint64_t>(random->number(1, 1000000));
    }
    return host;
}

/** Run a chain's schedule, and compare with running launch after launch. */
void ExpectRight(Skewed *skewed, const pti_skew_request &request, const pti_skew_shape &shape,
                 Random *random) {
    pti_schedule *schedule = pti_skew_build(&request, &shape);
    ASSERT_NE(schedule, nullptr);
    ASSERT_LE(pti_schedule_peak_bytes(schedule), request.arena_bytes);
    ASSERT_EQ(Objection(schedule), "");
    std::vector<HostArray> host = RandomArrays(*skewed, random), right = host;
    for (size_t a = 0; a < host.size(); a++)
        if (skewed->IsScratch(static_cast<int>(a)))
            std::fill(host[a].element.begin(), host[a].element.end(), 0xdeadu);
    ResidentMemory memory(request.arena_bytes);
    ASSERT_EQ(memory.Run(*schedule, &host, random), "");
    skewed->RunAtOnce(&right);
    for (size_t a = 0; a < host.size(); a++)
        if (!skewed->IsScratch(static_cast<int>(a))) {
            ASSERT_EQ(host[a].element, right[a].element) << "array " << a;
        }
    const pti_traffic traffic = pti_schedule_traffic(schedule);
    EXPECT_EQ(traffic.h2d_bytes, shape.h2d_bytes);
    EXPECT_EQ(traffic.d2h_bytes, shape.d2h_bytes);
    pti_schedule_free(schedule);
}

TEST(Skew, AStencilToAndFroGoesThroughOnce) {
    Random random(test_seed("Skew.AStencilToAndFroGoesThroughOnce"));
    Skewed skewed(two_lines, {there, back});
    skewed.MakeScratch(1);
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    ASSERT_EQ(skewed.Find(), "");
    EXPECT_EQ(skewed.chain().launch[7].offset, 7);
    const pti_skew_request request = skewed.Request(1500);
    pti_skew_shape shape;
    pti_text why = {};
    ASSERT_TRUE(pti_skew_choose(&request, &shape, &why)) << why.data;
    ExpectRight(&skewed, request, shape, &random);
    EXPECT_EQ(shape.n_passes, 1);
    EXPECT_EQ(shape.h2d_bytes, 64 * 8);
    EXPECT_EQ(shape.d2h_bytes, 62 * 8);
}

/** Slabs of four through eight blurs of 64 elements, all in one lap, side by side. */
const pti_skew_shape side_by_side = [] {
    pti_skew_shape shape = {};
    shape.n_passes = 1;
    shape.n_per_pass = 8;
    shape.slab = 4;
    shape.n_per_lap = 18;
    shape.concurrent = true;
    return shape;
}();

TEST(Skew, SlabsAbreastNeedEachWaitBetweenThem) {
    Skewed skewed(two_lines, {there, back});
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    ASSERT_EQ(skewed.Find(), "");
    const pti_skew_request request = skewed.Request(1 << 20);
    pti_schedule *schedule = pti_skew_build(&request, &side_by_side);
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(Objection(schedule), "");
    int n_waits = 0;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        pti_op *op = &schedule->op[k];
        for (int w = 0; w < op->n_waits; w++) {
            int64_t *wait = &schedule->wait[op->first_wait + w], waited = *wait;
            if (op->kind != PTI_LAUNCH || schedule->op[waited].kind != PTI_LAUNCH)
                continue;
            n_waits++;
            *wait = 0;
            EXPECT_NE(Objection(schedule), "") << "operation " << k << " for " << waited;
            *wait = waited;
        }
    }
    EXPECT_EQ(Objection(schedule), "");
    EXPECT_GE(n_waits, 2 * 16);
    pti_schedule_free(schedule);
}

/** The shape of eight blurs in room enough; cache_bytes: 0, there is none. */
pti_skew_shape ShapeOfBlurs(double cache_bytes, bool in_turn) {
    Skewed skewed(two_lines, {there, back});
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    EXPECT_EQ(skewed.Find(), "");
    polytile_link link = polytile_link_default;
    link.cache_bytes = cache_bytes;
    link.cache_bytes_per_s = cache_bytes > 0 ? link.kernel_bytes_per_s : 0;
    pti_skew_request request = skewed.Request(800);
    request.link = &link;
    request.one_after_other = in_turn;
    pti_skew_shape shape = {};
    pti_text why = {};
    EXPECT_TRUE(pti_skew_choose(&request, &shape, &why));
    pti_text_free(&why);
    return shape;
}

TEST(Skew, SlabsRunAbreastUnlessLaunchersRunThemOrOneDrivesTheOtherFromTheCache) {
    const pti_skew_shape shape = ShapeOfBlurs(0, false);
    ASSERT_GT(shape.n_per_lap, 1);
    EXPECT_TRUE(shape.concurrent);
    EXPECT_FALSE(ShapeOfBlurs(0, true).concurrent);
    const double slab_bytes = 2 * 8 * static_cast<double>(shape.slab), ends_bytes = 2 * 8;
    const double share = 0.65;
    const pti_skew_shape one_fits = ShapeOfBlurs((1.5 * slab_bytes + ends_bytes) / share, false);
    EXPECT_EQ(one_fits.slab, shape.slab);
    EXPECT_FALSE(one_fits.concurrent);
    EXPECT_TRUE(ShapeOfBlurs((2.5 * slab_bytes + ends_bytes) / share, false).concurrent);
    EXPECT_TRUE(ShapeOfBlurs((0.5 * slab_bytes + ends_bytes) / share, false).concurrent);
}

TEST(Skew, OnlyLaunchesAndFillsRunAbreast) {
    Skewed skewed(two_lines, {there, back});
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    ASSERT_EQ(skewed.Find(), "");
    const pti_skew_request request = skewed.Request(1 << 20);
    pti_schedule *schedule = pti_skew_build(&request, &side_by_side);
    ASSERT_NE(schedule, nullptr);
    int64_t n_launches[2] = {0, 0};
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        pti_op *op = &schedule->op[k];
        if (op->kind == PTI_LAUNCH) {
            n_launches[op->lane]++;
            continue;
        }
        ASSERT_EQ(op->lane, 0);
        op->lane = 1;
        EXPECT_NE(Objection(schedule).find("moves data in a lane for launches"), std::string::npos);
        op->lane = 0;
    }
    EXPECT_GT(n_launches[0], 60);
    EXPECT_GT(n_launches[1], 60);
    pti_schedule_free(schedule);
}

const std::vector<std::string> planes = {"64x64", "64x64", "64x64", "64"};
const Kernel blur_there = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 0}, {"y", 1}}};
const Kernel blur_back = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 1}, {"y", 0}}};
const Kernel add_up = {
    "rows[i, j]: in w[:, :], x[i, j]; out sum z[i]", "0:63,0:63", {{"w", 2}, {"x", 0}, {"z", 3}}};

/** Whether so many launches are interleaved in so much memory. */
bool AreFused(int n_launches, int64_t arena_bytes) {
    Skewed skewed(planes, {blur_there, blur_back});
    skewed.MakeScratch(1);
    for (int step = 0; step < n_launches; step++)
        skewed.Add(step % 2);
    EXPECT_EQ(skewed.Find(), "");
    const pti_skew_request request = skewed.Request(arena_bytes);
    pti_skew_shape shape;
    pti_text why = {};
    const bool are_fused = pti_skew_choose(&request, &shape, &why);
    pti_text_free(&why);
    return are_fused;
}

TEST(Skew, OddNumbersOfLaunchesAreCutIntoPairsToo) {
    int64_t arena_bytes = 1024;
    while (!AreFused(4, arena_bytes))
        arena_bytes += 256;
    for (const int n_launches : {3, 5, 7})
        EXPECT_TRUE(AreFused(n_launches, arena_bytes)) << n_launches;
}

TEST(Skew, ALaunchThatCannotJoinLeavesNoTrace) {
    Skewed skewed(planes, {blur_there, blur_back, add_up});
    for (const int kernel : {0, 1, 0, 1, 2})
        skewed.Add(kernel);
    EXPECT_EQ(skewed.Find(), "rows starts a reduction of array3");
    EXPECT_EQ(skewed.chain().n_launches, 4);
    EXPECT_EQ(skewed.chain().axis[2], PTI_AXIS_NONE);
}

/** What the passes of a chain move, as text. */
std::string MovedBy(Skewed *skewed, int n_per_pass) {
    const pti_skew_request request = skewed->Request(1 << 20);
    std::string text;
    pti_skew_sets sets;
    EXPECT_TRUE(pti_skew_sets_find(&request, n_per_pass, INT_MAX, &sets));
    for (int p = 0; p < sets.n_passes; p++)
        for (int a = 0; a < sets.n_arrays; a++) {
            const pti_pass_sets *of = pti_skew_sets_of(&sets, p, a);
            for (const pti_boxes *set : {&of->exposed, &of->filled, &of->live}) {
                for (int k = 0; k < set->n_boxes; k++)
                    text += text_of(set->box[k]) + ";";
                text += "|";
            }
        }
    pti_skew_sets_free(&sets);
    return text;
}

/** Launches of one kernel are known to be the same, and those of equal kernels are not. */
TEST(Skew, LaunchesThatRepeatThemselvesMoveWhatAsManyOthersDo) {
    const char *const declarations[] = {"a[i, j]: in x[i-1:i+1, j]; out y[i, j]",
                                        "b[i, j]: in x[i, j]; out y[i, j]",
                                        "c[i, j]: in x[i-2:i, j], x[i, j]; inout y[i, j]"};
    const char *const threads[] = {"0:59, 0:4", "2:57, 0:4", "1:58, 1:3", "6:50, 0:4"};
    Random random(test_seed("Skew.LaunchesThatRepeatThemselvesMoveWhatAsManyOthersDo"));
    int64_t n_compared = 0;
    for (int64_t left = scaled(2000); left > 0; left--) {
        const int n_arrays = static_cast<int>(random.number(2, 4));
        const std::vector<std::string> domains(static_cast<size_t>(n_arrays), "60x5");
        std::vector<Kernel> kinds;
        for (int64_t k = random.number(1, 5); k > 0; k--) {
            const int x = static_cast<int>(random.number(0, n_arrays - 1));
            kinds.push_back({declarations[random.number(0, 2)],
                             threads[random.number(0, 3)],
                             {{"x", x}, {"y", (x + 1) % n_arrays}}});
        }
        std::vector<int> order;
        const int64_t n_launches = random.number(2, 40);
        for (int64_t l = 0; l < n_launches; l++)
            order.push_back(
                random.chance(3)
                    ? static_cast<int>(random.number(0, static_cast<int64_t>(kinds.size()) - 1))
                    : static_cast<int>(l % static_cast<int64_t>(kinds.size())));
        std::vector<Kernel> each;
        for (int kind : order)
            each.push_back(kinds[static_cast<size_t>(kind)]);
        Skewed same(domains, kinds), different(domains, each);
        if (random.chance(50)) {
            same.MakeScratch(1);
            different.MakeScratch(1);
        }
        for (int l = 0; l < static_cast<int>(n_launches); l++) {
            same.Add(order[static_cast<size_t>(l)]);
            different.Add(l);
        }
        ASSERT_EQ(same.Find(), different.Find());
        const int n_per_pass = static_cast<int>(random.number(1, n_launches));
        ASSERT_EQ(MovedBy(&same, n_per_pass), MovedBy(&different, n_per_pass));
        n_compared += same.chain().n_launches > 8;
    }
    EXPECT_GT(n_compared, 0);
}

} // namespace
