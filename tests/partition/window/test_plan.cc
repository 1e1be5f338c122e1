#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

namespace {

struct Array {
    const char *name;
    polytile_type type;
    std::vector<int64_t> extents;
};

/** A launch and what its plan must come to. */
struct Case {
    const char *declaration;
    std::vector<polytile_range> domain;
    std::vector<Array> arrays;
    std::vector<polytile_parameter> parameters;
};

class Plan : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status Make(const Case &of, polytile_launch_options options, polytile_plan **plan) {
        polytile_kernel *kernel;
        polytile_status status = polytile_kernel_create(ctx, of.declaration, nullptr, &kernel);
        if (status != POLYTILE_OK)
            return status;
        std::vector<polytile_array *> arrays;
        for (const Array &array : of.arrays) {
            polytile_domain domain = polytile_domain_from_extents(
                static_cast<int>(array.extents.size()), array.extents.data());
            polytile_array *made;
            status = polytile_array_describe(ctx, array.name, array.type, &domain, &made);
            if (status != POLYTILE_OK)
                return status;
            arrays.push_back(made);
        }
        polytile_domain domain{};
        domain.n_dims = static_cast<int>(of.domain.size());
        for (size_t d = 0; d < of.domain.size(); d++)
            domain.range[d] = of.domain[d];
        options.n_parameters = static_cast<int>(of.parameters.size());
        options.parameters = of.parameters.data();
        return polytile_plan_create(kernel, &domain, static_cast<int>(arrays.size()), arrays.data(),
                                    &options, plan);
    }

    void Expect(const polytile_plan *plan) {
        pti_text why{};
        EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
        pti_text_free(&why);
        if (plan->summary.limit_bytes > 0) {
            EXPECT_LE(plan->summary.peak_device_bytes, plan->summary.limit_bytes);
        }
    }

    polytile_context *ctx = nullptr;
};

constexpr int64_t MiB = int64_t{1} << 20;

const Case vector_add = {"add[i]: in x[i], y[i]; out z[i]",
                         {{0, 67107839, 1}},
                         {{"x", POLYTILE_F32, {67107840}},
                          {"y", POLYTILE_F32, {67107840}},
                          {"z", POLYTILE_F32, {67107840}}},
                         {}};
const Case stencil = {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                      {{1, 8190, 1}, {1, 8190, 1}},
                      {{"A", POLYTILE_F32, {8192, 8192}}, {"B", POLYTILE_F32, {8192, 8192}}},
                      {}};
const Case matmul = {"matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
                     {{0, 4095, 1}, {0, 4095, 1}},
                     {{"A", POLYTILE_F32, {4096, 4096}},
                      {"B", POLYTILE_F32, {4096, 4096}},
                      {"C", POLYTILE_F32, {4096, 4096}}},
                     {}};
const Case gemm = {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
                   {{0, 1023, 1}, {0, 1023, 1}, {0, 1023, 1}},
                   {{"A", POLYTILE_F32, {1024, 1024}},
                    {"B", POLYTILE_F32, {1024, 1024}},
                    {"C", POLYTILE_F32, {1024, 1024}}},
                   {}};
const Case dot = {
    "dot[i]: in x[i], y[i]; out sum s[0]",
    {{0, 999999, 1}},
    {{"x", POLYTILE_F64, {1000000}}, {"y", POLYTILE_F64, {1000000}}, {"s", POLYTILE_F64, {1}}},
    {}};
const Case coarsen = {"coarsen[i]: in fine[2*i:2*i+2]; out coarse[i]",
                      {{0, 499999, 1}},
                      {{"fine", POLYTILE_F32, {1000001}}, {"coarse", POLYTILE_F32, {500000}}},
                      {}};
const Case odd = {"odd[i]: in x[1:n-1:2]; out y[i]",
                  {{0, 9999, 1}},
                  {{"x", POLYTILE_F32, {1000}}, {"y", POLYTILE_F32, {10000}}},
                  {POLYTILE_PARAMETER("n", 1000)}};
