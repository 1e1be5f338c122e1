#include "support/scale.h"

#include <gtest/gtest.h>

namespace {

/** The chance that fewer than `count` of n fair coins show heads, by Pascal's triangle. */
double chance_of_fewer_heads(int64_t n, int64_t count) {
    double n_ways = 1, chance = 0;
    for (int64_t k = 0; k < count; k++) {
        chance += n_ways * std::pow(0.5, static_cast<double>(n));
        n_ways *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    return chance;
}

TEST(LeastCount, IsTheLargestThatFewerSeldomCome) {
    for (const int64_t n : {1, 3, 10, 23, 24, 25, 50, 100, 500}) {
        const int64_t least = least_count(n, 0.5);
        EXPECT_LE(chance_of_fewer_heads(n, least), 1e-7) << n;
        EXPECT_GT(chance_of_fewer_heads(n, least + 1), 1e-7) << n;
    }
}

TEST(LeastCount, IsNothingOfFewRoundsAndNearTheShareOfMany) {
    EXPECT_EQ(least_count(0, 0.5), 0);
    EXPECT_EQ(least_count(1, 0.999), 0);
    EXPECT_EQ(least_count(23, 0.5), 0);
    EXPECT_EQ(least_count(24, 0.5), 1);
    EXPECT_GT(least_count(20000, 0.25), 4600);
    EXPECT_LT(least_count(20000, 0.25), 5000);
    EXPECT_GT(least_count(100000, 0.001), 40);
}

TEST(LeastCount, IsAllWhereEachRoundDraws) {
    EXPECT_EQ(least_count(1, 1), 1);
    EXPECT_EQ(least_count(700, 1), 700);
}

} // namespace
