#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "partition/cut/launches.h"

using namespace cut;

namespace {

TEST(Paper, SolvesForAShapeOfWhichAtLeastOneBlockIsSaidToFit) {
    const std::unique_ptr<Launch> launch(MakeLaunch(Add(1000)));
    const pti_variant variant = pti_variant_of(&pti_family_paper, 1);
    for (const int64_t limit_bytes : {int64_t{11}, int64_t{12}, int64_t{1200}, 100 * KiB}) {
        SCOPED_TRACE(limit_bytes);
        const pti_problem problem =
            pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, limit_bytes);
        pti_solution solution = {};
        ASSERT_EQ(pti_family_paper.solve(&problem, &variant, &solution), limit_bytes >= 12);
        EXPECT_EQ(solution.shape[0], std::min<int64_t>(limit_bytes / 12, 1000));
        EXPECT_EQ(solution.constant_bytes, 0);
        EXPECT_EQ(solution.slope_bytes[0], 12);
    }
}

} // namespace
