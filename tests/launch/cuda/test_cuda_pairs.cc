#include "support/fake_cuda.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/* Elements of two numbers on the CUDA device, in place of which a runtime of the tests runs: what
 * is filled in, moved and combined from superblock to superblock. */

namespace {

POLYTILE_KERNEL(ends, (i), (const float, x, 1), (pt_f32_i64, top, 1), (pt_f32_i64, low, 1),
                (pt_c128, s, 1)) {
    PT_ARGMAX(PT_AT(top, i % 2), PT_AT(x, i), i);
    PT_ARGMIN(PT_AT(low, 0), PT_AT(x, i), i);
    PT_SUM(PT_AT(s, 0), PT_C128(1, i));
}

const char *const ends_text = "ends[i]: in x[i]; out argmax top[:]; argmin low[0]; out sum s[0]";

char kernel_place;

struct Ends {
    pt_f32_i64 top[2], low;
    pt_c128 s;
};

/** By a plain loop over numbers without NaN, onto what low held. */
Ends expected_ends(const std::vector<float> &x, const pt_f32_i64 &low) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Ends ends = {{{nan, INT64_MAX}, {nan, INT64_MAX}}, low, pt_c128(0, 0)};
    for (size_t k = 0; k < x.size(); k++) {
        const auto index = static_cast<int64_t>(k);
        if (!(x[k] <= ends.top[k % 2].value))
            ends.top[k % 2] = {x[k], index};
        if (x[k] < ends.low.value || (x[k] == ends.low.value && index < ends.low.index))
            ends.low = {x[k], index};
        ends.s += pt_c128(1, static_cast<double>(k));
    }
    return ends;
}

Ends run_ends(std::vector<float> &x, Ends held, const char *device_text) {
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[4] = {};
    polytile_implementation implementation = ends_kernel;
    implementation.cuda = &kernel_place;
    const int64_t extents[] = {static_cast<int64_t>(x.size()), 2, 1, 1};
    const polytile_type indexed = POLYTILE_INDEXED(POLYTILE_F32);
    const polytile_type types[] = {POLYTILE_F32, indexed, indexed, POLYTILE_C128};
    void *const data[] = {x.data(), held.top, &held.low, &held.s};
    const polytile_domain threads = polytile_domain_from_extents(1, extents);
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_device_open(ctx, device_text, &device), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, ends_text, &implementation, &kernel), POLYTILE_OK);
    for (int a = 0; a < 4; a++)
        EXPECT_EQ(polytile_array_wrap(ctx, "a", types[a], 1, &extents[a], data[a], &arrays[a]),
                  POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, &threads, 4, arrays, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    return held;
}

void expect_same(const pt_f32_i64 &found, const pt_f32_i64 &expected) {
    EXPECT_TRUE(found.value == expected.value ||
                (std::isnan(found.value) && std::isnan(expected.value)))
        << found.value << ", not " << expected.value;
    EXPECT_EQ(found.index, expected.index);
}

TEST(CudaPairs, AreThoseOfALoop) {
    Random random(test_seed("CudaPairs.AreThoseOfALoop"));
    for (int64_t round = 0; round < scaled(20) && !HasFailure(); round++) {
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, 1 << 30)));
        cuda.add_kernel(&kernel_place, ends_kernel);
        std::vector<float> x(static_cast<size_t>(random.one_of({1, 2, 97, 1009})));
        for (float &value : x)
            value = static_cast<float>(random.number(-3, 3));
        const pt_f32_i64 low = {static_cast<float>(random.number(-4, 4)), random.number(-2, 50)};
        const Ends expected = expected_ends(x, low);
        const Ends held = {{{77, 1}, {77, 1}}, low, pt_c128(5, 5)};
        for (const char *device : {"cuda:0(memory=16MiB)", "cuda:0(memory=1KiB)"}) {
            const Ends found = run_ends(x, held, device);
            for (int k = 0; k < 2; k++)
                expect_same(found.top[k], expected.top[k]);
            expect_same(found.low, expected.low);
            EXPECT_EQ(found.s, expected.s);
        }
    }
}

} // namespace
