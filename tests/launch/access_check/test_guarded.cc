#include <gtest/gtest.h>
#include <polytile/polytile.h>

extern "C" {
#include "launch/access_check/guarded.h"
}

/* Copies lie between pages that nobody may touch. */

namespace {

class AccessCheckGuarded : public testing::Test {
  protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(pti_guarded_make(ctx, &memory, 10000, guard_bytes), POLYTILE_OK);
    }
    void TearDown() override {
        pti_guarded_free(&memory);
        polytile_context_destroy(ctx);
    }
    volatile unsigned char *at(std::ptrdiff_t offset) const { return memory.bytes + offset; }

    static constexpr std::ptrdiff_t guard_bytes = 5 << 20;
    polytile_context *ctx = nullptr;
    pti_guarded memory = {};
};

TEST_F(AccessCheckGuarded, AreMemoryInside) {
    EXPECT_GE(memory.n_bytes, 10000u);
    for (std::ptrdiff_t k = 0; k < 10000; k++)
        *at(k) = 7;
    EXPECT_EQ(*at(9999), 7);
}

using AccessCheckGuardedDeathTest = AccessCheckGuarded;

TEST_F(AccessCheckGuardedDeathTest, WhatReachesBeyondEndsAtOnce) {
    const std::ptrdiff_t n_bytes = static_cast<std::ptrdiff_t>(memory.n_bytes);
    for (std::ptrdiff_t beyond : {std::ptrdiff_t{1}, std::ptrdiff_t{3} << 12, guard_bytes}) {
        EXPECT_DEATH(*at(-beyond) = 1, "") << beyond;
        EXPECT_DEATH(*at(n_bytes - 1 + beyond) = 1, "") << beyond;
        EXPECT_DEATH(std::exit(*at(-beyond) & 0), "") << beyond;
    }
}

} // namespace
