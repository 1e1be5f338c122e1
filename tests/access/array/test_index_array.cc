#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <polytile/device.h>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/array/index_array.h"
#include "access/set/box.h"
}

namespace {

/** An index array over values in memory, with two columns or one. */
class Indices {
  public:
    Indices(std::vector<int64_t> values, int64_t first, int64_t n_columns)
        : values_(std::move(values)) {
        const int64_t n_rows = static_cast<int64_t>(values_.size()) / n_columns;
        pti_index_array of = {};
        of.data = reinterpret_cast<const char *>(values_.data());
        of.is_wide = true;
        of.domain.n_dims = n_columns > 1 ? 2 : 1;
        of.domain.range[0] = {first, first + n_rows - 1, 1};
        of.domain.range[1] = {0, n_columns - 1, 1};
        of.layout = pti_memory_layout_of(&of.domain, 8);
        read_ = pti_index_array_read(nullptr, &of);
        EXPECT_NE(read_, nullptr);
    }
    ~Indices() { pti_index_array_release(read_); }
    Indices(const Indices &) = delete;
    Indices &operator=(const Indices &) = delete;

    const pti_index_array &array() const { return *read_; }

  private:
    pti_index_array *read_;
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
                pti_index_array_find_values(&indices.array(), {first + lo, first + hi, 1});
            const auto begin = values.begin() + lo * n_columns;
            const auto end = values.begin() + (hi + 1) * n_columns;
            ASSERT_EQ(found.least, *std::min_element(begin, end)) << lo << ":" << hi;
            ASSERT_EQ(found.most, *std::max_element(begin, end)) << lo << ":" << hi;
        }
    }
}

/** An index array of any extents, as i32 or i64, whose elements lie apart from each other. */
class LaidOut {
  public:
    LaidOut(const std::vector<int64_t> &extents, bool is_wide, Random *random,
            const polytile_context *ctx = nullptr)
        : row_elements_(1) {
        const int n_dims = static_cast<int>(extents.size());
        const int64_t bytes = is_wide ? 8 : 4;
        pti_index_array of = {};
        of.is_wide = is_wide;
        of.domain.n_dims = n_dims;
        for (int d = 0; d < n_dims; d++) {
            const int64_t lo = random->number(-3, 3);
            of.domain.range[d] = {lo, lo + extents[static_cast<size_t>(d)] - 1, 1};
        }
        of.layout = pti_memory_layout_of(&of.domain, static_cast<int>(bytes));
        int64_t stride = bytes * random->one_of({1, 1, 3});
        for (int d = n_dims - 1; d >= 0; d--) {
            of.layout.stride_bytes[d] = stride;
            stride *= extents[static_cast<size_t>(d)] + random->number(0, 2);
            row_elements_ *= d > 0 ? extents[static_cast<size_t>(d)] : 1;
        }
        memory_.resize(static_cast<size_t>(stride));
        of.data = memory_.data();
        fill(of, random);
        read_ = pti_index_array_read(ctx, &of);
        EXPECT_NE(read_, nullptr);
    }
    ~LaidOut() { pti_index_array_release(read_); }
    LaidOut(const LaidOut &) = delete;
    LaidOut &operator=(const LaidOut &) = delete;

    const pti_index_array &array() const { return *read_; }
    int64_t first_row() const { return read_->domain.range[0].lo; }
    int64_t n_rows() const { return static_cast<int64_t>(values_.size()) / row_elements_; }

    /** Of rows counted from the first one, by enumeration. */
    pti_value_range enumerate(int64_t lo, int64_t hi) const {
        const auto begin = values_.begin() + lo * row_elements_;
        const auto end = values_.begin() + (hi + 1) * row_elements_;
        return {*std::min_element(begin, end), *std::max_element(begin, end)};
    }

