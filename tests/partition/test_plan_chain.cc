extern "C" {
#include "partition/check.h"
#include "partition/plan.h"
#include "partition/plan_chain.h"
}

#include <polytile/polytile.h>

#include <gtest/gtest.h>

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
    ToAndFro(const char *declaration, const std::vector<int64_t> &extents, int n_steps) {
        polytile_context_create(&ctx_);
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, nullptr, &kernel), POLYTILE_OK);
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
            launches.push_back({kernel, inner, step % 2 == 0 ? there : back});
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
        return plan;
    }

    std::string Error() const { return polytile_last_error(ctx_); }

    polytile_kernel *kernel = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    std::vector<polytile_chain_launch> launches;
    polytile_status status = POLYTILE_OK;
    polytile_plan_summary summary = {};

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
    EXPECT_EQ(of.summary.n_launches, 8);
    EXPECT_EQ(of.summary.n_passes, 1);
    EXPECT_EQ(of.summary.launches_per_pass, 8);
    EXPECT_GT(of.summary.slab_threads, 0);
    EXPECT_EQ(of.summary.h2d_bytes, 4 * (256 * 256 - 4));
    EXPECT_EQ(of.summary.d2h_bytes, 4 * 254 * 254);
    EXPECT_EQ(of.summary.lower_bound_bytes, Moved(of.summary));
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

void ExpectFigure(const Figure &figure) {
    ToAndFro of(figure.declaration, figure.extents, figure.n_steps);
    ASSERT_NE(of.Plan(Limit(figure.limit_bytes)), nullptr) << of.Error();
    const polytile_plan_summary fused = of.summary;
    ASSERT_NE(of.Plan(Limit(figure.limit_bytes, 1)), nullptr) << of.Error();
    const polytile_plan_summary apart = of.summary;
    double field_bytes = 4;
    for (const int64_t extent : figure.extents)
        field_bytes *= static_cast<double>(extent);
    const double steps_bytes = 2 * field_bytes * figure.n_steps;
    const double moved = static_cast<double>(Moved(fused));
    std::printf(
        "%d steps within %lld MiB: 1/%.1f of one pass a step, 1/%.1f of launches planned "
        "apart; %lld passes of %lld, slabs of %lld, planned in %.3f s and %.3f s, %lld kernels\n",
        figure.n_steps, static_cast<long long>(figure.limit_bytes >> 20), steps_bytes / moved,
        static_cast<double>(Moved(apart)) / moved, static_cast<long long>(fused.n_passes),
        static_cast<long long>(fused.launches_per_pass), static_cast<long long>(fused.slab_threads),
        fused.plan_seconds, apart.plan_seconds, static_cast<long long>(fused.n_kernels));
    EXPECT_GE(steps_bytes / moved, figure.least_times);
    EXPECT_GE(static_cast<double>(Moved(apart)) / moved, figure.least_times);
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

} // namespace
