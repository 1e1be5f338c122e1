#include "partition/skew/blurs.h"

/* Which launches are of a chain. */

namespace {

using namespace blurs;

TEST(Skew, ALaunchThatCannotJoinLeavesNoTrace) {
    Skewed skewed(planes, {blur_there, blur_back, add_up});
    for (const int kernel : {0, 1, 0, 1, 2})
        skewed.Add(kernel);
    EXPECT_EQ(skewed.Find(), "rows starts a reduction of array3");
    EXPECT_EQ(skewed.chain().n_launches, 4);
    EXPECT_EQ(skewed.chain().axis[2], PTI_AXIS_NONE);
}

} // namespace