  private:
    /** Values near zero, and few that are far from it; those beyond 2^61 count as that. */
    void fill(const pti_index_array &of, Random *random) {
        const int64_t most = INT64_C(1) << 61;
        int64_t at[POLYTILE_MAX_DIMS];
        pti_box_first_point(&of.domain, at);
        do {
            int64_t value = random->number(-100, 100);
            if (random->chance(1))
                value = of.is_wide ? random->one_of({INT64_MIN, INT64_MAX, most + 1, -most})
                                   : random->number(-100000, 100000);
            char *to = memory_.data() + pti_memory_layout_offset(&of.layout, at);
            const int32_t narrow = static_cast<int32_t>(value);
            if (of.is_wide)
                std::memcpy(to, &value, sizeof value);
            else
                std::memcpy(to, &narrow, sizeof narrow);
            values_.push_back(std::clamp(value, -most, most));
        } while (pti_box_next_point(&of.domain, at));
    }

    std::vector<char> memory_;
    std::vector<int64_t> values_; /* in C order */
    int64_t row_elements_;
    pti_index_array *read_;
};

TEST(IndexArray, GivesTheValuesOfRowsOfAnyLengthAndLayout) {
    Random random(test_seed("IndexArrayRows"));
    for (int64_t round = 0; round < scaled(60); round++) {
        std::vector<int64_t> extents = {random.one_of({1, 2, 15, 16, 17, 63, 64, 65, 300})};
        const int64_t n_dims = random.number(1, 3);
        for (int64_t d = 1; d < n_dims; d++)
            extents.push_back(d == 1 ? random.one_of({1, 2, 5, 31, 32, 33, 63, 64, 65, 200})
                                     : random.number(1, 4));
        const LaidOut made(extents, random.chance(50), &random);
        for (int query = 0; query < 50; query++) {
            const int64_t lo = random.number(0, made.n_rows() - 1);
            const int64_t hi = random.chance(20) ? lo : random.number(lo, made.n_rows() - 1);
            const pti_value_range expected = made.enumerate(lo, hi);
            const pti_value_range found = pti_index_array_find_values(
                &made.array(), {made.first_row() + lo, made.first_row() + hi, 1});
            ASSERT_EQ(found.least, expected.least) << lo << ":" << hi << " of " << made.n_rows();
            ASSERT_EQ(found.most, expected.most) << lo << ":" << hi << " of " << made.n_rows();
        }
    }
}

TEST(IndexArray, LoadsElementsApartAsItGivesThemOneByOne) {
    Random random(test_seed("IndexArrayLoad"));
    for (int64_t round = 0; round < scaled(60); round++) {
        const LaidOut made({random.one_of({1, 2, 17, 300})}, random.chance(50), &random);
        const int64_t first = random.number(0, made.n_rows() - 1), step = random.number(1, 9);
        const int64_t n = (made.n_rows() - 1 - first) / step + 1;
        std::vector<int64_t> loaded(static_cast<size_t>(n));
        pti_index_array_load(&made.array(), made.first_row() + first, step, static_cast<int>(n),
                             loaded.data());
        for (int64_t k = 0; k < n; k++) {
            const int64_t element = made.first_row() + first + k * step;
            ASSERT_EQ(loaded[static_cast<size_t>(k)], pti_index_array_get(&made.array(), &element));
        }
    }
}

