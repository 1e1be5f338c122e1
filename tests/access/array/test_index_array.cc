#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/array/index_array.h"
}

namespace {

/** An index array over values in memory, with two columns or one. */
class Indices {
  public:
    Indices(std::vector<int64_t> values, int64_t first, int64_t n_columns)
        : values_(std::move(values)) {
        const int64_t n_rows = static_cast<int64_t>(values_.size()) / n_columns;
        array.name = "P";
        array.data = reinterpret_cast<const char *>(values_.data());
        array.is_wide = true;
        array.domain.n_dims = n_columns > 1 ? 2 : 1;
        array.domain.range[0] = {first, first + n_rows - 1, 1};
        array.domain.range[1] = {0, n_columns - 1, 1};
        array.layout = pti_memory_layout_of(&array.domain, 8);
        EXPECT_TRUE(pti_index_array_read(&array));
    }
    ~Indices() { pti_index_array_free(&array); }
    Indices(const Indices &) = delete;
    Indices &operator=(const Indices &) = delete;

    pti_index_array array = {};

  private:
    std::vector<int64_t> values_;
};

TEST(IndexArray, GivesTheLeastAndTheLargestValueOfAnyRows) {
    Random random(test_seed("IndexArray"));
    for (int64_t round = 0; round < scaled(60); round++) {
        const int64_t n_columns = random.one_of({1, 1, 2});
        const int64_t n_rows = random.one_of({1, 2, 63, 64, 65, 1024, 1025, 5000});
        const int64_t first = random.number(-5, 5);
        const bool ascends = random.chance(30);
        std::vector<int64_t> values;
        for (int64_t k = 0; k < n_rows * n_columns; k++)
            values.push_back(random.number(-1000, 1000));
        if (ascends)
            std::sort(values.begin(), values.end());
        const Indices indices(values, first, n_columns);
        for (int query = 0; query < 50; query++) {
            const int64_t lo = random.number(0, n_rows - 1), hi = random.number(lo, n_rows - 1);
            const pti_value_range found =
                pti_index_array_find_values(&indices.array, {first + lo, first + hi, 1});
            const auto begin = values.begin() + lo * n_columns;
            const auto end = values.begin() + (hi + 1) * n_columns;
            ASSERT_EQ(found.least, *std::min_element(begin, end)) << lo << ":" << hi;
            ASSERT_EQ(found.most, *std::max_element(begin, end)) << lo << ":" << hi;
        }
    }
}

TEST(IndexArray, KnowsWhetherItsValuesAscend) {
    EXPECT_TRUE(Indices({0, 0, 3, 3, 7}, 0, 1).array.ascends);
    EXPECT_FALSE(Indices({0, 3, 2, 3, 7}, 0, 1).array.ascends);
    EXPECT_FALSE(Indices({0, 1, 2, 3}, 0, 2).array.ascends);
}

TEST(IndexArray, TakesValuesBeyondAllArraysForTheLargest) {
    const Indices indices({INT64_MIN, 5, INT64_MAX}, 0, 1);
    const pti_value_range found = pti_index_array_find_values(&indices.array, {0, 2, 1});
    EXPECT_EQ(found.least, -(INT64_C(1) << 61));
    EXPECT_EQ(found.most, INT64_C(1) << 61);
}

} // namespace