const Case lower = {
    "lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
    {{0, 2047, 1}},
    {{"L", POLYTILE_F32, {2048, 2048}}, {"x", POLYTILE_F32, {2048}}, {"y", POLYTILE_F32, {2048}}},
    {}};
const Case hankel = {"hankel[i, j]: in h[i+j]; out H[i, j]",
                     {{0, 1999, 1}, {0, 999, 1}},
                     {{"h", POLYTILE_F32, {2999}}, {"H", POLYTILE_F32, {2000, 1000}}},
                     {}};
const Case any = {"any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]",
                  {{0, 511, 1}, {0, 511, 1}},
                  {{"A", POLYTILE_F32, {512, 512}}, {"B", POLYTILE_F32, {512, 512}}},
                  {}};

TEST_F(Plan, OfEveryExampleDeclarationPassesTheCheckerWithEveryStrategyAndBuffers) {
    const Case *cases[] = {&vector_add, &stencil, &matmul, &gemm,   &dot,
                           &coarsen,    &odd,     &lower,  &hankel, &any};
    const char *strategies[] = {"min-kernels", "min-traffic", "min-time", "paper"};
    for (const Case *of : cases) {
        for (const char *strategy : strategies) {
            for (int n_buffers = 0; n_buffers <= 3; n_buffers++) {
                SCOPED_TRACE(std::string(of->declaration) + " " + strategy + " " +
                             std::to_string(n_buffers));
                polytile_launch_options options{};
                options.plan.strategy = strategy;
                options.plan.n_buffers = n_buffers;
                options.plan.limit_bytes = 2 * MiB;
                polytile_plan *plan;
                ASSERT_EQ(Make(*of, options, &plan), POLYTILE_OK) << polytile_last_error(ctx);
                Expect(plan);
            }
        }
    }
}

