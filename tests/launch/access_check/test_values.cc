#include <gtest/gtest.h>
#include <polytile/polytile.h>
#include <set>
#include <vector>

extern "C" {
#include "launch/access_check/shadow_copy.h"
#include "launch/access_check/values.h"
}

/* What of an array's values, and where, stands in the place of what is not declared. */

namespace {

class AccessCheckValues : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_array *wrap(std::vector<int32_t> *memory) {
        const int64_t extent = static_cast<int64_t>(memory->size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, &extent, memory->data(), &array),
                  POLYTILE_OK);
        return array;
    }
    static std::set<int32_t> all(const pti_values &values) {
        std::set<int32_t> numbers;
        for (int64_t k = 0; k < values.n; k++)
            numbers.insert(*reinterpret_cast<const int32_t *>(
                pti_values_get(&values, static_cast<uint64_t>(k))));
        return numbers;
    }
    polytile_context *ctx = nullptr;
};

TEST_F(AccessCheckValues, AreAllThereIfTheyAreFewHoweverRareOneIs) {
    std::vector<int32_t> memory(100000);
    std::set<int32_t> expected = {0};
    for (size_t k = 0; k < memory.size(); k++)
        expected.insert(memory[k] = static_cast<int32_t>(k % 37 * 1000 + 1));
    expected.insert(memory[77777] = -5);
    pti_values values;
    ASSERT_EQ(pti_values_collect(wrap(&memory), true, &values), POLYTILE_OK);
    EXPECT_EQ(all(values), expected);
    EXPECT_EQ(values.n, static_cast<int64_t>(expected.size()));
    pti_values_free(&values);
}

TEST_F(AccessCheckValues, AreSomeOfThoseThereAreIfTheyAreMany) {
    std::vector<int32_t> memory(10000);
    for (size_t k = 0; k < memory.size(); k++)
        memory[k] = static_cast<int32_t>(k + 1);
    for (bool is_set : {false, true}) {
        pti_values values;
        ASSERT_EQ(pti_values_collect(wrap(&memory), is_set, &values), POLYTILE_OK);
        const std::set<int32_t> numbers = all(values);
        EXPECT_GT(numbers.size(), 100u);
        EXPECT_EQ(*numbers.begin(), 0);
        EXPECT_LE(*numbers.rbegin(), 10000);
        pti_values_free(&values);
    }
}

/** Each of the elements of a row that the boxes of several threads have in common. */
TEST_F(AccessCheckValues, PoisonFollowsTheElementWhateverTheBox) {
    const int64_t extents[] = {30, 40};
    std::vector<int32_t> memory(30 * 40, 9);
    polytile_array *array = nullptr;
    ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 2, extents, memory.data(), &array),
              POLYTILE_OK);
    pti_operand operand = {};
    operand.name = array->name;
    operand.type = POLYTILE_I32;
    operand.element_bytes = 4;
    operand.domain = array->domain;
    operand.reads = true;
    pti_shadow_copy one, other;
    ASSERT_EQ(pti_shadow_copy_make(array, &operand, 1, &one), POLYTILE_OK);
    ASSERT_EQ(pti_shadow_copy_make(array, &operand, 1, &other), POLYTILE_OK);
    polytile_domain boxes[2] = {*POLYTILE_EXTENTS(30, 40), *POLYTILE_EXTENTS(10, 10)};
    boxes[0].range[1] = {-8, 47, 1};
    boxes[1].range[0] = {3, 20, 1};
    boxes[1].range[1] = {-5, 42, 1};
    ASSERT_EQ(pti_shadow_copy_place(ctx, &one, &boxes[0], PTI_N_PATTERNS), POLYTILE_OK);
    ASSERT_EQ(pti_shadow_copy_place(ctx, &other, &boxes[1], PTI_N_PATTERNS), POLYTILE_OK);
    std::set<int32_t> drawn;
    for (int64_t place = 0; place < other.n_elements; place++) {
        int64_t element[POLYTILE_MAX_DIMS];
        pti_shadow_copy_find(&other, place, element);
        const int64_t same = element[0] * 56 + element[1] + 8;
        for (int p = 0; p < PTI_N_PATTERNS; p++)
            EXPECT_EQ(*reinterpret_cast<const int32_t *>(pti_shadow_copy_poison(&one, p, same)),
                      *reinterpret_cast<const int32_t *>(pti_shadow_copy_poison(&other, p, place)))
                << p << ": " << element[0] << ", " << element[1];
        drawn.insert(*reinterpret_cast<const int32_t *>(
            pti_shadow_copy_poison(&other, PTI_PATTERN_DRAWN, place)));
    }
    EXPECT_EQ(drawn, (std::set<int32_t>{0, 9}));
    pti_shadow_copy_free(&one);
    pti_shadow_copy_free(&other);
}

} // namespace
