#include "partition/window/to_and_fro.h"

/* Plans of several launches: what they move, and what they say. */

namespace {

using namespace to_and_fro;

TEST(PlanChain, AStencilToAndFroGoesThroughOnce) {
    ToAndFro of(five_points, {256, 256}, 8);
    polytile_plan_options options = Limit(64 << 10);
    options.strategy = "min-traffic";
    polytile_plan *plan = of.Plan(options);
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.chain.n_launches, 8);
    EXPECT_EQ(of.chain.n_passes, 1);
    EXPECT_EQ(of.chain.launches_per_pass, 8);
    EXPECT_GT(of.chain.slab_threads, 0);
    EXPECT_EQ(of.summary.h2d_bytes, 4 * 256 * 256) << "with the corners, which come faster so";
    EXPECT_EQ(of.summary.d2h_bytes, 4 * 254 * 256) << "whole rows, which go to the host faster";
    EXPECT_EQ(of.summary.lower_bound_bytes, 4 * (256 * 256 - 4) + 4 * 254 * 254);
    EXPECT_LE(of.summary.peak_device_bytes, 64 << 10);
    EXPECT_GT(of.summary.predicted_seconds, 0);
}

TEST(PlanChain, OneLaunchAPassIsPlannedAsAQueueDoes) {
    ToAndFro of(five_points, {256, 256}, 4);
    polytile_plan *plan = of.Plan(Limit(64 << 10, 1));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.chain.n_passes, 4);
    EXPECT_EQ(of.chain.launches_per_pass, 1);
    EXPECT_EQ(of.chain.slab_threads, 0);
    EXPECT_GT(Moved(of.summary), 3 * 8 * 254 * 254);
    EXPECT_GT(of.summary.predicted_seconds, 0);
    EXPECT_TRUE(Has(Text(plan), "not fused    one launch a pass was asked for")) << Text(plan);
}

TEST(PlanChain, ArraysThatAllFitMoveOnce) {
    ToAndFro of(five_points, {256, 256}, 4);
    polytile_plan *plan = of.Plan(Limit(1 << 20));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.summary.n_kernels, 4);
    EXPECT_EQ(Moved(of.summary), of.summary.lower_bound_bytes);
    EXPECT_TRUE(Has(Text(plan), "all arrays fit 1 MiB together")) << Text(plan);
}

/** The first slabs of a triangle touch nothing: there is nothing to slide on to the next. Nor is
 * there where each thread's section is empty, though those of several threads lie around
 * elements. */
class PlanChainUntouched : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Declarations, PlanChainUntouched,
                         testing::Values("triangle[i]: out A[i, 8:i]",
                                         "nothing[i]: in A[i:i-1, 8:i+8]",
                                         "nothing[i]: in A[i, 3*i:3*i-1]",
                                         "nothing[i]: in A[i, 2*i+1:i]"));

TEST_P(PlanChainUntouched, RowsThatNoLaunchTouchesAreNotCopied) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    polytile_plan *plan = nullptr;
    const int64_t extents[] = {41, 51};
    const polytile_domain rows = polytile_domain_from_extents(1, extents);
    const polytile_domain whole = polytile_domain_from_extents(2, extents);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, GetParam(), nullptr, &kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_array_describe(ctx, "A", POLYTILE_BYTES(12), &whole, &array), POLYTILE_OK);
    const std::vector<polytile_chain_launch> launches(3, chain_launch(kernel, rows, &array));
    const polytile_plan_options options = Limit(4000);
    ASSERT_EQ(polytile_plan_create_chain(3, launches.data(), 0, nullptr, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(Objection(plan), "");
    polytile_context_destroy(ctx);
}

/** Each launch does a row here and there, there and back: nothing for slabs, and long to plan. */
TEST(PlanChain, ArraysInVeryManyPiecesAreNotFused) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    polytile_plan *plan = nullptr;
    const int64_t n_rows = 1024, extents[] = {n_rows, 64};
    const polytile_domain whole = polytile_domain_from_extents(2, extents);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "row[i]: in A[i, :]; out B[i, :]", nullptr, &kernel),
              POLYTILE_OK);
    ASSERT_EQ(polytile_array_describe(ctx, "A", POLYTILE_F32, &whole, &there[0]), POLYTILE_OK);
    ASSERT_EQ(polytile_array_describe(ctx, "B", POLYTILE_F32, &whole, &there[1]), POLYTILE_OK);
    back[0] = there[1];
    back[1] = there[0];
    std::vector<polytile_chain_launch> launches;
    for (int64_t turn = 0; turn < 2; turn++) {
        for (int64_t row = 0; row < n_rows; row += 4)
            launches.push_back(chain_launch(kernel, polytile_domain_from_bounds(1, &row, &row),
                                            turn == 0 ? there : back));
    }
    const polytile_plan_options options = Limit(100 << 10);
    ASSERT_EQ(polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(), 0,
                                         nullptr, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_TRUE(Has(Text(plan), "touch their arrays in more than 128 pieces")) << Text(plan);
    EXPECT_EQ(Objection(plan), "");
    polytile_context_destroy(ctx);
}

