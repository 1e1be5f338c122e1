#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

extern "C" {
#include "base/checked.h"
}

/* Arithmetic at the ends of 64 bits, against 128 bits. */

namespace {

const std::vector<int64_t> numbers = {INT64_MIN,
                                      INT64_MIN + 1,
                                      INT32_MIN,
                                      -3,
                                      -1,
                                      0,
                                      1,
                                      2,
                                      7,
                                      3037000499ll,
                                      3037000500ll,
                                      INT32_MAX,
                                      INT64_MAX / 2,
                                      INT64_MAX / 2 + 1,
                                      INT64_MAX - 1,
                                      INT64_MAX};

TEST(Checked, OverflowIsToldAndLeavesTheResult) {
    const struct {
        const char *name;
        bool (*overflows)(int64_t a, int64_t b, int64_t *result);
        __int128 (*exact)(__int128 a, __int128 b);
    } rows[] = {
        {"add", pti_add_overflows, [](__int128 a, __int128 b) { return a + b; }},
        {"sub", pti_sub_overflows, [](__int128 a, __int128 b) { return a - b; }},
        {"mul", pti_mul_overflows, [](__int128 a, __int128 b) { return a * b; }},
    };
    for (const auto &row : rows)
        for (const int64_t a : numbers)
            for (const int64_t b : numbers) {
                const __int128 exact = row.exact(a, b);
                const bool fits = exact >= INT64_MIN && exact <= INT64_MAX;
                int64_t result = 77;
                EXPECT_EQ(row.overflows(a, b, &result), !fits) << row.name << a << " " << b;
                EXPECT_TRUE(result == (fits ? exact : 77)) << row.name << a << " " << b;
            }
}

TEST(Checked, SaturatedSumsAndProductsEndAtTheLargestNumber) {
    const __int128 most = INT64_MAX;
    for (const int64_t a : numbers)
        for (const int64_t b : numbers) {
            if (a < 0 || b < 0)
                continue;
            EXPECT_TRUE(pti_add_saturated(a, b) == std::min<__int128>(__int128{a} + b, most));
            EXPECT_TRUE(pti_mul_saturated(a, b) == std::min<__int128>(__int128{a} * b, most));
        }
}

TEST(Checked, QuotientsAreRoundedAsTheirNamesSay) {
    for (int64_t a = -40; a <= 40; a++)
        for (int64_t b = 1; b <= 9; b++) {
            const int64_t quotient = pti_floor_div(a, b), rest = pti_floor_mod(a, b);
            EXPECT_EQ(quotient * b + rest, a);
            EXPECT_TRUE(rest >= 0 && rest < b) << a << " " << b;
            if (a >= 0) {
                EXPECT_TRUE(pti_ceil_div(a, b) * b >= a && pti_ceil_div(a, b) * b < a + b);
            }
        }
}

TEST(Checked, TheGreatestCommonDivisorIsTheLargestThatDividesBoth) {
    for (int64_t a = -30; a <= 30; a++)
        for (int64_t b = -30; b <= 30; b++) {
            int64_t largest = a == 0 && b == 0 ? 0 : 1;
            for (int64_t d = 2; d <= 30; d++)
                if ((a != 0 || b != 0) && a % d == 0 && b % d == 0)
                    largest = d;
            EXPECT_EQ(pti_gcd(a, b), largest) << a << " " << b;
        }
}

} // namespace
