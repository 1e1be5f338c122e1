#include "partition/skew/blurs.h"

/* Schedules of launches that are interleaved slab by slab. */

namespace {

using namespace blurs;

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

} // namespace