TEST_F(Plan, MovesEachElementOnceWhereNothingIsShared) {
    polytile_launch_options options{};
    options.plan.limit_bytes = 64 * MiB;
    polytile_plan *plan;
    ASSERT_EQ(Make(vector_add, options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->summary.h2d_bytes, 2 * 4 * int64_t{67107840});
    EXPECT_EQ(plan->summary.d2h_bytes, 4 * int64_t{67107840});
    EXPECT_EQ(plan->summary.h2d_bytes + plan->summary.d2h_bytes, plan->summary.lower_bound_bytes);
}

TEST_F(Plan, FillsTheLimitWithTheFewestKernelsForVectorAdd) {
    polytile_launch_options options{};
    options.plan.strategy = "min-kernels";
    const int64_t block = 256;
    options.plan.block = &block;
    for (int64_t limit = MiB; limit <= 1024 * MiB; limit *= 2) {
        options.plan.limit_bytes = limit;
        polytile_plan *plan;
        ASSERT_EQ(Make(vector_add, options, &plan), POLYTILE_OK);
        int64_t blocks_that_fit = limit / (3 * 4 * block);
        int64_t n_blocks = 67107840 / block;
        EXPECT_EQ(plan->summary.n_kernels, (n_blocks + blocks_that_fit - 1) / blocks_that_fit);
    }
}

TEST_F(Plan, KeepsTheStencilsHaloOnTheDevice) {
    polytile_launch_options options{};
    options.plan.strategy = "min-traffic";
    options.plan.limit_bytes = 32 * MiB;
    polytile_plan *plan;
    ASSERT_EQ(Make(stencil, options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->summary.h2d_bytes, 4 * (int64_t{8192} * 8192 - 4))
        << "all but the corners, once";
}

TEST_F(Plan, KeepsAnAccumulatorResidentWhileAnIndexItDoesNotNameIsSplit) {
    polytile_launch_options options{};
    options.plan.strategy = "min-traffic";
    options.plan.limit_bytes = 8 * MiB;
    polytile_plan *plan;
    ASSERT_EQ(Make(gemm, options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->summary.d2h_bytes, 4 * int64_t{1024} * 1024);
    ASSERT_EQ(Make(dot, options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->summary.d2h_bytes, 8);
    EXPECT_EQ(plan->summary.h2d_bytes, 2 * 8 * int64_t{1000000});
}

/** The plane through three samples of one and two blocks says 2.1 MiB for the whole grid; the truth
 * is 512 MiB. */
TEST_F(Plan, OfThePapersPlaneEquationOvershootsAndIsCorrected) {
    Case flaw = stencil;
    flaw.domain = {{0, 8191, 1}, {0, 8191, 1}};
    const int64_t block[] = {16, 16};
    polytile_launch_options options{};
    options.plan.block = block;
    options.plan.limit_bytes = 4 * MiB;
    options.plan.strategy = "paper";
    polytile_plan *plan;
    ASSERT_EQ(Make(flaw, options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->paper_overshoot_bytes, 2 * 4 * int64_t{8192} * 8192 - 4 * MiB)
        << "the plane takes the whole grid for one kernel";
    EXPECT_LE(plan->summary.peak_device_bytes, 4 * MiB);
    Expect(plan);
}

TEST_F(Plan, OfTriangularFootprintsVariesTheSuperblocks) {
    polytile_launch_options options{};
    options.plan.strategy = "min-kernels";
    options.plan.limit_bytes = 1 * MiB;
    polytile_plan *plan;
    ASSERT_EQ(Make(lower, options, &plan), POLYTILE_OK);
    polytile_domain first, last;
    ASSERT_EQ(polytile_plan_get_superblock(plan, 0, &first), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_get_superblock(plan, plan->summary.n_kernels - 1, &last), POLYTILE_OK);
    EXPECT_GT(first.range[0].hi - first.range[0].lo, last.range[0].hi - last.range[0].lo);
    Expect(plan);
}

TEST_F(Plan, WithoutALimitRunsInPlace) {
    polytile_plan *plan;
    ASSERT_EQ(Make(stencil, {}, &plan), POLYTILE_OK);
    EXPECT_TRUE(plan->schedule->in_place);
    EXPECT_EQ(plan->summary.n_kernels, 1);
    EXPECT_EQ(plan->summary.h2d_bytes + plan->summary.d2h_bytes, 0);
    Expect(plan);
}

TEST_F(Plan, ThatCannotFitNamesTheSharesTheLimitAndWhatWouldHelp) {
    const int64_t block[] = {32, 8};
    polytile_launch_options options{};
    options.plan.block = block;
    options.plan.limit_bytes = 64 << 10;
    polytile_plan *plan;
    ASSERT_EQ(Make(matmul, options, &plan), POLYTILE_NO_FIT);
    EXPECT_EQ(plan, nullptr);
    std::string text = polytile_last_error(ctx);
    for (const char *part : {"matmul: one 32x8 block needs 641 KiB", "A 512 KiB", "B 128 KiB",
                             "C 1 KiB", "the limit is 64 KiB", "a block of", "gemm[i, j, k]"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(Plan, RefusesWrongOptionsByName) {
    polytile_plan *plan;
    polytile_launch_options options{};
    options.plan.strategy = "fastest";
    EXPECT_EQ(Make(vector_add, options, &plan), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("min-kernels"), std::string::npos);
    options = {};
    options.plan.n_buffers = 4;
    EXPECT_EQ(Make(vector_add, options, &plan), POLYTILE_INVALID);
    options = {};
    options.plan.limit_bytes = -1;
    EXPECT_EQ(Make(vector_add, options, &plan), POLYTILE_INVALID);
    const int64_t block = 0;
    options = {};
    options.plan.block = &block;
    EXPECT_EQ(Make(vector_add, options, &plan), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_create(nullptr, nullptr, 0, nullptr, nullptr, &plan), POLYTILE_INVALID);
}

} // namespace
