#define POLYTILE_RECORD_ACCESS
#include "launch/kernels.h"

#include "support/environment.h"

#include <gtest/gtest.h>
#include <numeric>
#include <polytile/polytile.h>

/* How much of what is declared to be read is read. */

namespace {

/* As the body of polytile/kernel.h, by hand, which tells nothing. */
void add_quietly(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto at = [&](int view, int64_t i) {
        return reinterpret_cast<float *>(static_cast<char *>(views[view].origin) +
                                         i * views[view].stride_bytes[0]);
    };
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        *at(2, i) = *at(0, i) + *at(1, i);
}

class AccessUse : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
        std::iota(memory[0].begin(), memory[0].end(), 1.0f);
        std::iota(memory[1].begin(), memory[1].end(), 7.0f);
        for (int a = 0; a < 3; a++)
            ASSERT_EQ(polytile_array_wrap(ctx, names[a], POLYTILE_F32, 1, &extent, memory[a].data(),
                                          &arrays[a]),
                      POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status find(const char *declaration, const polytile_implementation &of) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &of, &kernel), POLYTILE_OK) << error();
        return polytile_check_use(device, kernel, POLYTILE_EXTENTS(100), arrays, nullptr, uses);
    }
    std::string error() const { return polytile_last_error(ctx); }

    static constexpr const char *names[] = {"x", "y", "z"};
    const int64_t extent = 200;
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    std::vector<float> memory[3] = {std::vector<float>(200), std::vector<float>(200),
                                    std::vector<float>(200)};
    polytile_array *arrays[3] = {};
    polytile_use uses[3] = {};
};

TEST_F(AccessUse, IsCountedExactlyForBodiesThatTell) {
    ASSERT_EQ(find("add[i]: in x[i], y[:]; out z[i]", add_kernel), POLYTILE_OK) << error();
    EXPECT_TRUE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 100);
    EXPECT_EQ(uses[1].n_declared, 8 * 200);
    EXPECT_EQ(uses[1].n_read, 100);
    EXPECT_EQ(uses[2].n_declared, 0);
}

TEST_F(AccessUse, IsEstimatedForFunctionsThatDoNot) {
    polytile_implementation quiet = {};
    quiet.host = add_quietly;
    ASSERT_EQ(find("add[i]: in x[i], y[:]; out z[i]", quiet), POLYTILE_OK) << error();
    EXPECT_FALSE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, uses[0].n_tried);
    EXPECT_EQ(uses[1].n_declared, 8 * 200);
    EXPECT_GT(uses[1].n_read, 0);
    EXPECT_LT(uses[1].n_read, uses[1].n_tried / 2);
}

TEST_F(AccessUse, OfElementsThatAreUpdatedIsSeen) {
    polytile_implementation quiet = {};
    quiet.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
        float *x = static_cast<float *>(views[0].origin);
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            x[i * views[0].stride_bytes[0] / 4] += i % 2 == 0 ? 1.0f : 0.0f;
    };
    ASSERT_EQ(find("update[i]: inout x[i]", quiet), POLYTILE_OK) << error();
    EXPECT_GT(uses[0].n_read, uses[0].n_tried / 4);
    EXPECT_LT(uses[0].n_read, uses[0].n_tried);
}

/** x is written and not read, and both are reached for. */
POLYTILE_KERNEL(overwrite, (i), (float, x, 1), (const float, y, 1)) {
    PT_AT(x, i) = PT_AT(y, i) + 1;
}
POLYTILE_KERNEL(update, (i), (float, x, 1), (const float, y, 1)) {
    PT_AT(x, i) = PT_AT(x, i) * 2 + PT_AT(y, i);
}
POLYTILE_KERNEL(later, (i), (float, x, 1), (const float, y, 1)) {
    if (i >= 50)
        PT_AT(x, i) = PT_AT(y, i);
}

TEST_F(AccessUse, OfElementsThatAreOnlyWrittenIsNone) {
    ASSERT_EQ(find("overwrite[i]: inout x[i]; in y[i]", overwrite_kernel), POLYTILE_OK) << error();
    EXPECT_FALSE(uses[0].is_recorded);
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_tried, 100);
    EXPECT_EQ(uses[0].n_read, 0);
    EXPECT_TRUE(uses[1].is_recorded);
    EXPECT_EQ(uses[1].n_read, 100);
    ASSERT_EQ(find("update[i]: inout x[i]; in y[i]", update_kernel), POLYTILE_OK) << error();
    EXPECT_EQ(uses[0].n_declared, 100);
    EXPECT_EQ(uses[0].n_read, 100);
}

TEST_F(AccessUse, IsCountedWhereTheFirstThreadsDoNothing) {
    ASSERT_EQ(find("later[i]: inout x[i]; in y[i]", later_kernel), POLYTILE_OK) << error();
    EXPECT_TRUE(uses[1].is_recorded);
    EXPECT_EQ(uses[1].n_declared, 100);
    EXPECT_EQ(uses[1].n_read, 50);
}

TEST_F(AccessUse, IsNotLookedForBehindAWrongDeclaration) {
    EXPECT_EQ(find("add[i]: in x[i], y[0]; out z[i]", add_kernel), POLYTILE_INVALID);
    EXPECT_NE(error().find("reads y["), std::string::npos) << error();
}

TEST_F(AccessUse, IsToldWhereTheEnvironmentAsksForIt) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "wide");
    polytile_context_destroy(ctx);
    SetUp();
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_kernel_create(ctx, "add[i]: in x[i], y[:]; out z[i]", &add_kernel, &kernel),
              POLYTILE_OK);
    testing::internal::CaptureStderr();
    EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(100), arrays, nullptr), POLYTILE_OK);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "polytile: add: declared too wide: y: 1500 of 1600 elements that boxes of threads "
              "are declared to read are not read there, 5.86 KiB of 6.25 KiB\n");
    EXPECT_EQ(memory[2][99], memory[0][99] + memory[1][99]);
    ASSERT_EQ(polytile_kernel_create(ctx, "overwrite[i]: inout x[i]; in y[i]", &overwrite_kernel,
                                     &kernel),
              POLYTILE_OK);
    testing::internal::CaptureStderr();
    EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(100), arrays, nullptr), POLYTILE_OK);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "polytile: overwrite: perhaps declared too wide: x: of 100 elements tried no result "
              "depends on 100, about 400 B of 400 B; declare out what is only written\n");
}

} // namespace
