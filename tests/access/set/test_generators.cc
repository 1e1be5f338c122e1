#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <set>

extern "C" {
#include "access/set/generators.h"
}

namespace {

/** All sums that there are. */
std::set<int64_t> sums_of(const pti_generators &generators) {
    std::set<int64_t> sums = {0};
    for (int g = 0; g < generators.n; g++) {
        std::set<int64_t> more;
        for (const int64_t sum : sums)
            for (int64_t t = 0; t < generators.count[g]; t++)
                more.insert(sum + t * generators.stride[g]);
        sums = more;
    }
    return sums;
}

std::set<int64_t> elements_of_ranges(const pti_generators &generators, int64_t base) {
    std::set<int64_t> elements;
    for (int64_t k = 0; k < pti_generators_count_ranges(&generators); k++) {
        const polytile_range range = pti_generators_get_range(&generators, k, base);
        for (int64_t x = range.lo; x <= range.hi; x += range.step)
            elements.insert(x - base);
    }
    return elements;
}

pti_generators draw_generators(Random *random) {
    pti_generators drawn =
        pti_generators_of_interval(random->number(1, 3), random->one_of({1, 2, 3, 5}));
    for (int64_t n = random->number(0, 3); n > 0; n--)
        pti_generators_add(&drawn, random->number(-12, 12), random->number(1, 4));
    return drawn;
}

TEST(Generators, StayTheSameSetHoweverTheyAreJoined) {
    Random random(test_seed("Generators.StayTheSameSetHoweverTheyAreJoined"));
    int n_fewer = 0;
    for (int64_t k = 0; k < scaled(5000); k++) {
        const pti_generators drawn = draw_generators(&random);
        const std::set<int64_t> right = sums_of(drawn);
        const int64_t extent = drawn.stride[0] * (drawn.count[0] - 1), base = random.number(-9, 9);
        pti_generators equal = drawn, nested = drawn, absorbed = drawn;
        pti_generators_join_equal(&equal);
        pti_generators_join_nested(&nested);
        pti_generators_absorb(&absorbed, random.number(0, extent), random.chance(50));
        for (const pti_generators &joined : {drawn, equal, nested, absorbed}) {
            ASSERT_EQ(sums_of(joined), right);
            ASSERT_EQ(elements_of_ranges(joined, base), right);
            n_fewer += joined.n < drawn.n;
        }
    }
    EXPECT_GE(n_fewer, least_count(scaled(5000), 0.2));
}

TEST(Generators, CountRangesUpToTheLargestNumber) {
    pti_generators made = pti_generators_of_interval(1, INT64_C(1) << 40);
    pti_generators_add(&made, 7, INT64_C(1) << 32);
    EXPECT_EQ(pti_generators_count_ranges(&made), INT64_C(1) << 32);
    pti_generators_add(&made, 11, INT64_C(1) << 32);
    EXPECT_EQ(pti_generators_count_ranges(&made), INT64_MAX);
}

} // namespace
