extern "C" {
#include "partition/prove/check.h"
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
}

#include <polytile/polytile.h>

#include "support/chain_launch.h"
#include "support/environment.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <jansson.h>
#include <memory>
#include <string>
#include <vector>

namespace {

const char *const five_points = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const seven_points = "jacobi[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], "
                                 "A[i, j, k-1:k+1]; out B[i, j, k]";

/** A stencil to and fro between two fields. */
class ToAndFro {
  public:
    ToAndFro(const char *declaration, const std::vector<int64_t> &extents, int n_steps,
             polytile_launcher *launcher = nullptr) {
        polytile_context_create(&ctx_);
        polytile_implementation body = {};
        body.host = [](const polytile_domain *, const polytile_view *, void *) {};
        body.cuda_launcher = launcher;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, &body, &kernel), POLYTILE_OK);
        const int n_dims = static_cast<int>(extents.size());
        polytile_domain whole = {}, inner = {};
        whole.n_dims = inner.n_dims = n_dims;
        for (size_t d = 0; d < extents.size(); d++) {
            whole.range[d] = {0, extents[d] - 1, 1};
            inner.range[d] = {1, extents[d] - 2, 1};
        }
        EXPECT_EQ(polytile_array_describe(ctx_, "A", POLYTILE_F32, &whole, &there[0]), POLYTILE_OK);
        EXPECT_EQ(polytile_array_describe(ctx_, "B", POLYTILE_F32, &whole, &there[1]), POLYTILE_OK);
        back[0] = there[1];
        back[1] = there[0];
        for (int step = 0; step < n_steps; step++)
            launches.push_back(chain_launch(kernel, inner, step % 2 == 0 ? there : back));
    }
    ~ToAndFro() { polytile_context_destroy(ctx_); }
    ToAndFro(const ToAndFro &) = delete;
    ToAndFro &operator=(const ToAndFro &) = delete;

    /** Plan with the second field as scratch; NULL where that fails. */
    polytile_plan *Plan(const polytile_plan_options &options) {
        polytile_plan *plan = nullptr;
        status = polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(), 1,
                                            &there[1], &options, &plan);
        if (plan != nullptr)
            polytile_plan_get_summary(plan, &summary);
        polytile_plan_get_chain_summary(plan, &chain);
        return plan;
    }

    polytile_context *context() const { return ctx_; }
    std::string Error() const { return polytile_last_error(ctx_); }

    polytile_kernel *kernel = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    std::vector<polytile_chain_launch> launches;
    polytile_status status = POLYTILE_OK;
    polytile_plan_summary summary = {};
    polytile_chain_summary chain = {};

  private:
    polytile_context *ctx_ = nullptr;
};

polytile_plan_options Limit(int64_t limit_bytes, int64_t launches_per_pass = 0) {
    polytile_plan_options options = {};
    options.limit_bytes = limit_bytes;
    options.launches_per_pass = launches_per_pass;
    return options;
}

std::string Objection(const polytile_plan *plan) {
    pti_text why = {};
    const bool holds = pti_schedule_check(plan->schedule, &why);
    const std::string text = holds ? "" : why.data == nullptr ? "no reason" : why.data;
    pti_text_free(&why);
    return text;
}

int64_t Moved(const polytile_plan_summary &summary) {
    return summary.h2d_bytes + summary.d2h_bytes;
}

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

/* The figures that the library is to reach, with the limit a share of the data. */

struct Figure {
    const char *declaration;
    std::vector<int64_t> extents;
    int n_steps;
    int64_t limit_bytes;
    double least_times; /* fewer bytes than one pass a step */
};

/** What a step moves, among others, if each goes through the arrays by itself: of two, the first
 * finds nothing on the device, where others find no more than it has memory. */
double BytesOfAStepApart(const Figure &figure) {
    ToAndFro of(figure.declaration, figure.extents, 2);
    EXPECT_NE(of.Plan(Limit(figure.limit_bytes, 1)), nullptr) << of.Error();
    EXPECT_EQ(of.chain.n_passes, 2);
    return static_cast<double>(Moved(of.summary) - figure.limit_bytes) / 2;
}

/** Launches one by one find a part of their data on the device: no more than the limit's share. */
const double kept = 7.0 / 8;

