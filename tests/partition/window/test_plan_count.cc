#include "partition/window/to_and_fro.h"

#include <jansson.h>

/* Sub-kernels of plans: how many there are, and which are listed. */

namespace {

using namespace to_and_fro;

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

} // namespace
