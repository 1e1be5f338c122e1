#include <gtest/gtest.h>

#include <cstdlib>
#include <jansson.h>
#include <malloc.h>
#include <memory>
#include <string>
#include <vector>

#include <polytile/polytile.h>

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

/* Plans of very many sub-kernels that repeat. */

namespace {

constexpr int64_t KiB = 1024, MiB = 1024 * KiB;

/** Additions of vectors, planned within 100 KiB: 8448 threads a superblock. */
class Additions {
  public:
    explicit Additions(int64_t n) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx, "add[i]: in x[i], y[i]; out z[i]", nullptr, &kernel),
                  POLYTILE_OK);
        const polytile_domain all = polytile_domain_from_extents(1, &n);
        for (const char *name : {"x", "y", "z"}) {
            arrays.emplace_back();
            EXPECT_EQ(polytile_array_describe(ctx, name, POLYTILE_F32, &all, &arrays.back()),
                      POLYTILE_OK);
        }
        polytile_launch_options options = {};
        options.plan.limit_bytes = 100 * KiB;
        EXPECT_EQ(polytile_plan_create(kernel, &all, 3, arrays.data(), &options, &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_plan_get_summary(plan, &summary);
    }
    ~Additions() { polytile_context_destroy(ctx); }
    Additions(const Additions &) = delete;
    Additions &operator=(const Additions &) = delete;

    std::string Print(polytile_format format) const {
        char *text = nullptr;
        EXPECT_EQ(polytile_plan_to_string(plan, format, &text), POLYTILE_OK);
        const std::string copy = text == nullptr ? "" : text;
        std::free(text);
        return copy;
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    std::vector<polytile_array *> arrays;
    polytile_plan *plan = nullptr;
    polytile_plan_summary summary = {};
};

size_t HeldBytes() {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

TEST(PlanPeriod, MillionsOfSubKernelsTakeTheMemoryOfAPeriod) {
    const size_t before = HeldBytes();
    const Additions of(INT64_C(1) << 36);
    const size_t after = HeldBytes();
    EXPECT_GT(of.summary.n_kernels, INT64_C(8000000));
    EXPECT_LE(after - std::min(before, after), size_t{64 * MiB});
    EXPECT_EQ(of.summary.h2d_bytes, INT64_C(8) << 36);
    EXPECT_EQ(of.summary.d2h_bytes, INT64_C(4) << 36);
    EXPECT_LT(of.summary.plan_seconds, 1);
}

TEST(PlanPeriod, OfMillionsOfSubKernelsAFewThousandAreProved) {
    const Additions of(INT64_C(1) << 36);
    ASSERT_NE(of.plan, nullptr);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(of.plan->schedule, &why)) << why.data;
    pti_text_free(&why);
}

TEST(PlanPeriod, SuperblocksAreFoundByTheirNumber) {
    const int64_t n = INT64_C(1) << 36;
    const Additions of(n);
    int64_t next = 0;
    polytile_domain threads;
    for (int64_t k = 0; k < 1000; k++) {
        ASSERT_EQ(polytile_plan_get_superblock(of.plan, k, &threads), POLYTILE_OK);
        ASSERT_EQ(threads.range[0].lo, next);
        next = threads.range[0].hi + 1;
    }
    const int64_t each = next / 1000;
    for (int64_t k = 1000; k < of.summary.n_kernels; k += 65537) {
        ASSERT_EQ(polytile_plan_get_superblock(of.plan, k, &threads), POLYTILE_OK);
        ASSERT_EQ(threads.range[0].lo, k * each);
    }
    const int64_t last = of.summary.n_kernels - 1;
    ASSERT_EQ(polytile_plan_get_superblock(of.plan, last, &threads), POLYTILE_OK);
    EXPECT_EQ(threads.range[0].lo, last * each);
    EXPECT_EQ(threads.range[0].hi, n - 1);
    EXPECT_EQ(polytile_plan_get_superblock(of.plan, last + 1, &threads), POLYTILE_INVALID);
}

int64_t Number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    EXPECT_TRUE(json_is_integer(value)) << key;
    return json_integer_value(value);
}

TEST(PlanPeriod, JsonAndTextListThePeriodOnce) {
    const Additions of(INT64_C(1) << 30);
    json_error_t error;
    const std::unique_ptr<json_t, decltype(&json_decref)> root(
        json_loads(of.Print(POLYTILE_JSON).c_str(), 0, &error), json_decref);
    ASSERT_TRUE(root) << error.text;
    const json_t *period = json_object_get(root.get(), "period");
    const int64_t first = Number(period, "first"), length = Number(period, "length"),
                  times = Number(period, "times");
    const auto n_listed =
        static_cast<int64_t>(json_array_size(json_object_get(root.get(), "superblocks")));
    EXPECT_LT(n_listed, 100);
    EXPECT_LE(first + length, n_listed);
    EXPECT_EQ(n_listed + (times - 1) * length, of.summary.n_kernels);
    const std::string words = "  period       " + std::to_string(length) + " superblock";
    EXPECT_NE(of.Print(POLYTILE_TEXT).find(words), std::string::npos) << of.Print(POLYTILE_TEXT);
    std::string last = std::to_string(of.summary.n_kernels - 1);
    for (size_t k = last.size(); k > 3; k -= 3)
        last.insert(k - 3, ",");
    EXPECT_NE(of.Print(POLYTILE_TEXT).find("  " + last + "  ["), std::string::npos) << last;
    EXPECT_NE(of.Print(POLYTILE_SVG).find(" times, drawn once"), std::string::npos);
}

TEST(PlanPeriod, AFewSubKernelsAreAllListed) {
    const Additions of(1 << 20);
    EXPECT_NE(of.Print(POLYTILE_JSON).find("\"period\": null"), std::string::npos);
    EXPECT_EQ(of.Print(POLYTILE_TEXT).find("period"), std::string::npos);
}

} // namespace