void ExpectFigure(const Figure &figure) {
    ToAndFro of(figure.declaration, figure.extents, figure.n_steps);
    ASSERT_NE(of.Plan(Limit(figure.limit_bytes)), nullptr) << of.Error();
    const polytile_plan_summary fused = of.summary;
    double field_bytes = 4;
    for (const int64_t extent : figure.extents)
        field_bytes *= static_cast<double>(extent);
    const double moved = static_cast<double>(Moved(fused));
    const double by_hand = 2 * field_bytes * figure.n_steps / moved;
    const double apart = BytesOfAStepApart(figure) * figure.n_steps / moved;
    std::printf("%d steps within %lld MiB: 1/%.1f of one pass a step, 1/%.1f of steps planned "
                "apart; %lld passes of %lld, slabs of %lld, %lld kernels, planned in %.3f s\n",
                figure.n_steps, static_cast<long long>(figure.limit_bytes >> 20), by_hand, apart,
                static_cast<long long>(of.chain.n_passes),
                static_cast<long long>(of.chain.launches_per_pass),
                static_cast<long long>(of.chain.slab_threads),
                static_cast<long long>(fused.n_kernels), fused.plan_seconds);
    EXPECT_GE(by_hand, figure.least_times);
    EXPECT_GE(apart, figure.least_times * kept);
    EXPECT_LE(fused.peak_device_bytes, figure.limit_bytes);
}

TEST(PlanChain, TwoDimensionsMoveOneTwoHundredthAtAnEighth) {
    ExpectFigure({five_points, {65536, 65536}, 256, INT64_C(2) << 30, 200});
}

TEST(PlanChain, TwoDimensionsMoveOneHundredthAtAThirtySecond) {
    ExpectFigure({five_points, {65536, 65536}, 256, INT64_C(512) << 20, 100});
}

TEST(PlanChain, ThreeDimensionsMoveOneThirtiethAtAnEighth) {
    ExpectFigure({seven_points, {2048, 2048, 2048}, 100, INT64_C(4) << 30, 30});
}

/* How launches run that are not fused. */

std::string Text(const polytile_plan *plan, polytile_format format = POLYTILE_TEXT) {
    char *text = nullptr;
    EXPECT_EQ(polytile_plan_to_string(plan, format, &text), POLYTILE_OK);
    const std::string copy = text == nullptr ? "" : text;
    std::free(text);
    return copy;
}

bool Has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
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

/* Tiles. */

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

/* Several portions. */

/** Steps to and fro, and from time to time a reduction of what they made, which ends a chain. */
class Interrupted : public ToAndFro {
  public:
    Interrupted(int n_steps, int n_between) : ToAndFro(five_points, {256, 256}, 0) {
        polytile_domain one = {}, inner = {};
        one.n_dims = 1;
        one.range[0] = {0, 0, 1};
        inner.n_dims = 2;
        inner.range[0] = inner.range[1] = {1, 254, 1};
        EXPECT_EQ(polytile_kernel_create(context(), "residual[i, j]: in A[i, j]; out max R[0]",
                                         nullptr, &residual),
                  POLYTILE_OK)
            << Error();
        polytile_array_describe(context(), "R", POLYTILE_F32, &one, &reduced[1]);
        reduced[0] = there[0];
        for (int step = 0; step < n_steps; step++) {
            launches.push_back(chain_launch(kernel, inner, step % 2 == 0 ? there : back));
            if ((step + 1) % n_between == 0)
                launches.push_back(chain_launch(residual, inner, reduced));
        }
    }

    polytile_kernel *residual = nullptr;
    polytile_array *reduced[2] = {};
};

TEST(PlanChain, ShowsEachChainAndTheLaunchThatEndsIt) {
    Interrupted of(8, 4);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(of.chain.n_launches, 10);
    EXPECT_EQ(of.chain.launches_per_pass, 4);
    EXPECT_EQ(of.chain.n_passes, 4) << "two chains and two reductions";
    const std::string text = Text(plan), starts = ": residual starts a reduction of R\n";
    EXPECT_TRUE(
        Has(text, "chain        launches 1 to 4 of 10 are interleaved; launch 5 of 10, residual, "
                  "cannot be interleaved with those before" +
                      starts))
        << text;
    EXPECT_TRUE(Has(
        text, "not fused    launch 5 of 10, residual, cannot be interleaved with others" + starts))
        << text;
    EXPECT_TRUE(Has(text, "chain        launches 6 to 9 of 10 are interleaved; ")) << text;
    EXPECT_TRUE(
        Has(Text(plan, POLYTILE_JSON),
            "\"portions\": [{\"first\": 0, \"launches\": 4, \"fused\": true, \"times\": 1"));
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

/** The sum of all parts' operations, each as often as its part comes. */
int64_t BytesOfSubplans(const polytile_plan *plan) {
    int64_t sum = 0;
    for (int64_t r = 0; r < plan->chain->n_runs; r++) {
        const pti_traffic traffic =
            pti_schedule_traffic(plan->chain->subplan[plan->chain->run[r]].schedule);
        sum += traffic.h2d_bytes + traffic.d2h_bytes;
    }
    return sum;
}

TEST(PlanChain, ProvesAndSumsThePartsOfALongList) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Interrupted of(3000, 100);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_EQ(Moved(of.summary), BytesOfSubplans(plan));
    EXPECT_GE(Moved(of.summary), of.summary.lower_bound_bytes);
    polytile_domain first, last, none;
    ASSERT_EQ(polytile_plan_get_superblock(plan, 0, &first), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_get_superblock(plan, of.summary.n_kernels - 1, &last), POLYTILE_OK);
    EXPECT_EQ(first.range[0].lo, 1);
    EXPECT_LE(last.range[0].hi, 254);
    EXPECT_GE(last.range[0].lo, 1);
    EXPECT_EQ(polytile_plan_get_superblock(plan, of.summary.n_kernels, &none), POLYTILE_INVALID);
}

