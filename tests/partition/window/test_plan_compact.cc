#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

/* Plans of sections with steps and of sections that grow: what they hold and move, against plans
 * made by hand. */

namespace {

/** An array whose dimensions all have one extent. */
struct Array {
    const char *name;
    polytile_type type;
    int64_t extent;
    int n_dims = 1;
};

/** A kernel over threads 0 .. n - 1, and its arrays. */
struct Declared {
    std::string declaration;
    int64_t n_threads;
    std::vector<Array> arrays;
};

class PlanCompact : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    /** The plan, proven; NULL if there is none. */
    const polytile_plan *plan(const Declared &of, int64_t limit_bytes, const char *strategy) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, of.declaration.c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        std::vector<polytile_array *> arrays;
        for (const Array &array : of.arrays) {
            const std::vector<int64_t> extents(POLYTILE_MAX_DIMS, array.extent);
            const polytile_domain domain =
                polytile_domain_from_extents(array.n_dims, extents.data());
            arrays.push_back(nullptr);
            EXPECT_EQ(
                polytile_array_describe(ctx_, array.name, array.type, &domain, &arrays.back()),
                POLYTILE_OK);
        }
        const int64_t block = 1;
        const polytile_domain threads = polytile_domain_from_extents(1, &of.n_threads);
        polytile_launch_options options = {};
        options.plan.limit_bytes = limit_bytes;
        options.plan.strategy = strategy;
        options.plan.block = &block;
        polytile_plan *plan = nullptr;
        if (polytile_plan_create(kernel, &threads, static_cast<int>(arrays.size()), arrays.data(),
                                 &options, &plan) != POLYTILE_OK)
            return nullptr;
        pti_text why = {};
        EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << why.data;
        pti_text_free(&why);
        EXPECT_LE(plan->summary.peak_device_bytes, limit_bytes);
        return plan;
    }

    polytile_context *ctx_ = nullptr;
};

/** x[shift*i + first : shift*i + last : step] */
struct Strided {
    int64_t shift, first, n_steps, step, element_bytes;

    std::set<int64_t> touched(int64_t first_thread, int64_t end_thread) const {
        std::set<int64_t> elements;
        for (int64_t i = first_thread; i < end_thread; i++)
            for (int64_t k = 0; k <= n_steps; k++)
                elements.insert(shift * i + first + k * step);
        return elements;
    }

    /** The fewest equal superblocks of so many threads, each of which takes no more than the limit
     * with its elements side by side. */
    int64_t fewest(int64_t n_threads, int64_t limit_bytes) const {
        for (int64_t extent = n_threads; extent > 0; extent--) {
            bool fits = true;
            for (int64_t i = 0; i < n_threads && fits; i += extent) {
                const int64_t end = std::min(i + extent, n_threads);
                fits =
                    static_cast<int64_t>(touched(i, end).size()) * element_bytes + 4 * (end - i) <=
                    limit_bytes;
            }
            if (fits)
                return (n_threads + extent - 1) / extent;
        }
        return 0;
    }

    std::string subscript() const {
        const std::string at = std::to_string(shift) + "*i+";
        return at + std::to_string(first) + ":" + at + std::to_string(first + n_steps * step) +
               ":" + std::to_string(step);
    }
};

