extern "C" {
#include "partition/choose/search.h"
#include "partition/choose/strategy.h"
}

#include <polytile/polytile.h>

#include "support/launch.h"
#include "support/list.h"
#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace {

int64_t Parts(int64_t n, int64_t extent) {
    return (n + extent - 1) / extent;
}

/** The smallest extent for each distinct number of parts, descending. */
std::vector<int64_t> DistinctExtents(int64_t n) {
    std::vector<int64_t> extents;
    for (int64_t parts = 1;; parts = Parts(n, extents.back() - 1)) {
        extents.push_back(Parts(n, parts));
        if (extents.back() == 1)
            return extents;
    }
}

/** The fewest boxes of at most so many elements that cover a grid, the last index solved for. */
int64_t FewestBoxes(const std::vector<int64_t> &n, size_t d, int64_t n_elements, int64_t n_others,
                    int64_t best) {
    if (d + 1 == n.size())
        return std::min(best, n_others * Parts(n[d], std::min(n[d], n_elements)));
    for (int64_t extent : DistinctExtents(n[d])) {
        if (extent <= n_elements && n_others * Parts(n[d], extent) < best)
            best = FewestBoxes(n, d + 1, n_elements / extent, n_others * Parts(n[d], extent), best);
    }
    return best;
}

TEST(Search, FewestKernelsAreExactHoweverLongTheIndicesAre) {
    Random random(test_seed("Search"));
    for (int64_t round = scaled(40); round > 0; round--) {
        const bool is_flat = random.chance(60);
        std::vector<int64_t> n;
        std::string extents, indices;
        int64_t n_elements = 1;
        for (int d = 0; d < (is_flat ? 2 : 3); d++) {
            n.push_back(is_flat ? random.number(50000, 3000000) : random.number(2000, 30000));
            extents += (d > 0 ? "x" : "") + std::to_string(n.back());
            indices += (d > 0 ? std::string(", ") : std::string()) + "ijk"[d];
            n_elements *= n.back();
        }
        const int64_t limit_bytes = n_elements / random.number(1000, 120000);
        const Launch launch("fill[" + indices + "]: out z[" + indices + "]", extents,
                            {{"z", extents}}, {{}, {{"z", POLYTILE_U8}}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const std::vector<int64_t> block(n.size(), 1);
        const pti_problem problem =
            pti_problem_of(launch.instance(), &polytile_link_default, block.data(), limit_bytes);
        const pti_variant plain = pti_variant_of(&pti_family_plain, 1);
        pti_candidate best;
        ASSERT_TRUE(
            pti_search(&problem, &pti_strategy_find("min-kernels")->objective, &plain, &best));
        EXPECT_EQ(best.n_kernels,
                  FewestBoxes(n, 0, limit_bytes, 1, std::numeric_limits<int64_t>::max()))
            << extents << " within " << limit_bytes;
    }
}

struct Tie {
    const char *declaration, *threads, *read;
    int64_t limit_bytes, n_kernels;
};

/** The plane gives many shapes with as few kernels, most of which have to shrink. */
TEST(Search, ThePaperTakesTheBestOfTiesOnItsPlane) {
    const Tie ties[] = {
        {"s[i, j]: in A[i:i+2, j:j+2]; out B[i, j]", "26x45", "28x47", 852, 16},
        {"s[i, j]: in A[i:i+6, j:j+6]; out B[i, j]", "39x58", "45x64", 1993, 16},
        {"s[i, j]: in A[i:i+2, j:j+2]; out B[i, j]", "6x12", "8x14", 191, 6},
    };
    for (const Tie &of : ties) {
        SCOPED_TRACE(of.threads);
        polytile_context *ctx = nullptr;
        polytile_context_create(&ctx);
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, of.declaration, nullptr, &kernel), POLYTILE_OK);
        const polytile_domain threads = domain_of(of.threads), read = domain_of(of.read);
        polytile_array *arrays[2] = {};
        polytile_array_describe(ctx, "A", POLYTILE_F32, &read, &arrays[0]);
        polytile_array_describe(ctx, "B", POLYTILE_F32, &threads, &arrays[1]);
        const int64_t block[] = {1, 1};
        polytile_launch_options options = {};
        options.plan.limit_bytes = of.limit_bytes;
        options.plan.strategy = "paper";
        options.plan.block = block;
        polytile_plan *plan = nullptr;
        EXPECT_EQ(polytile_plan_create(kernel, &threads, LIST(arrays), &options, &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_plan_summary summary;
        polytile_plan_get_summary(plan, &summary);
        EXPECT_EQ(summary.n_kernels, of.n_kernels);
        polytile_context_destroy(ctx);
    }
}

} // namespace