TEST(PlanChain, WindowsThatComeAgainArePlannedOnce) {
    ToAndFro of(five_points, {256, 256}, 100000);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_LE(plan->chain->n_subplans, 4);
    EXPECT_EQ(plan->chain->n_runs, (100000 + PTI_WINDOW_STEPS - 1) / PTI_WINDOW_STEPS);
    EXPECT_EQ(Moved(of.summary), BytesOfSubplans(plan));
    const std::string text = Text(plan);
    EXPECT_TRUE(Has(text, "launches 1 to 1024 of 100000 are interleaved; 96 more like that"))
        << text;
}

TEST(PlanChain, StrategiesOfFewestKernelsRunEachLaunchByItself) {
    for (const char *strategy : {"min-kernels", "paper"}) {
        SCOPED_TRACE(strategy);
        ToAndFro fused(five_points, {256, 256}, 9), of(five_points, {256, 256}, 9);
        ToAndFro one(five_points, {256, 256}, 1);
        polytile_plan_options options = Limit(64 << 10);
        ASSERT_NE(fused.Plan(options), nullptr) << fused.Error();
        options.strategy = strategy;
        polytile_plan *plan = of.Plan(options);
        ASSERT_NE(plan, nullptr) << of.Error();
        ASSERT_NE(one.Plan(options), nullptr) << one.Error();
        EXPECT_EQ(of.summary.n_kernels, 9 * one.summary.n_kernels);
        EXPECT_LT(of.summary.n_kernels, fused.summary.n_kernels);
        EXPECT_EQ(of.chain.launches_per_pass, 1);
        EXPECT_TRUE(Has(Text(plan), "launches 1 to 9 of 9 are not fused: strategy " +
                                        std::string(strategy) + " runs each launch by itself"))
            << Text(plan);
    }
}

TEST(PlanChain, RefusesWhatHasTooManySubKernels) {
    ToAndFro of("f[i]: in A[i-1:i+1]; out B[i]", {INT64_C(1) << 40}, 4);
    EXPECT_EQ(of.Plan(Limit(64 << 10, 2)), nullptr);
    EXPECT_EQ(of.status, POLYTILE_UNSUPPORTED);
    EXPECT_TRUE(Has(of.Error(),
                    "the first 4 of 4 launches take more than 1000000 sub-kernels within "
                    "64 KiB"))
        << of.Error();
}

/** Slabs that repeat themselves are listed and proved once. */
TEST(PlanChain, PlansAnyNumberOfSubKernelsThatRepeat) {
    ToAndFro of("f[i]: in A[i-1:i+1]; out B[i]", {INT64_C(1) << 40}, 3);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan, &summary);
    EXPECT_GT(summary.n_kernels, 1000000000);
    EXPECT_LT(plan->schedule->n_superblocks, 20000);
    EXPECT_NEAR(static_cast<double>(summary.h2d_bytes), 4.0 * (INT64_C(1) << 40), 100);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data == nullptr ? "" : why.data);
    pti_text_free(&why);
    const pti_period &period = plan->schedule->period;
    char said[128];
    snprintf(said, sizeof said, "\"period\": {\"first\": %lld, \"length\": %lld, \"times\": %lld}",
             static_cast<long long>(period.first_kernel), static_cast<long long>(period.n_kernels),
             static_cast<long long>(period.times));
    EXPECT_TRUE(Has(Text(plan, POLYTILE_JSON), said)) << said;
    EXPECT_EQ(summary.n_kernels,
              plan->schedule->n_superblocks + (period.times - 1) * period.n_kernels);
    polytile_domain last;
    ASSERT_EQ(polytile_plan_get_superblock(plan, summary.n_kernels - 1, &last), POLYTILE_OK);
    EXPECT_EQ(last.range[0].hi, (INT64_C(1) << 40) - 2);
}