TEST_F(PlanCompact, ElementsOfOddStepsTakeTheFewestKernelsAndBytes) {
    Random random(test_seed("PlanCompact"));
    const struct {
        polytile_type type;
        int64_t bytes;
    } types[] = {{POLYTILE_U8, 1}, {POLYTILE_I16, 2}, {POLYTILE_F32, 4}, {POLYTILE_F64, 8}};
    for (int64_t round = scaled(300); round > 0; round--) {
        const auto type = types[random.number(0, 3)];
        Strided x = {0, random.number(0, 5), random.number(0, 4), 2 * random.number(1, 7) + 1,
                     type.bytes};
        x.shift = x.step * (x.n_steps > 0 ? random.number(1, x.n_steps + 1) : 1);
        const int64_t n_threads = random.number(2, 90);
        const int64_t extent = x.shift * n_threads + x.first + x.n_steps * x.step + 1;
        const bool writes = x.n_steps == 0 && random.chance(50);
        const Declared of = {writes ? "s[i]: in y[i]; out x[" + x.subscript() + "]"
                                    : "s[i]: in x[" + x.subscript() + "]; out y[i]",
                             n_threads,
                             {{"x", type.type, extent}, {"y", POLYTILE_F32, n_threads}}};
        Declared ordered = of;
        if (writes)
            std::swap(ordered.arrays[0], ordered.arrays[1]);
        const int64_t n_elements = static_cast<int64_t>(x.touched(0, n_threads).size());
        const int64_t limit_bytes = random.number(64, 200 + n_elements * type.bytes);
        SCOPED_TRACE(of.declaration + " over " + std::to_string(n_threads) + " within " +
                     std::to_string(limit_bytes));
        const polytile_plan *fewest = plan(ordered, limit_bytes, "min-kernels");
        const int64_t n_kernels = x.fewest(n_threads, limit_bytes);
        ASSERT_EQ(fewest == nullptr ? 0 : fewest->summary.n_kernels, n_kernels);
        if (n_kernels == 0)
            continue;
        const polytile_plan *least = plan(ordered, limit_bytes, "min-traffic");
        ASSERT_NE(least, nullptr);
        EXPECT_EQ(writes ? least->summary.d2h_bytes : least->summary.h2d_bytes,
                  n_elements * type.bytes);
    }
}

TEST_F(PlanCompact, SectionsThatGrowAreUploadedOnce) {
    Random random(test_seed("PlanCompact"));
    const int64_t n = 200;
    const char *declarations[] = {
        "p[i]: in x[0:i]; out y[i]",         "p[i]: in x[0:2*i]; out y[i]",
        "p[i]: in x[5:i]; out y[i]",         "p[i]: in x[199-i:199]; out y[i]",
        "p[i]: in x[100-i:100+i]; out y[i]", "p[i]: in x[0:i], z[i]; out y[i]"};
    for (const char *declaration : declarations)
        for (int64_t round = scaled(40); round > 0; round--) {
            const int64_t limit_bytes = random.number(1650, 4000);
            const Declared of = {declaration, n, {{"x", POLYTILE_F64, n}, {"y", POLYTILE_F32, n}}};
            Declared three = of;
            three.arrays.insert(three.arrays.begin() + 1, {"z", POLYTILE_F32, n});
            const bool has_z = of.declaration.find('z') != std::string::npos;
            const polytile_plan *least = plan(has_z ? three : of, limit_bytes, "min-traffic");
            ASSERT_NE(least, nullptr) << polytile_last_error(ctx_);
            EXPECT_EQ(least->summary.h2d_bytes + least->summary.d2h_bytes,
                      least->summary.lower_bound_bytes)
                << declaration << " within " << limit_bytes;
        }
}

