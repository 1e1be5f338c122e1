#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "partition/cut/launches.h"
#include "partition/cut/products.h"
#include "support/links.h"
#include "support/scale.h"

using namespace cut;

namespace {

/** A product that takes little more time than its transfers, as on tensor cores. */
class Lines : public Products {
  protected:
    const polytile_plan *MakeFast(const char *declaration, int64_t n, int64_t limit_bytes) {
        fast_ = polytile_link_default;
        fast_.kernel_accesses_per_s *= 6;
        polytile_launch_options options = within(limit_bytes);
        options.plan.link = &fast_;
        return Make(declaration, n, options);
    }

    /** The shortest run of host memory that a transfer moves. */
    static int64_t ShortestRunBytes(const pti_schedule *schedule) {
        int64_t shortest = INT64_MAX;
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            const pti_op &op = schedule->op[k];
            if (op.kind != PTI_UPLOAD && op.kind != PTI_DOWNLOAD)
                continue;
            const pti_operand &operand =
                schedule->instance->operand[schedule->placement[op.placement].operand];
            shortest = std::min(
                shortest, pti_runs_of(&operand.domain, &op.box, operand.element_bytes).run_bytes);
        }
        return shortest;
    }

  private:
    polytile_link fast_{};
};

TEST_F(Lines, OfAFastProductMoveLongRunsInTheTimeOfTheLink) {
    const polytile_plan *plan = MakeFast(product, 32768, 3 * GiB / 2);
    ASSERT_NE(plan, nullptr);
    expect_right(plan);
    EXPECT_GE(ShortestRunBytes(plan->schedule), 32 << 10);
    const double upload_s =
        static_cast<double>(plan->summary.h2d_bytes) / polytile_link_default.duplex_bytes_per_s;
    EXPECT_LE(plan->summary.predicted_seconds, 1.1 * upload_s);
    EXPECT_LE(plan->summary.predicted_seconds, 0.38);
}

TEST_F(Lines, KeepOnePieceInOnePlaceAndPassTheChecker) {
    for (const char *roles : {"out sum", "sum", "max"}) {
        SCOPED_TRACE(roles);
        const std::string declaration =
            std::string("gemm[i, j, k]: in A[i, k], B[k, j]; ") + roles + " C[i, j]";
        const polytile_plan *plan = MakeFast(declaration.c_str(), 8192, 96 * MiB);
        ASSERT_NE(plan, nullptr);
        expect_right(plan);
        EXPECT_EQ(count_places(plan->schedule, 1), 1u);
        EXPECT_GE(count_places(plan->schedule, 0), 2u);
        EXPECT_GE(count_places(plan->schedule, 2), 2u);
    }
}

TEST_F(Lines, AndStripsOfSmallProductsPassTheChecker) {
    Random random(test_seed("Lines.AndStripsOfSmallProductsPassTheChecker"));
    const int64_t n_rounds = scaled(500);
    int64_t n_lines = 0, n_strips = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const int64_t n = random.number(12, 40);
        const polytile_link link = slow_link(&random);
        const std::vector<int64_t> block = {random.number(1, 3), random.number(1, 3), 1};
        polytile_launch_options options = within(12 * n * n / random.number(3, 16));
        options.plan.link = &link;
        options.plan.block = block.data();
        const char *roles[] = {"out sum", "sum", "out max", "prod"};
        const std::string declaration = std::string("gemm[i, j, k]: in A[i, k], B[k, j]; ") +
                                        roles[random.number(0, 3)] + " C[i, j]";
        SCOPED_TRACE(declaration + " of " + std::to_string(n));
        const polytile_plan *plan = Make(declaration.c_str(), n, options);
        ASSERT_NE(plan, nullptr);
        expect_right(plan);
        const size_t places[] = {count_places(plan->schedule, 0), count_places(plan->schedule, 1),
                                 count_places(plan->schedule, 2)};
        n_strips += places[2] > 2 && plan->summary.n_buffers == 2;
        n_lines += (places[0] == 1 || places[1] == 1) && places[2] > 1;
    }
    EXPECT_GE(n_lines, least_count(n_rounds, 0.15));
    EXPECT_GE(n_strips, least_count(n_rounds, 0.1));
}

TEST_F(Lines, HaveOnePlaceForWhatStays) {
    const std::unique_ptr<Launch> launch(MakeLaunch(Gemm(24)));
    const pti_problem problem =
        pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, MiB);
    const int of_index[] = {launch->operand("B"), launch->operand("A"), launch->operand("C")};
    for (const pti_variant &variant : VariantsOf(pti_family_lines, problem, {1, 2, 3})) {
        SCOPED_TRACE(variant.along);
        pti_candidate candidate = {};
        candidate.variant = variant;
        candidate.shape[0] = candidate.shape[1] = candidate.shape[2] = 6;
        pti_candidate_estimate(&problem, &candidate);
        EXPECT_EQ(candidate.order[2], variant.along) << "superblocks follow each other along it";
        pti_partition partition;
        ASSERT_TRUE(pti_family_lines.partition(&problem, &candidate, &partition));
        for (int a = 0; a < 3; a++)
            EXPECT_EQ(partition.n_places[a], a == of_index[variant.along]) << a;
        pti_partition_free(&partition);
    }
}

} // namespace
