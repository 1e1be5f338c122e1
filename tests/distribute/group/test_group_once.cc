#include "support/environment.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <ostream>
#include <vector>

/* What several devices over the same memory compute twice. Threads that none owns by what they
 * write they could all run, but what is updated or reduced into is so once; and what they compute
 * of each other's elements, so as not to wait, goes nowhere. */

namespace {

POLYTILE_KERNEL(flat, (i, j), (uint32_t, x, 1)) {
    PT_AT(x, 4 * i + j) = 3 * PT_AT(x, 4 * i + j) + 1;
}

POLYTILE_KERNEL(growing, (i, j), (uint32_t, x, 1)) {
    for (int64_t k = 0; k <= 3 * j + 1; k++)
        PT_SUM(PT_AT(x, k), (uint32_t)(i + j + 1));
}

POLYTILE_KERNEL(pairs, (i, j), (uint32_t, x, 1)) {
    PT_SUM(PT_AT(x, i), (uint32_t)(j + 2));
    PT_SUM(PT_AT(x, i + 1), (uint32_t)(j + 3));
}

POLYTILE_KERNEL(wide, (i, j), (uint32_t, x, 1)) {
    for (int64_t k = 0; k < 24; k++)
        PT_SUM(PT_AT(x, k), (uint32_t)(5 * i + j + 1));
}

POLYTILE_KERNEL(total, (i), (const uint32_t, a, 1), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), 31 * PT_AT(a, i - 1) + PT_AT(a, i));
}

POLYTILE_KERNEL(grown, (i), (uint32_t, a, 1), (const uint32_t, b, 1)) {
    PT_AT(a, i) = 3 * PT_AT(b, i - 2) + PT_AT(b, i) + (uint32_t)i;
}

struct Once {
    const char *declaration;
    const polytile_implementation *body;
    bool is_fresh;
};

const Once kernels[] = {
    {"flat[i, j]: inout x[4*i+j]", &flat_kernel, false},
    {"growing[i, j]: sum x[0:3*j+1]", &growing_kernel, false},
    {"pairs[i, j]: sum x[i:i+1]", &pairs_kernel, false},
    {"wide[i, j]: sum x[:]", &wide_kernel, false},
    {"wide[i, j]: out sum x[:]", &wide_kernel, true},
};

class GroupOnce : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Devices, GroupOnce,
                         testing::Values("host", "host,host", "host(threads=1),host,host",
                                         "host(memory=4KiB),host(memory=4KiB)",
                                         "host,host(memory=4KiB)"));

TEST_P(GroupOnce, ThreadsThatNoDeviceOwnsRunOnce) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const Once &of : kernels) {
        polytile_context *ctx = nullptr;
        polytile_queue *queue = nullptr;
        polytile_kernel *kernel = nullptr;
        polytile_array *x = nullptr;
        const int64_t extents[] = {24};
        std::vector<uint32_t> memory(24), expected(24);
        for (uint32_t k = 0; k < 24; k++)
            memory[k] = expected[k] = 100 * k;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(polytile_queue_create(ctx, GetParam(), &queue), POLYTILE_OK);
        EXPECT_EQ(polytile_kernel_create(ctx, of.declaration, of.body, &kernel), POLYTILE_OK);
        EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_U32, 1, extents, memory.data(), &x),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(x)), POLYTILE_OK);
        polytile_view view = {
            expected.data(), {sizeof(uint32_t)}, {0}, {23}, {1, {{0, 23, 1}}}, 0, 0};
        for (int n = 0; n < 3; n++) {
            EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(6, 4),
                                            POLYTILE_ARRAYS(x), nullptr),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            if (of.is_fresh)
                expected.assign(24, 0);
            of.body->host(POLYTILE_EXTENTS(6, 4), &view, nullptr);
        }
        EXPECT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(x)), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(memory, expected) << of.declaration;
        polytile_context_destroy(ctx);
    }
}

polytile_array *wrap(polytile_context *ctx, const char *name, std::vector<uint32_t> *memory) {
    const auto n = static_cast<int64_t>(memory->size());
    polytile_array *array = nullptr;
    EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_U32, 1, &n, memory->data(), &array),
              POLYTILE_OK);
    return array;
}

TEST_P(GroupOnce, ReductionsReadWhatDevicesComputedOfEachOthersElements) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *adding = nullptr, *growing = nullptr;
    const int64_t n = 160;
    std::vector<uint32_t> a(n, 1), b(n), s(1, 5);
    for (uint32_t k = 0; k < n; k++)
        b[k] = 7 * k;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_create(ctx, GetParam(), &queue), POLYTILE_OK);
    EXPECT_EQ(
        polytile_kernel_create(ctx, "total[i]: in a[i-1:i]; sum s[0]", &total_kernel, &adding),
        POLYTILE_OK);
    EXPECT_EQ(
        polytile_kernel_create(ctx, "grown[i]: out a[i]; in b[i-2:i]", &grown_kernel, &growing),
        POLYTILE_OK);
    polytile_array *A = wrap(ctx, "a", &a), *B = wrap(ctx, "b", &b), *S = wrap(ctx, "s", &s);
    EXPECT_EQ(polytile_queue_attach(queue, POLYTILE_ARRAYS(A, B, S)), POLYTILE_OK);
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(polytile_queue_launch(queue, adding, POLYTILE_INTERIOR(1, n),
                                        POLYTILE_ARRAYS(A, S), nullptr),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_launch(queue, growing, POLYTILE_INTERIOR(2, n),
                                        POLYTILE_ARRAYS(A, B), nullptr),
                  POLYTILE_OK);
    }
    EXPECT_EQ(polytile_queue_detach(queue, POLYTILE_ARRAYS(A, B, S)), POLYTILE_OK);
    uint32_t sum = 5;
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 1; i < n - 1; i++)
            sum += round == 0 ? 32 : 31 * (i < 3 ? 1 : a[i - 1]) + (i < 2 ? 1 : a[i]);
    EXPECT_EQ(s[0], sum);
    polytile_context_destroy(ctx);
}

} // namespace