TEST_F(PlanCompact, DiagonalsTakeWhatTheyHold) {
    Random random(test_seed("PlanCompact"));
    const struct {
        const char *declaration;
        int n_dims;
        int64_t elements_a_thread, extent_a_thread;
        int64_t up_a_thread, down_a_thread; /* elements, y aside */
    } rows[] = {{"d[i]: in D[i, i]; out y[i]", 2, 1, 1, 1, 0},
                {"d[i]: in D[i, 2*i]; out y[i]", 2, 1, 2, 1, 0},
                {"d[i]: in D[3*i, i+1]; out y[i]", 2, 1, 3, 1, 0},
                {"d[i]: in D[i, i:i+2]; out y[i]", 2, 3, 1, 3, 0},
                {"d[i]: in D[i, i+2], D[i, i+1]; out y[i]", 2, 2, 1, 2, 0},
                {"d[i]: in D[i, i, i]; out y[i]", 3, 1, 1, 1, 0},
                {"d[i]: in D[i, 199-i]; out y[i]", 2, 1, 200, 1, 0},
                {"d[i]: in D[i, 400-2*i:401-2*i]; out y[i]", 2, 2, 402, 2, 0},
                {"d[i]: inout D[i, i]; out y[i]", 2, 1, 1, 1, 1},
                {"d[i]: out D[i, 199-i], y[i]", 2, 1, 200, 0, 1},
                {"d[i]: in D[i, i+1]; out D[i, i], y[i]", 2, 2, 1, 1, 1}};
    for (const auto &row : rows)
        for (int64_t round = scaled(20); round > 0; round--) {
            const int64_t n = random.number(1, 200), a_thread = 4 * row.elements_a_thread + 4;
            const int64_t limit_bytes = random.number(a_thread, a_thread * n + 40);
            const Declared of = {row.declaration,
                                 n,
                                 {{"D", POLYTILE_F32, row.extent_a_thread * n + 2, row.n_dims},
                                  {"y", POLYTILE_F32, n}}};
            const int64_t n_at_once = std::min(n, limit_bytes / a_thread);
            const polytile_plan *fewest = plan(of, limit_bytes, "min-kernels");
            ASSERT_NE(fewest, nullptr) << polytile_last_error(ctx_);
            EXPECT_EQ(fewest->summary.n_kernels, (n + n_at_once - 1) / n_at_once)
                << row.declaration << " for " << n << " within " << limit_bytes;
            EXPECT_EQ(fewest->summary.h2d_bytes, 4 * row.up_a_thread * n) << row.declaration;
            EXPECT_EQ(fewest->summary.d2h_bytes, 4 * (row.down_a_thread + 1) * n)
                << row.declaration;
        }
}

TEST_F(PlanCompact, BandsThatTheArraysEndsClipMoveWhatTheArrayHas) {
    Random random(test_seed("PlanCompact"));
    for (const char *declaration :
         {"d[i]: in D[i, i-1:i+1]; out y[i]", "d[i]: in D[i-1:i+1, i]; out y[i]",
          "d[i]: inout D[i, i-1:i+1]; out y[i]"})
        for (int64_t round = scaled(20); round > 0; round--) {
            const int64_t n = random.number(3, 200), limit_bytes = random.number(16, 16 * n + 40);
            const Declared of = {
                declaration, n, {{"D", POLYTILE_F32, n, 2}, {"y", POLYTILE_F32, n}}};
            const int64_t n_at_once = std::min(n, limit_bytes / 16);
            const polytile_plan *fewest = plan(of, limit_bytes, "min-kernels");
            ASSERT_NE(fewest, nullptr) << polytile_last_error(ctx_);
            EXPECT_LE(fewest->summary.n_kernels, (n + n_at_once - 1) / n_at_once)
                << declaration << " for " << n << " within " << limit_bytes;
            EXPECT_EQ(fewest->summary.h2d_bytes, 4 * (3 * n - 2)) << declaration;
        }
}

/** Along the index each superblock is as long as fits: x[0:last] and y[first:last]. */
int64_t FewestOfPrefix(int64_t n, int64_t limit_bytes) {
    int64_t n_kernels = 0;
    for (int64_t first = 0; first < n; n_kernels++) {
        int64_t end = first;
        while (end < n && 4 * (end + 1) + 4 * (end + 1 - first) <= limit_bytes)
            end++;
        if (end == first)
            return 0;
        first = end;
    }
    return n_kernels;
}

TEST_F(PlanCompact, APrefixTakesTheFewestKernelsAndIsStillUploadedOnce) {
    Random random(test_seed("PlanCompact"));
    for (int64_t round = scaled(100); round > 0; round--) {
        const int64_t n = random.number(10, 400), limit_bytes = random.number(4 * n + 8, 9 * n);
        const Declared of = {
            "p[i]: in x[0:i]; out y[i]", n, {{"x", POLYTILE_F32, n}, {"y", POLYTILE_F32, n}}};
        const polytile_plan *fewest = plan(of, limit_bytes, "min-kernels");
        ASSERT_NE(fewest, nullptr) << polytile_last_error(ctx_);
        EXPECT_EQ(fewest->summary.n_kernels, FewestOfPrefix(n, limit_bytes));
        EXPECT_EQ(fewest->summary.h2d_bytes, 4 * n) << n << " within " << limit_bytes;
    }
}

} // namespace