/** Rows that lie one after the other, as one vector. */
TEST(IndexArray, IsAVectorWhereElementsLieOneAfterTheOther) {
    Random random(test_seed("IndexArrayVector"));
    for (int64_t round = 0; round < scaled(60); round++) {
        std::vector<int64_t> extents = {random.number(1, 20)};
        for (int64_t d = random.number(0, 2); d > 0; d--)
            extents.push_back(random.number(1, 5));
        const LaidOut made(extents, random.chance(50), &random);
        polytile_domain box = made.array().domain;
        box.range[0].lo += random.number(0, extents[0] - 1);
        const bool is_whole = extents.size() == 1 || random.chance(50);
        if (!is_whole)
            box.range[box.n_dims - 1].hi = box.range[box.n_dims - 1].lo;
        pti_index_array vector;
        if (!pti_index_array_as_vector(&made.array(), &box, &vector))
            continue;
        ASSERT_TRUE(is_whole || extents.back() == 1);
        std::vector<int64_t> loaded(static_cast<size_t>(pti_box_count(&box)));
        pti_index_array_load(&vector, 0, 1, static_cast<int>(loaded.size()), loaded.data());
        int64_t element[POLYTILE_MAX_DIMS];
        pti_box_first_point(&box, element);
        for (const int64_t value : loaded) {
            ASSERT_EQ(value, pti_index_array_get(&made.array(), element));
            pti_box_next_point(&box, element);
        }
    }
}

/** A planner asks for many boxes: one must not cost the elements of some rows. Several threads
 * read the rows. */
TEST(IndexArray, KeepsWhatLongRowsHold) {
    Random random(test_seed("IndexArrayLongRows"));
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
    const LaidOut made({70, 20000}, false, &random, ctx);
    polytile_context_destroy(ctx);
    std::vector<pti_value_range> row;
    for (int64_t r = 0; r < made.n_rows(); r++)
        row.push_back(made.enumerate(r, r));
    EXPECT_EQ(made.array().group_rows, 1);
    EXPECT_EQ(made.array().n_groups[0], 70);
    for (int64_t lo = 0; lo < made.n_rows(); lo++) {
        pti_value_range expected = row[static_cast<size_t>(lo)];
        for (int64_t hi = lo; hi < made.n_rows(); hi++) {
            expected.least = std::min(expected.least, row[static_cast<size_t>(hi)].least);
            expected.most = std::max(expected.most, row[static_cast<size_t>(hi)].most);
            const pti_value_range found = pti_index_array_find_values(
                &made.array(), {made.first_row() + lo, made.first_row() + hi, 1});
            ASSERT_EQ(found.least, expected.least) << lo << ":" << hi;
            ASSERT_EQ(found.most, expected.most) << lo << ":" << hi;
        }
    }
}

TEST(IndexArray, KnowsWhetherItsValuesAscend) {
    EXPECT_TRUE(Indices({0, 0, 3, 3, 7}, 0, 1).array().ascends);
    EXPECT_FALSE(Indices({0, 3, 2, 3, 7}, 0, 1).array().ascends);
    EXPECT_FALSE(Indices({0, 1, 2, 3}, 0, 2).array().ascends);
}

/** Values one after the other, or with gaps between them, as i32. */
uint64_t hash_of_narrow(const std::vector<int32_t> &values, int64_t stride) {
    std::vector<int32_t> memory(values.size() * static_cast<size_t>(stride), -7);
    for (size_t k = 0; k < values.size(); k++)
        memory[k * static_cast<size_t>(stride)] = values[k];
    pti_index_array of = {};
    of.data = reinterpret_cast<const char *>(memory.data());
    of.domain.n_dims = 1;
    of.domain.range[0] = {0, static_cast<int64_t>(values.size()) - 1, 1};
    of.layout = pti_memory_layout_of(&of.domain, 4);
    of.layout.stride_bytes[0] = 4 * stride;
    uint64_t hash = 0;
    EXPECT_TRUE(pti_index_array_hash(nullptr, &of, of.data, &of.layout, &hash));
    return hash;
}

TEST(IndexArray, HashesWhatItHoldsAndNotHowItLies) {
    Random random(test_seed("IndexArrayHash"));
    for (int64_t round = 0; round < scaled(100); round++) {
        std::vector<int32_t> values;
        const int64_t n = random.one_of({1, 2, 63, 64, 65, 500});
        for (int64_t k = 0; k < n; k++)
            values.push_back(static_cast<int32_t>(random.number(-50, 1000)));
        const uint64_t hash = hash_of_narrow(values, 1);
        ASSERT_EQ(hash, hash_of_narrow(values, 3));
        const size_t at = static_cast<size_t>(random.number(0, n - 1));
        values[at]++;
        ASSERT_NE(hash, hash_of_narrow(values, 1));
        values[at]--;
        ASSERT_EQ(hash, hash_of_narrow(values, 1));
    }
}

