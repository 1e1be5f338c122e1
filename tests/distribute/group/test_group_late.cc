#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

/* Devices over the same memory, of which one is late: what it does for a launch must not meet what
 * the others do for later ones. */

namespace {

POLYTILE_KERNEL(set, (i, j), (int32_t, x, 2)) {
    PT_AT(x, i, j) = 100;
}

POLYTILE_KERNEL(set_rows, (i), (int32_t, x, 2)) {
    for (int64_t j = PT_FIRST(x, 1); j <= PT_LAST(x, 1); j++)
        PT_AT(x, i, j) = 100;
}

POLYTILE_KERNEL(add, (i, j), (int32_t, x, 2)) {
    PT_AT(x, i, j) += 1;
}

POLYTILE_KERNEL(fill, (i), (int32_t, t, 1)) {
    PT_AT(t, i) = (int32_t)i;
}

POLYTILE_KERNEL(grow, (i, j), (int32_t, t, 1)) {
    PT_AT(t, 1024 * i + j) = 3 * PT_AT(t, 1024 * i + j) + 1;
}

POLYTILE_KERNEL(copy, (i), (const int32_t, t, 1), (int32_t, x, 1)) {
    PT_AT(x, i) = PT_AT(t, 1048575 - i);
}

POLYTILE_KERNEL(sum, (i, j), (int32_t, x, 2)) {
    PT_SUM(PT_AT(x, i, j), 1);
}

/** A kernel's host function, which all calls but the first begin late. */
class Late {
  public:
    explicit Late(const polytile_implementation &of) : host_(of.host), implementation_(of) {
        implementation_.user = this;
        implementation_.host = [](const polytile_domain *threads, const polytile_view *views,
                                  void *user) {
            auto *late = static_cast<Late *>(user);
            if (late->n_calls_++ > 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            late->host_(threads, views, nullptr);
        };
    }
    const polytile_implementation *implementation() const { return &implementation_; }

  private:
    polytile_host_function *host_;
    polytile_implementation implementation_;
    std::atomic<int> n_calls_{0};
};

struct LateGroup {
    const char *declarations[2];
    const polytile_implementation *bodies[2];
    int n_indices[2];
    int64_t extents[2];
    const char *devices;
    const char *layout;
};

void PrintTo(const LateGroup &of, std::ostream *out) {
    *out << of.declarations[0] << " " << of.declarations[1] << " " << of.extents[0] << "x"
         << of.extents[1] << " on " << of.devices << " " << of.layout;
}

class GroupLate : public testing::TestWithParam<LateGroup> {};

constexpr const char *two = "host(threads=1),host(threads=1)";
constexpr const char *three = "host(threads=1),host(threads=1),host(threads=1)";
constexpr const char *four = "host(threads=1),host(threads=1),host(threads=1),host(threads=1)";
constexpr const char *mixed = "host(threads=1),host(memory=1MiB,threads=1)";
constexpr const char *small = "host(memory=4KiB,threads=1),host(memory=4KiB,threads=1)";

const char *const out = "set[i, j]: out x[i, j]";
const char *const rows = "set[i]: out x[i, :]";
const char *const inout = "add[i, j]: inout x[i, j]";
const char *const summed = "sum[i, j]: sum x[i, j]";

INSTANTIATE_TEST_SUITE_P(
    Groups, GroupLate,
    testing::Values(
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 8}, two, "block"},
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 1}, two, "block"},
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 8}, mixed, "block"},
        LateGroup{
            {out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 2000}, small, "block(dim=0)"},
        LateGroup{{out, summed}, {&set_kernel, &sum_kernel}, {2, 2}, {1, 8}, three, "block"},
        LateGroup{
            {out, summed}, {&set_kernel, &sum_kernel}, {2, 2}, {1, 5}, three, "weighted(0,1,1)"},
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 64}, three, "block(dim=0)"},
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 64}, two, "cyclic(3)"},
        LateGroup{{out, inout}, {&set_kernel, &add_kernel}, {2, 2}, {1, 8}, two, "pool"},
        LateGroup{{rows, inout}, {&set_rows_kernel, &add_kernel}, {1, 2}, {16, 16}, four, "block"},
        LateGroup{
            {rows, summed}, {&set_rows_kernel, &sum_kernel}, {1, 2}, {16, 16}, four, "block"}));

std::vector<int32_t> run(const LateGroup &of) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr;
    std::vector<int32_t> memory(static_cast<size_t>(of.extents[0] * of.extents[1]));
    Late late(*of.bodies[0]);
    const polytile_implementation *bodies[] = {late.implementation(), of.bodies[1]};
    polytile_share_options share = {};
    share.layout = of.layout;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_create_shared(ctx, of.devices, &share, &queue), POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 2, of.extents, memory.data(), &x),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, 1, &x), POLYTILE_OK);
    for (int k = 0; k < 2; k++) {
        polytile_kernel *kernel = nullptr;
        const polytile_domain threads = polytile_domain_from_extents(of.n_indices[k], of.extents);
        EXPECT_EQ(polytile_kernel_create(ctx, of.declarations[k], bodies[k], &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 1, &x, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
    }
    EXPECT_EQ(polytile_queue_detach(queue, 1, &x), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    return memory;
}

/** Which of two devices comes first is up to them. */
TEST_P(GroupLate, WhatIsOverwrittenIsSoBeforeItIsUsed) {
    for (int round = 0; round < 8 && !HasFailure(); round++)
        for (const int32_t element : run(GetParam()))
            ASSERT_EQ(element, 101);
}

/** Of an internal array each device has memory of its own, and all update all of it. */
TEST(GroupUpdates, BeginWhenTheOthersHaveWhatTheyNeedOfThem) {
    const int64_t n = 1024 * 1024;
    std::vector<int32_t> memory(static_cast<size_t>(n));
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *filling = nullptr, *growing = nullptr, *copying = nullptr;
    polytile_array *x = nullptr, *t = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_create(ctx, two, &queue), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "fill[i]: out t[i]", &fill_kernel, &filling),
              POLYTILE_OK);
    EXPECT_EQ(
        polytile_kernel_create(ctx, "grow[i, j]: inout t[1024*i + j]", &grow_kernel, &growing),
        POLYTILE_OK);
    EXPECT_EQ(
        polytile_kernel_create(ctx, "copy[i]: in t[1048575-i]; out x[i]", &copy_kernel, &copying),
        POLYTILE_OK);
    EXPECT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_I32, 1, &n, &t), POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, &n, memory.data(), &x), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, 1, &x), POLYTILE_OK);
    EXPECT_EQ(
        polytile_queue_launch(queue, filling, POLYTILE_EXTENTS(n), POLYTILE_ARRAYS(t), nullptr),
        POLYTILE_OK);
    EXPECT_EQ(polytile_queue_launch(queue, growing, POLYTILE_EXTENTS(1024, 1024),
                                    POLYTILE_ARRAYS(t), nullptr),
              POLYTILE_OK);
    EXPECT_EQ(
        polytile_queue_launch(queue, copying, POLYTILE_EXTENTS(n), POLYTILE_ARRAYS(t, x), nullptr),
        POLYTILE_OK);
    EXPECT_EQ(polytile_queue_detach(queue, 1, &x), POLYTILE_OK) << polytile_last_error(ctx);
    for (int64_t k = 0; k < n; k++)
        ASSERT_EQ(memory[static_cast<size_t>(k)], 3 * (n - 1 - k) + 1);
    polytile_context_destroy(ctx);
}

} // namespace
