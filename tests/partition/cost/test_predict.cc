#include "support/launch.h"

#include <gtest/gtest.h>

extern "C" {
#include "partition/arena/build.h"
#include "partition/cost/predict.h"
}

namespace {

TEST(Predict, KernelsOfFewerThreadsThanFillTheDeviceTakeLonger) {
    EXPECT_EQ(pti_unfilled_times(0, 1), 1) << "not known";
    EXPECT_EQ(pti_unfilled_times(100, 100), 1);
    EXPECT_EQ(pti_unfilled_times(100, 101), 1);
    EXPECT_EQ(pti_unfilled_times(100, 25), 4);
    EXPECT_EQ(pti_unfilled_times(INT64_MAX, 0), static_cast<double>(INT64_MAX));
}

TEST(Predict, OnlyKernelsTakeLongerWhereThreadsAreFew) {
    const Launch launch("scale[i]: inout x[i]", "1000000", {{"x", "1000000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_schedule *schedule = nullptr;
    ASSERT_EQ(pti_schedule_build_in_place(launch.instance(), &schedule), POLYTILE_OK);
    const auto seconds = [&](int64_t fill_threads) {
        return pti_schedule_predict(schedule, &polytile_link_default, fill_threads);
    };
    const double kernel_s = seconds(2000000) - seconds(0);
    EXPECT_GT(kernel_s, 0);
    EXPECT_EQ(seconds(1000000), seconds(0));
    EXPECT_DOUBLE_EQ(seconds(5000000) - seconds(0), 4 * kernel_s);
    EXPECT_LT(kernel_s, seconds(0)) << "the launch itself takes as long as before";
    pti_schedule_free(schedule);
}

} // namespace
