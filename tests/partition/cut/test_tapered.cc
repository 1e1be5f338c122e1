#include <gtest/gtest.h>

#include <memory>

#include "partition/cut/launches.h"

using namespace cut;

namespace {

TEST(Tapered, CutsTheFirstAndTheLastSuperblockOfAPipeline) {
    const std::unique_ptr<Launch> launch(MakeLaunch(Add(800)));
    const pti_problem problem =
        pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, MiB);
    const struct {
        int64_t extent, n_superblocks;
    } table[] = {{100, 8 + 3 + 3}, {200, 4 + 3 + 3}, {400, 0}, {800, 0}};
    for (const auto &of : table) {
        SCOPED_TRACE(of.extent);
        pti_candidate candidate = {};
        candidate.variant = pti_variant_of(&pti_family_plain, 2);
        candidate.shape[0] = of.extent;
        pti_candidate_estimate(&problem, &candidate);
        pti_partition partition;
        ASSERT_TRUE(pti_family_tapered.partition(&problem, &candidate, &partition));
        EXPECT_EQ(partition.n_superblocks, of.n_superblocks);
        if (partition.n_superblocks > 0) {
            const int64_t last = partition.n_superblocks - 1;
            EXPECT_EQ(pti_box_count(&partition.superblock[0]), (of.extent + 7) / 8);
            EXPECT_EQ(pti_box_count(&partition.superblock[last]), (of.extent + 7) / 8);
        }
        pti_partition_free(&partition);
    }
}

} // namespace
