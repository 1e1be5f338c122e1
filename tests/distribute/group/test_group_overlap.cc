#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <polytile/kernel.h>
#include <polytile/polytile.h>

/* Sums into windows that overlap, where threads that need nothing of other members run before those
 * that do: an element that both combine into must not start from the identity twice. */

namespace {

constexpr int64_t n = 64;

POLYTILE_KERNEL(twice, (i), (const int32_t, a, 1), (int32_t, b, 1)) {
    PT_AT(b, i) = 2 * PT_AT(a, i);
}

POLYTILE_KERNEL(spread, (i), (const int32_t, a, 1), (int32_t, b, 1)) {
    const int32_t sum = PT_AT(a, i - 1) + PT_AT(a, i + 1);
    for (int64_t k = i - 1; k <= i + 1; k++)
        PT_SUM(PT_AT(b, k), sum);
}

std::vector<int32_t> run_on(const std::string &devices) {
    std::vector<int32_t> here(n), there(n, 7);
    for (int64_t k = 0; k < n; k++)
        here[static_cast<size_t>(k)] = static_cast<int32_t>(k * k % 31 + 1);
    const polytile_domain whole = polytile_domain_from_extents(1, &n);
    const int64_t lo = 1, hi = n - 2;
    const polytile_domain inner = polytile_domain_from_bounds(1, &lo, &hi);
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *first = nullptr, *second = nullptr;
    polytile_array *to[2] = {}, *back[2] = {};
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "twice[i]: in a[i]; out b[i]", &twice_kernel, &first),
              POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "spread[i]: in a[i-1:i+1]; out sum b[i-1:i+1]",
                                     &spread_kernel, &second),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "a", POLYTILE_I32, 1, &n, here.data(), &to[0]), POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "b", POLYTILE_I32, 1, &n, there.data(), &to[1]),
              POLYTILE_OK);
    back[0] = to[1];
    back[1] = to[0];
    EXPECT_EQ(polytile_queue_create(ctx, devices.c_str(), &queue), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, 2, to), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_launch(queue, first, &whole, 2, to, nullptr), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_launch(queue, second, &inner, 2, back, nullptr), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_detach(queue, 2, to), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    return here;
}

TEST(GroupOverlap, SumsOfThreadsThatWaitAreAddedToThoseOfOthers) {
    const std::vector<int32_t> expected = run_on("host");
    for (const char *devices :
         {"host,host", "host,host,host", "host(memory=1KiB),host(memory=1KiB)"})
        EXPECT_EQ(run_on(devices), expected) << devices;
}

/** The last element is read late. */
POLYTILE_KERNEL(hesitate, (i), (const int32_t, b, 1), (int32_t, c, 1)) {
    if (i == n - 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    PT_AT(c, i) = PT_AT(b, i);
}

POLYTILE_KERNEL(lower, (i), (const int32_t, a, 1), (int32_t, b, 1)) {
    for (int64_t k = i - 1; k <= i + 1; k++)
        PT_MIN(PT_AT(b, k), -PT_AT(a, i));
}

/** Where one device reduces for all, it writes elements that others own, and may still be
 * reading. */
TEST(GroupOverlap, WhatOneDeviceReducesForAllWaitsForTheOthers) {
    std::vector<int32_t> expected(n, 6);
    expected.front() = expected.back() = 2;
    expected[1] = expected[n - 2] = 4;
    for (const char *devices : {"host,host", "host,host(memory=1KiB)"}) {
        std::vector<int32_t> a(n, 1), b(n, 7), c(n, 0);
        const polytile_domain whole = polytile_domain_from_extents(1, &n);
        const int64_t lo = 1, hi = n - 2;
        const polytile_domain inner = polytile_domain_from_bounds(1, &lo, &hi);
        polytile_context *ctx = nullptr;
        polytile_queue *queue = nullptr;
        polytile_kernel *hesitates = nullptr, *spreads = nullptr, *lowers = nullptr;
        polytile_array *of_a = nullptr, *of_b = nullptr, *of_c = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "hesitate[i]: in b[i]; out c[i]", &hesitate_kernel,
                                         &hesitates),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "spread[i]: in a[i-1:i+1]; out sum b[i-1:i+1]",
                                         &spread_kernel, &spreads),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "lower[i]: in a[i]; out min b[i-1:i+1]",
                                         &lower_kernel, &lowers),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "a", POLYTILE_I32, 1, &n, a.data(), &of_a), POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "b", POLYTILE_I32, 1, &n, b.data(), &of_b), POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "c", POLYTILE_I32, 1, &n, c.data(), &of_c), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_create(ctx, devices, &queue), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(of_a, of_b, of_c)), POLYTILE_OK);
        /* The first one brings what the second finds there: no exchange waits for anybody. */
        ASSERT_EQ(
            polytile_queue_launch(queue, spreads, &inner, POLYTILE_ARRAYS(of_a, of_b), nullptr),
            POLYTILE_OK);
        ASSERT_EQ(
            polytile_queue_launch(queue, hesitates, &whole, POLYTILE_ARRAYS(of_b, of_c), nullptr),
            POLYTILE_OK);
        ASSERT_EQ(
            polytile_queue_launch(queue, lowers, &inner, POLYTILE_ARRAYS(of_a, of_b), nullptr),
            POLYTILE_OK);
        ASSERT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(of_a, of_b, of_c)), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(c, expected) << devices;
        EXPECT_EQ(b, std::vector<int32_t>(n, -1)) << devices;
        polytile_context_destroy(ctx);
    }
}

} // namespace