TEST(PlanChain, WithoutALimitLaunchesRunInPlaceOneByOne) {
    ToAndFro of(five_points, {256, 256}, 4);
    polytile_plan *plan = of.Plan(Limit(0));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.summary.n_kernels, 4);
    EXPECT_EQ(Moved(of.summary), 0);
    EXPECT_EQ(of.summary.lower_bound_bytes, 0);
    EXPECT_TRUE(Has(Text(plan), "the kernel runs in place")) << Text(plan);
    EXPECT_TRUE(Has(Text(plan, POLYTILE_JSON), "\"in_place\": true"));
}

TEST(PlanChain, WhatTooSmallAMemoryCannotFuseIsPlannedApartWithTheReason) {
    ToAndFro of(five_points, {256, 4096}, 4);
    polytile_plan *plan = of.Plan(Limit(24 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.chain.slab_threads, 0);
    EXPECT_TRUE(Has(Text(plan), "24 KiB does not hold the rows")) << Text(plan);
}

TEST(PlanChain, ALaunchThatReadsEverythingEndsTheChain) {
    ToAndFro of("turn[i, j]: in A[j, :]; out B[i, j]", {66, 66}, 4);
    polytile_plan *plan = of.Plan(Limit(20 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Objection(plan), "");
    EXPECT_EQ(of.chain.slab_threads, 0);
    const std::string text = Text(plan);
    EXPECT_TRUE(Has(text, "not fused    launch 1 of 4 is not fused: launch 2 of 4, turn, cannot be "
                          "interleaved with those before: turn "))
        << text;
}

TEST(PlanChain, SaysWhatOneBlockNeedsWhereNothingFits) {
    ToAndFro of(five_points, {256, 256}, 4);
    EXPECT_EQ(of.Plan(Limit(8)), nullptr);
    EXPECT_EQ(of.status, POLYTILE_NO_FIT);
    EXPECT_TRUE(Has(of.Error(), "8 B")) << of.Error();
}

/** A plan says what a GPU would run as one, or what keeps it from that. */
TEST(PlanChain, SaysWhichLaunchesRunInTilesOrWhyNone) {
    const struct {
        const char *declaration;
        std::vector<int64_t> extents;
        int n_steps;
        int64_t limit_bytes;
        const char *text;
    } cases[] = {
        {five_points,
         {4096, 4096},
         40,
         int64_t{32} << 20,
         "40 launches of jacobi in a row, which alternate between two arrays, run at most "},
        {five_points,
         {4096, 4096},
         40,
         int64_t{160} << 20,
         "launches of jacobi in a row, which alternate between two arrays, run as "},
        {"cube[i, j, k]: in A[i-1:i+1, j, k]; out B[i, j, k]",
         {64, 64, 64},
         20,
         256 << 10,
         "launches of cube run one by one: tiles are for launches of two indices"},
        {"leap[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; inout B[i, j]",
         {4096, 4096},
         40,
         int64_t{32} << 20,
         "whose 2 arrays change roles in turn, run at most "},
        {"leap[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; inout B[i, j]",
         {4000, 1000},
         240,
         int64_t{1} << 20,
         "launches of leap run one by one: in tiles they would take as long"},
        {five_points, {256, 256}, 2, 64 << 10, "too few of them in a row"},
    };
    for (const auto &c : cases) {
        ToAndFro of(c.declaration, c.extents, c.n_steps);
        polytile_plan *plan = of.Plan(Limit(c.limit_bytes));
        ASSERT_NE(plan, nullptr) << of.Error();
        const std::string text = Text(plan);
        const size_t row = text.find("tiles  ");
        ASSERT_NE(row, std::string::npos) << text;
        const std::string line = text.substr(row, text.find('\n', row) - row);
        EXPECT_TRUE(Has(line, c.text)) << line;
        EXPECT_TRUE(Has(Text(plan, POLYTILE_JSON), "\"tiles\": [{\"first\": 0, \"launches\": "));
    }
}

/** A plan whose schedule has a period says the same as one whose schedule has none. */
TEST(PlanChain, SaysWhichLaunchesOfSlabsThatRepeatRunInTiles) {
    ToAndFro of(five_points, {1 << 22, 64}, 20);
    polytile_plan *plan = of.Plan(Limit(int64_t{1} << 20));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_GT(plan->schedule->period.times, 0);
    EXPECT_TRUE(Has(Text(plan), "\n  tiles  ")) << Text(plan);
    EXPECT_TRUE(Has(Text(plan), "20 launches of jacobi in a row, which alternate")) << Text(plan);
}

TEST(PlanChain, LaunchersRunNoTwoSlabsAtOnceAsInAQueue) {
    const auto launch = [](const polytile_sub_kernel *) { return 0; };
    for (const bool has_launcher : {false, true}) {
        ToAndFro of("blur[i]: in A[i-1:i+1]; out B[i]", {20000}, 8,
                    has_launcher ? +launch : nullptr);
        polytile_plan *plan = of.Plan(Limit(20000));
        ASSERT_NE(plan, nullptr) << of.Error();
        ASSERT_EQ(of.chain.launches_per_pass, 8) << Text(plan);
        EXPECT_EQ(Has(Text(plan), ", two slabs at once"), !has_launcher) << Text(plan);
    }
}

TEST(PlanChain, CannotBeRunAsOneLaunch) {
    ToAndFro of(five_points, {256, 256}, 4);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(of.context(), "host(memory=64KiB)", &device), POLYTILE_OK);
    EXPECT_EQ(polytile_plan_run(plan, device, of.kernel, polytile_kernel_get_n_arrays(of.kernel),
                                of.there, NULL),
              POLYTILE_INVALID);
    EXPECT_TRUE(Has(of.Error(), "4 launches")) << of.Error();
}

TEST(PlanChain, RefusesWhatIsNoChainOfLaunches) {
    ToAndFro of(five_points, {64, 64}, 3);
    polytile_plan *plan = nullptr;
    const polytile_plan_options none = {};
    const auto refused = [&](int n, int n_scratch, polytile_array *const *scratch,
                             const polytile_plan_options &options) {
        EXPECT_NE(
            polytile_plan_create_chain(n, of.launches.data(), n_scratch, scratch, &options, &plan),
            POLYTILE_OK);
        EXPECT_EQ(plan, nullptr);
        return of.Error();
    };
    EXPECT_EQ(polytile_plan_create_chain(0, of.launches.data(), 0, nullptr, &none, &plan),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_create_chain(3, nullptr, 0, nullptr, &none, &plan), POLYTILE_INVALID);
    EXPECT_TRUE(Has(refused(3, 1, nullptr, none), "scratch array 0 of 1 is NULL"));
    EXPECT_TRUE(Has(refused(3, 0, nullptr, Limit(1024, -1)), "-1 launches a pass"));
    const polytile_parameter unknown = POLYTILE_PARAMETER("n", 3);
    of.launches[2].n_parameters = 1;
    of.launches[2].parameters = &unknown;
    EXPECT_TRUE(Has(refused(3, 0, nullptr, none), "launch 3 of 3")) << of.Error();
    EXPECT_TRUE(Has(of.Error(), "there is no parameter n")) << of.Error();
    of.launches[2].n_parameters = 0;
    polytile_plan_options options = none;
    options.strategy = "fastest";
    EXPECT_TRUE(Has(refused(3, 0, nullptr, options), "fastest"));
    polytile_array *const one[] = {of.there[0], of.there[0]};
    of.launches[1].arrays = one;
    EXPECT_TRUE(Has(refused(3, 0, nullptr, none), "whose array is given for B, too"));
    of.launches[1].arrays = nullptr;
    EXPECT_TRUE(Has(refused(3, 0, nullptr, none), "list of arrays is NULL"));
    of.launches[1].kernel = nullptr;
    EXPECT_TRUE(Has(refused(3, 0, nullptr, none), "launch 2 of 3 has no kernel"));
}

TEST(PlanChain, IsProvedWhereTheEnvironmentAsksForIt) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    ToAndFro of(five_points, {256, 256}, 8);
    EXPECT_NE(of.Plan(Limit(64 << 10)), nullptr) << of.Error();
    EXPECT_NE(of.Plan(Limit(64 << 10, 1)), nullptr) << of.Error();
}

} // namespace