TEST(IndexArray, HashesTheOrderOfItsElements) {
    std::vector<int32_t> ascending;
    for (int32_t k = 0; k < 300; k++)
        ascending.push_back(16 * k);
    const uint64_t hash = hash_of_narrow(ascending, 1);
    for (size_t k = 1; k + 2 < ascending.size(); k++) {
        std::vector<int32_t> other = ascending;
        std::swap(other[k], other[k + 1]);
        ASSERT_NE(hash_of_narrow(other, 1), hash) << k;
        other = ascending;
        other[k - 1]++, other[k] -= 2, other[k + 1]++;
        ASSERT_NE(hash_of_narrow(other, 1), hash) << k;
        other[k] += 3, other[k + 2]--, other[k - 1] -= 2;
        ASSERT_NE(hash_of_narrow(other, 1), hash) << k;
    }
}

TEST(IndexArray, SeesADescentBetweenTwoOfItsGroups) {
    for (size_t at = 1; at < 200; at++) {
        std::vector<int64_t> values(200, 1);
        for (size_t k = at; k < values.size(); k++)
            values[k] = 0;
        EXPECT_FALSE(Indices(values, 0, 1).array().ascends) << at;
    }
}

TEST(IndexArray, TakesValuesBeyondAllArraysForTheLargest) {
    const Indices indices({INT64_MIN, 5, INT64_MAX}, 0, 1);
    const pti_value_range found = pti_index_array_find_values(&indices.array(), {0, 2, 1});
    EXPECT_EQ(found.least, -(INT64_C(1) << 61));
    EXPECT_EQ(found.most, INT64_C(1) << 61);
}

/** Arrays of several parts, whose parts ascend or not, by one thread and by those of the host. */
TEST(IndexArray, IsTheSameWhoeverReadsIt) {
    Random random(test_seed("IndexArrayParts"));
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
    for (const int64_t n :
         {int64_t{1}, int64_t{4096 * 64}, int64_t{4096 * 64 + 1}, int64_t{700000}})
        for (const bool ascends : {true, false}) {
            std::vector<int32_t> values(static_cast<size_t>(n));
            for (int64_t k = 0; k < n; k++)
                values[static_cast<size_t>(k)] = static_cast<int32_t>(k / 2);
            if (!ascends)
                values[static_cast<size_t>(random.number(0, n - 1))] = -1;
            pti_index_array of = {};
            of.data = reinterpret_cast<const char *>(values.data());
            of.domain = polytile_domain_from_extents(1, &n);
            of.layout = pti_memory_layout_of(&of.domain, 4);
            pti_index_array *alone = pti_index_array_read(nullptr, &of);
            pti_index_array *together = pti_index_array_read(ctx, &of);
            ASSERT_TRUE(alone != nullptr && together != nullptr);
            EXPECT_EQ(alone->hash, together->hash);
            EXPECT_EQ(alone->ascends, std::is_sorted(values.begin(), values.end()));
            EXPECT_EQ(alone->ascends, together->ascends);
            for (int query = 0; query < 50; query++) {
                const int64_t lo = random.number(0, n - 1), hi = random.number(lo, n - 1);
                const auto found = pti_index_array_find_values(together, {lo, hi, 1});
                EXPECT_EQ(found.least,
                          *std::min_element(values.begin() + lo, values.begin() + hi + 1));
                EXPECT_EQ(found.most,
                          *std::max_element(values.begin() + lo, values.begin() + hi + 1));
            }
            pti_index_array_release(alone);
            pti_index_array_release(together);
        }
    polytile_context_destroy(ctx);
}

} // namespace