/** What is listed does not grow with the slabs, and neither does the planner's memory. */
TEST(PlanChain, TakesNoMemoryForSlabsThatAreNotListed) {
    ToAndFro of("f[i]: in A[i-1:i+1]; out B[i]", {INT64_C(1000000000000)}, 20);
    polytile_plan *plan = of.Plan(Limit(4096));
    ASSERT_NE(plan, nullptr) << of.Error();
    EXPECT_GT(of.summary.n_kernels, 1000000000);
    EXPECT_GT(plan->schedule->period.times, 0);
}

/** The period of a chain is found in the list of all superblocks, also behind those of launches
 * that are not interleaved. */
TEST(PlanChain, CountsThePeriodBehindWhatIsListedBeforeIt) {
    ToAndFro of("f[i]: in A[i-1:i+1]; out B[i]", {64000000}, 8);
    polytile_kernel *other = nullptr;
    polytile_array *alone[2] = {};
    polytile_domain threads = {}, one = {};
    threads.n_dims = one.n_dims = 1;
    threads.range[0] = {0, 299999, 1};
    one.range[0] = {0, 0, 1};
    ASSERT_EQ(polytile_kernel_create(of.context(), "g[j]: in C[j]; out max R[0]", nullptr, &other),
              POLYTILE_OK);
    ASSERT_EQ(polytile_array_describe(of.context(), "C", POLYTILE_F32, &threads, &alone[0]),
              POLYTILE_OK);
    ASSERT_EQ(polytile_array_describe(of.context(), "R", POLYTILE_F32, &one, &alone[1]),
              POLYTILE_OK);
    of.launches.insert(of.launches.begin(), chain_launch(other, threads, alone));
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    ASSERT_GT(plan->chain->shown, 0) << "the chain comes behind another launch";
    ASSERT_GT(plan->schedule->period.times, 0);
    json_error_t error;
    const std::unique_ptr<json_t, decltype(&json_decref)> root(
        json_loads(Text(plan, POLYTILE_JSON).c_str(), 0, &error), json_decref);
    ASSERT_TRUE(root) << error.text;
    const json_t *period = json_object_get(root.get(), "period");
    const json_t *listed = json_object_get(root.get(), "superblocks");
    const json_int_t first = json_integer_value(json_object_get(period, "first")),
                     length = json_integer_value(json_object_get(period, "length"));
    for (size_t k = 0; k < json_array_size(listed); k++) {
        const auto at = static_cast<json_int_t>(k);
        const json_t *times = json_object_get(json_array_get(listed, k), "times");
        ASSERT_EQ(times != nullptr, at >= first && at < first + length) << k;
        ASSERT_TRUE(times == nullptr || json_equal(times, json_object_get(period, "times"))) << k;
    }
    EXPECT_GT(length, 0);
}

TEST(PlanChain, SaysWhatIsTooLargeToBeCountedWithoutANumber) {
    ToAndFro of("both[i]: in A[:], B[:]; out B[i]", {(INT64_C(1) << 61) - 1024}, 1);
    polytile_kernel *both = nullptr;
    ASSERT_EQ(
        polytile_kernel_create(of.context(), "both[i]: in A[:], B[:]; out C[i]", nullptr, &both),
        POLYTILE_OK);
    polytile_domain threads = {};
    threads.n_dims = 1;
    threads.range[0] = {0, 99, 1};
    polytile_array *small = nullptr;
    ASSERT_EQ(polytile_array_describe(of.context(), "C", POLYTILE_F32, &threads, &small),
              POLYTILE_OK);
    polytile_array *const arrays[] = {of.there[0], of.there[1], small};
    of.launches[0] = chain_launch(both, threads, arrays);
    EXPECT_EQ(of.Plan(Limit(INT64_C(1) << 40)), nullptr);
    EXPECT_TRUE(Has(of.Error(), "needs more bytes than 64 bits count")) << of.Error();
    EXPECT_TRUE(Has(of.Error(), "no limit would do")) << of.Error();
}

/* What is asked. */

TEST(PlanChain, SuperblocksAreListedInTheOrderInWhichTheyRun) {
    ToAndFro of(five_points, {256, 256}, 3);
    polytile_plan *plan = of.Plan(Limit(64 << 10));
    ASSERT_NE(plan, nullptr) << of.Error();
    ASSERT_GT(of.chain.slab_threads, 0);
    polytile_domain first, second;
    ASSERT_EQ(polytile_plan_get_superblock(plan, 0, &first), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_get_superblock(plan, 1, &second), POLYTILE_OK);
    EXPECT_EQ(first.range[0].hi, of.chain.slab_threads);
    EXPECT_EQ(second.range[0].hi, of.chain.slab_threads - 1);
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
