#include "partition/window/to_and_fro.h"

/* How much a step of a chain moves: the figures that the library is to reach, with the limit a
 * share of the data. */

namespace {

using namespace to_and_fro;

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

} // namespace
