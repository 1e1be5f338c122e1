#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <array>

extern "C" {
#include "access/set/index_map.h"
}

namespace {

using Index = std::array<int64_t, POLYTILE_MAX_DIMS>;

Index apply_map(const pti_index_map &map, const Index &from) {
    Index to = {};
    for (int d = 0; d < map.n_to; d++) {
        to[d] = map.constant[d];
        for (int k = 0; k < map.n_from; k++)
            to[d] += map.coefficient[d][k] * from[k];
    }
    return to;
}

pti_index_map draw_map(Random *random, int n_from, int n_to) {
    pti_index_map map = {};
    map.n_from = n_from;
    map.n_to = n_to;
    for (int d = 0; d < n_to; d++) {
        map.constant[d] = random->number(-9, 9);
        for (int k = 0; k < n_from; k++)
            map.coefficient[d][k] = random->number(0, 3);
    }
    return map;
}

TEST(IndexMap, ComposesAsOneMapAfterTheOther) {
    Random random(test_seed("IndexMap.ComposesAsOneMapAfterTheOther"));
    for (int64_t k = 0; k < scaled(2000); k++) {
        int n[3];
        for (int &n_dims : n)
            n_dims = static_cast<int>(random.number(1, POLYTILE_MAX_DIMS));
        const pti_index_map first = draw_map(&random, n[0], n[1]);
        const pti_index_map second = draw_map(&random, n[1], n[2]);
        const pti_index_map both = pti_index_map_compose(&first, &second);
        Index from = {};
        for (int d = 0; d < n[0]; d++)
            from[d] = random.number(-20, 20);
        ASSERT_EQ(apply_map(both, from), apply_map(second, apply_map(first, from)));
        const pti_index_map before = pti_index_map_identity(n[1]);
        const pti_index_map alone = pti_index_map_compose(&first, &before);
        ASSERT_TRUE(pti_index_map_equals(&alone, &first));
    }
}

TEST(IndexMap, DiffersInAnyNumber) {
    const pti_index_map map = pti_index_map_identity(2);
    pti_index_map other = map;
    EXPECT_TRUE(pti_index_map_equals(&map, &other));
    other.constant[1] = 1;
    EXPECT_FALSE(pti_index_map_equals(&map, &other));
    other = map;
    other.coefficient[0][1] = 1;
    EXPECT_FALSE(pti_index_map_equals(&map, &other));
    other = pti_index_map_identity(3);
    EXPECT_FALSE(pti_index_map_equals(&map, &other));
}

} // namespace
