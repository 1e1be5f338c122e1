#include <gtest/gtest.h>

#include <string>
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

TEST(TeamOverlap, SumsOfThreadsThatWaitAreAddedToThoseOfOthers) {
    const std::vector<int32_t> expected = run_on("host");
    for (const char *devices :
         {"host,host", "host,host,host", "host(memory=1KiB),host(memory=1KiB)"})
        EXPECT_EQ(run_on(devices), expected) << devices;
}

} // namespace
