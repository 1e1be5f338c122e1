#include "support/launch.h"

#include <gtest/gtest.h>

extern "C" {
#include "queue/aliased.h"
}

namespace {

/* The device memory of superblocks whose boxes are those of arrays, not of operands. */

int64_t shared_bytes(const Launch &launch, const std::vector<int> &array) {
    return pti_aliased_bytes({launch.instance(), array.data()}, &launch.instance()->threads);
}

TEST(Aliased, OperandsOfAnArrayShareABox) {
    const Launch launch("f[i]: in a[i], b[i]; out c[i]", "1000",
                        {{"a", "1000"}, {"b", "1000"}, {"c", "1000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const int64_t one = pti_resident_padded(4000);
    EXPECT_EQ(shared_bytes(launch, {0, 1, 2}), 3 * one);
    EXPECT_EQ(shared_bytes(launch, {0, 0, 1}), 2 * one);
}

TEST(Aliased, WhatIsTooMuchToCountIsTheMostThereIs) {
    const std::string large = "1152921504606846976"; /* 2^60 elements of four bytes */
    const Launch launch("f[i]: in a[i], b[i]; out c[i]", large,
                        {{"a", large}, {"b", large}, {"c", large}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    EXPECT_EQ(shared_bytes(launch, {0, 0, 0}), int64_t{1} << 62);
    EXPECT_EQ(shared_bytes(launch, {0, 0, 1}), INT64_MAX);
    EXPECT_EQ(shared_bytes(launch, {0, 1, 2}), INT64_MAX);
}

} // namespace
