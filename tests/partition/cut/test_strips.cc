#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

namespace {

constexpr int64_t MiB = int64_t{1} << 20;
constexpr int64_t GiB = int64_t{1} << 30;
constexpr char product[] = "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]";

class Strips : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** A plan of a kernel of three square arrays over n x n x n threads. */
    const polytile_plan *Make(const char *declaration, int64_t n, polytile_launch_options options) {
        polytile_kernel *kernel = nullptr;
        polytile_plan *plan = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, nullptr, &kernel), POLYTILE_OK);
        polytile_domain square = polytile_domain_from_extents(2, std::vector<int64_t>{n, n}.data());
        std::vector<polytile_array *> arrays(3);
        for (int a = 0; a < 3; a++)
            EXPECT_EQ(polytile_array_describe(ctx, polytile_kernel_get_array_name(kernel, a),
                                              POLYTILE_F32, &square, &arrays[a]),
                      POLYTILE_OK);
        EXPECT_EQ(polytile_plan_create(kernel, POLYTILE_EXTENTS(n, n, n),
                                       static_cast<int>(arrays.size()), arrays.data(), &options,
                                       &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return plan;
    }

    polytile_context *ctx = nullptr;
};

polytile_launch_options within(int64_t limit_bytes, const char *strategy = nullptr) {
    polytile_launch_options options{};
    options.plan.limit_bytes = limit_bytes;
    options.plan.strategy = strategy;
    return options;
}

/** The bytes that a product of n x n floats brings in at least, with a memory of so many bytes.
 * Source: Irony, Toledo and Tiskin, "Communication lower bounds for distributed-memory matrix
 * multiplication", 2004. */
double least_upload_bytes(int64_t n, int64_t limit_bytes) {
    const double extent = static_cast<double>(n);
    const double words = static_cast<double>(limit_bytes) / sizeof(float);
    return sizeof(float) *
           std::max(2 * extent * extent * extent / std::sqrt(words), 2 * extent * extent);
}

void expect_right(const polytile_plan *plan) {
    pti_text why{};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
    pti_text_free(&why);
    EXPECT_LE(plan->summary.peak_device_bytes, plan->summary.limit_bytes);
}

/** How many places in device memory an operand's pieces take in turn. */
size_t count_places(const pti_schedule *schedule, int operand) {
    std::vector<int64_t> offsets;
    for (int64_t p = 0; p < schedule->n_placements; p++)
        if (schedule->placement[p].operand == operand)
            offsets.push_back(schedule->placement[p].offset_bytes);
    std::sort(offsets.begin(), offsets.end());
    return static_cast<size_t>(std::unique(offsets.begin(), offsets.end()) - offsets.begin());
}

} // namespace

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

/** A product that takes little more time than its transfers, as on tensor cores. */
class Lines : public Strips {
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

/** The link of an imagined device that is slow, so that what the host does counts little. */
polytile_link draw_link(Random *random) {
    constexpr double slower = 1e-7;
    polytile_link link = polytile_link_default;
    link.upload_bytes_per_s *= slower;
    link.download_bytes_per_s *= slower;
    link.duplex_bytes_per_s *= slower;
    link.kernel_bytes_per_s *= slower;
    link.kernel_accesses_per_s = std::pow(10.0, static_cast<double>(random->number(3, 8)));
    link.run_overhead_bytes = static_cast<double>(random->number(0, 1) * (8 << 20));
    link.cache_bytes = static_cast<double>(random->number(0, 1024));
    return link;
}

TEST_F(Lines, AndStripsOfSmallProductsPassTheChecker) {
    Random random(test_seed("Lines.AndStripsOfSmallProductsPassTheChecker"));
    const int64_t n_rounds = scaled(500);
    int64_t n_lines = 0, n_strips = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const int64_t n = random.number(12, 40);
        const polytile_link link = draw_link(&random);
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
    EXPECT_GE(n_lines, n_rounds / 50);
    EXPECT_GE(n_strips, n_rounds / 50);
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
