#include "support/box_memory.h"
#include "support/elements.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <set>

extern "C" {
#include "launch/host/copy/loop_nest.h"
}

namespace {

TEST(LoopNest, JoinsWhatIsContiguousOnBothSides) {
    const struct {
        std::vector<polytile_range> box, to, from;
        int64_t run_bytes, n_runs;
        int n_loops;
    } rows[] = {
        {{{0, 9, 1}}, {{0, 9, 1}}, {{0, 9, 1}}, 40, 1, 1},
        {{{5, 5, 1}}, {{0, 9, 1}}, {{0, 9, 1}}, 4, 1, 1},
        {{{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 7, 1}}, 320, 1, 1},
        {{{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 7, 1}}, {{0, 9, 1}, {0, 8, 1}}, 32, 10, 1},
        {{{0, 8, 2}}, {{0, 8, 2}}, {{0, 8, 2}}, 20, 1, 1},
        {{{0, 9, 3}}, {{0, 9, 3}}, {{0, 9, 1}}, 4, 4, 1},
        {{{0, 2, 1}, {0, 3, 1}, {1, 5, 1}},
         {{0, 2, 1}, {0, 3, 1}, {0, 7, 1}},
         {{0, 2, 1}, {0, 3, 1}, {0, 5, 1}},
         20,
         12,
         1},
        {{{0, 2, 1}, {0, 3, 1}, {1, 5, 1}},
         {{0, 2, 1}, {0, 3, 1}, {0, 7, 1}},
         {{0, 2, 1}, {0, 4, 1}, {0, 5, 1}},
         20,
         12,
         2},
    };
    for (const auto &row : rows) {
        const polytile_domain box = domain_of(row.box);
        Memory to(domain_of(row.to), 4, 1), from(domain_of(row.from), 4, 2);
        pti_move move = {&box, 4, to.image(), from.image()};
        const pti_loop_nest nest = pti_loop_nest_of(&move);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(nest.run_bytes, row.run_bytes);
        EXPECT_EQ(nest.n_runs, row.n_runs);
        EXPECT_EQ(nest.n_loops, row.n_loops);
    }
}

TEST(LoopNest, ComesToEveryByteOfTheBoxOnce) {
    Random random(test_seed("LoopNest.ComesToEveryByteOfTheBoxOnce"));
    for (int64_t round = 0; round < scaled(1000) && !HasFailure(); round++) {
        const polytile_domain box = random_box(random, 5);
        const int64_t element_bytes = random.one_of({1, 3, 4, 8});
        Memory to(random_hull(random, box), element_bytes, 1);
        Memory from(random_hull(random, box), element_bytes, 2);
        std::set<std::pair<const void *, const void *>> expected, found;
        for_each_point(box, [&](const Point &point) {
            for (int64_t b = 0; b < element_bytes; b++)
                expected.insert({to.at(point) + b, from.at(point) + b});
        });
        pti_move move = {&box, element_bytes, to.image(), from.image()};
        const pti_loop_nest nest = pti_loop_nest_of(&move);
        for (int64_t run = 0; run < nest.n_runs; run++) {
            char *at;
            const char *read;
            pti_loop_nest_locate(&nest, run, &at, &read);
            for (int64_t b = 0; b < nest.run_bytes; b++)
                EXPECT_TRUE(found.insert({at + b, read + b}).second);
        }
        EXPECT_EQ(found, expected);
    }
}

} // namespace
