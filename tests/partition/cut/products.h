#ifndef POLYTILE_TESTS_PARTITION_CUT_PRODUCTS_H
#define POLYTILE_TESTS_PARTITION_CUT_PRODUCTS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

/* Plans of large products, and what they move at least. */

namespace cut {

inline constexpr int64_t GiB = int64_t{1} << 30;
inline constexpr char product[] = "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]";

/** Plans of products of square matrices. */
class Products : public ::testing::Test {
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

inline polytile_launch_options within(int64_t limit_bytes, const char *strategy = nullptr) {
    polytile_launch_options options{};
    options.plan.limit_bytes = limit_bytes;
    options.plan.strategy = strategy;
    return options;
}

/** The bytes that a product of n x n floats brings in at least, with a memory of so many bytes.
 * Source: Irony, Toledo and Tiskin, "Communication lower bounds for distributed-memory matrix
 * multiplication", 2004. */
inline double least_upload_bytes(int64_t n, int64_t limit_bytes) {
    const double extent = static_cast<double>(n);
    const double words = static_cast<double>(limit_bytes) / sizeof(float);
    return sizeof(float) *
           std::max(2 * extent * extent * extent / std::sqrt(words), 2 * extent * extent);
}

inline void expect_right(const polytile_plan *plan) {
    pti_text why{};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
    pti_text_free(&why);
    EXPECT_LE(plan->summary.peak_device_bytes, plan->summary.limit_bytes);
}

/** How many places in device memory an operand's pieces take in turn. */
inline size_t count_places(const pti_schedule *schedule, int operand) {
    std::vector<int64_t> offsets;
    for (int64_t p = 0; p < schedule->n_placements; p++)
        if (schedule->placement[p].operand == operand)
            offsets.push_back(schedule->placement[p].offset_bytes);
    std::sort(offsets.begin(), offsets.end());
    return static_cast<size_t>(std::unique(offsets.begin(), offsets.end()) - offsets.begin());
}

} // namespace cut

#endif
