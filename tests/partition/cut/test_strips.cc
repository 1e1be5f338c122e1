#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "partition/cut/launches.h"
#include "partition/cut/products.h"

using namespace cut;

namespace {

class Strips : public Products {};

TEST_F(Strips, OfALargeProductUploadLittleMoreThanTheLowerBound) {
    constexpr int64_t n = 65536;
    const struct {
        int64_t limit_bytes;
        double at_most;
    } parts[] = {{6 * GiB, 1.25}, {3 * GiB, 1.10}, {3 * GiB / 2, 1.10}, {3 * GiB / 4, 1.10}};
    for (const char *strategy : {"min-time", "min-traffic"}) {
        for (const auto &part : parts) {
            SCOPED_TRACE(std::string(strategy) + ", limit " + std::to_string(part.limit_bytes));
            const polytile_plan *plan = Make(product, n, within(part.limit_bytes, strategy));
            ASSERT_NE(plan, nullptr);
            EXPECT_LE(static_cast<double>(plan->summary.h2d_bytes),
                      part.at_most * least_upload_bytes(n, part.limit_bytes));
        }
    }
}

TEST_F(Strips, HideWhatATileMovesBehindTheProductsOfItsNeighbours) {
    const double product_s = 3 * std::pow(32768.0, 3) / polytile_link_default.kernel_accesses_per_s;
    const polytile_plan *eighth = Make(product, 32768, within(3 * GiB / 2));
    ASSERT_NE(eighth, nullptr);
    EXPECT_LE(eighth->summary.predicted_seconds, 1.09 * product_s);
    EXPECT_LE(eighth->summary.h2d_bytes, 17 * GiB) << "transfers hold kernels up, too";
    const polytile_plan *part = Make(product, 32768, within(192 * MiB));
    ASSERT_NE(part, nullptr);
    EXPECT_LE(part->summary.predicted_seconds, 1.37 * product_s);
}

TEST_F(Strips, KeepSeveralPiecesOfWhatIsAccumulatedAndPassTheChecker) {
    polytile_link slow = polytile_link_default;
    slow.kernel_accesses_per_s = 1e12;
    slow.cache_bytes = 0; // few accumulators are enough to keep it busy
    polytile_launch_options options = within(24 * MiB);
    options.plan.link = &slow;
    for (const char *roles : {"out sum", "sum", "out max", "min"}) {
        SCOPED_TRACE(roles);
        const std::string declaration =
            std::string("gemm[i, j, k]: in A[i, k], B[k, j]; ") + roles + " C[i, j]";
        const polytile_plan *plan = Make(declaration.c_str(), 4096, options);
        ASSERT_NE(plan, nullptr);
        expect_right(plan);
        EXPECT_GT(count_places(plan->schedule, 2), 2u);
        EXPECT_EQ(plan->summary.d2h_bytes, 64 * MiB);
    }
}

TEST_F(Strips, OfATileFollowEachOtherAndEachHasAPlaceForItsAccumulators) {
    const Kernel inside = {"gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
                           "5:28, 5:28, 0:23",
                           {{"A", "29x24"}, {"B", "24x29"}, {"C", "29x29"}}};
    const std::unique_ptr<Launch> launch(MakeLaunch(inside));
    ASSERT_EQ(launch->status(), POLYTILE_OK) << launch->error();
    const pti_problem problem =
        pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, MiB);
    const int a = launch->operand("A"), b = launch->operand("B"), c = launch->operand("C");
    for (const pti_variant &variant : VariantsOf(pti_family_strips, problem, {1, 2, 3})) {
        SCOPED_TRACE(variant.n_strips);
        pti_candidate candidate = {};
        candidate.variant = variant;
        candidate.shape[0] = candidate.shape[1] = candidate.shape[2] = 12;
        pti_candidate_estimate(&problem, &candidate);
        pti_partition partition;
        ASSERT_TRUE(pti_family_strips.partition(&problem, &candidate, &partition));
        const int n_strips = 12 / ((12 + variant.n_strips - 1) / variant.n_strips);
        EXPECT_EQ(partition.n_strips, n_strips);
        for (int64_t k = 0; k < partition.n_superblocks; k++)
            EXPECT_EQ(pti_partition_strip(&partition, k), k % n_strips) << k;
        EXPECT_TRUE(partition.has_own_piece[c]);
        EXPECT_FALSE(partition.has_own_piece[a] || partition.has_own_piece[b]);
        EXPECT_EQ(partition.n_places[c], n_strips);
        EXPECT_EQ(partition.n_places[a], 4) << "A passes, strip by strip";
        EXPECT_EQ(partition.n_places[b], 0) << "as many as buffers";
        pti_partition_free(&partition);
    }
}

} // namespace
