#include <gtest/gtest.h>

#include "support/launch.h"

extern "C" {
#include "access/footprint/call.h"
}

namespace {

TEST(Call, IsAskedForAnArrayByItsNumberInTheList) {
    Launch launch("k[i]: in x[i]; inout y[i]; in z[i]", "10",
                  {{"x", "10"}, {"y", "10"}, {"z", "10"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const int array[] = {4, 7, 4};
    const pti_call call = {launch.instance(), array};
    const struct {
        int array, operand;
        bool writes;
    } rows[] = {{4, 2, false}, {7, 1, true}, {0, -1, false}};
    for (const auto &row : rows) {
        EXPECT_EQ(pti_call_find_operand(&call, row.array), row.operand) << row.array;
        EXPECT_EQ(pti_call_has_array(&call, row.array), row.operand >= 0) << row.array;
        EXPECT_EQ(pti_call_writes(&call, row.array), row.writes) << row.array;
    }
}

TEST(Call, WritesAnArrayIfAnyOfItsOperandsDoes) {
    Launch launch("k[i]: out x[i]; in y[i]", "10", {{"x", "10"}, {"y", "10"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const int array[] = {3, 3};
    const pti_call call = {launch.instance(), array};
    EXPECT_EQ(pti_call_find_operand(&call, 3), 1);
    EXPECT_TRUE(pti_call_writes(&call, 3));
}

} // namespace
