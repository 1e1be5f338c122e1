#include "support/random.h"

#include <gtest/gtest.h>

extern "C" {
#include "partition/schedule/columns.h"
}

namespace {

TEST(Columns, EachThreadIsInTheColumnOfItsCoordinate) {
    Random random(test_seed("Columns.EachThreadIsInTheColumnOfItsCoordinate"));
    for (int round = 0; round < 500; round++) {
        pti_columns columns = {};
        ASSERT_TRUE(pti_columns_make(1, &columns));
        columns.width = random.number(1, 9);
        columns.begin = random.number(-5, 5);
        columns.index[0] = static_cast<int>(random.number(0, 1));
        columns.offset[0] = random.number(0, 12);
        const int64_t lo = columns.begin - columns.offset[0] + random.number(0, 4);
        const int64_t hi = lo + random.number(-1, 30);
        columns.n = (hi + columns.offset[0] - columns.begin) / columns.width + 1;
        polytile_domain box = {2, {{3, 7, 1}, {3, 7, 1}}};
        box.range[columns.index[0]] = {lo, hi, 1};
        int64_t next = lo;
        for (int64_t c = 0; c < columns.n; c++) {
            polytile_domain threads;
            if (!pti_columns_threads(&columns, 0, c, &box, &threads))
                continue;
            const polytile_range along = threads.range[columns.index[0]];
            EXPECT_EQ(along.lo, next);
            EXPECT_EQ(threads.range[1 - columns.index[0]].hi, 7);
            for (int64_t i = along.lo; i <= along.hi; i++)
                EXPECT_EQ((i + columns.offset[0] - columns.begin) / columns.width, c);
            next = along.hi + 1;
        }
        EXPECT_EQ(next, hi < lo ? lo : hi + 1);
        pti_columns_free(&columns);
    }
}

TEST(Columns, HaveTilesForAllWorkersWhereThereAreAsManyOperations) {
    for (int64_t n_workers = 1; n_workers <= 40; n_workers++)
        for (int64_t n_ops = 1; n_ops <= 200; n_ops++) {
            const int64_t n = pti_columns_tile_ops(n_ops, n_workers);
            EXPECT_GE(n, 1);
            EXPECT_LE(n, 8);
            EXPECT_GE((n_ops + n - 1) / n, std::min(n_ops, n_workers));
        }
}

TEST(Columns, ACopyIsOfItsOwn) {
    pti_columns columns = {}, copy = {}, none = {};
    ASSERT_TRUE(pti_columns_make(2, &columns));
    columns.n = 3;
    columns.width = 5;
    columns.begin = -1;
    columns.index[1] = 1;
    columns.offset[1] = 7;
    ASSERT_TRUE(pti_columns_copy(&columns, 2, &copy));
    pti_columns_free(&columns);
    EXPECT_EQ(copy.n, 3);
    EXPECT_EQ(copy.width, 5);
    EXPECT_EQ(copy.begin, -1);
    EXPECT_EQ(copy.index[1], 1);
    EXPECT_EQ(copy.offset[1], 7);
    pti_columns_free(&copy);
    ASSERT_TRUE(pti_columns_copy(&none, 2, &copy));
    EXPECT_EQ(copy.n, 0);
    pti_columns_free(&copy);
}

} // namespace
