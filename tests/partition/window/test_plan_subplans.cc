#include "partition/window/to_and_fro.h"

/* The subplans of several launches: each is planned once, and shown by itself. */

namespace {

using namespace to_and_fro;

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

} // namespace
