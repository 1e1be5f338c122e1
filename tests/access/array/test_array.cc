#include <climits>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include <polytile/polytile.h>

namespace {

class Array : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx_); }

    std::string error() const { return polytile_last_error(ctx_); }

    polytile_context *ctx_ = nullptr;
    polytile_array *array_ = nullptr;
    float data_[24] = {};
};

TEST_F(Array, WrapKeepsNameTypeDomainAndData) {
    const int64_t extents[] = {4, 6};
    ASSERT_EQ(polytile_array_wrap(ctx_, "A", POLYTILE_F32, 2, extents, data_, &array_),
              POLYTILE_OK);
    EXPECT_STREQ(polytile_array_get_name(array_), "A");
    EXPECT_EQ(polytile_array_get_type(array_), POLYTILE_F32);
    EXPECT_EQ(polytile_array_get_data(array_), data_);
    EXPECT_EQ(polytile_array_get_domain(array_)->range[1].hi, 5);
    EXPECT_TRUE(polytile_array_is_complete(array_));
    polytile_array_destroy(array_);
    polytile_array_destroy(nullptr);
}

TEST_F(Array, DomainMayStartBelowZero) {
    const int64_t lo[] = {-1}, hi[] = {22};
    const polytile_domain ghost = polytile_domain_from_bounds(1, lo, hi);
    ASSERT_EQ(polytile_array_wrap_domain(ctx_, "A", POLYTILE_F32, &ghost, data_, &array_),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_get_domain(array_)->range[0].lo, -1);
}

TEST_F(Array, DescribedHasNoMemory) {
    const int64_t extents[] = {INT64_C(1) << 40};
    const polytile_domain huge = polytile_domain_from_extents(1, extents);
    ASSERT_EQ(polytile_array_describe(ctx_, "A", POLYTILE_F64, &huge, &array_), POLYTILE_OK);
    EXPECT_EQ(polytile_array_get_data(array_), nullptr);
}

TEST_F(Array, RefusalsNameTheArrayAndTheReason) {
    struct Case {
        const char *name;
        polytile_type type;
        int n_dims;
        int64_t extent;
        bool has_data;
        polytile_status status;
        const char *says;
    };
    const Case cases[] = {
        {nullptr, POLYTILE_F32, 1, 4, true, POLYTILE_INVALID, "needs a name"},
        {"", POLYTILE_F32, 1, 4, true, POLYTILE_INVALID, "needs a name"},
        {"A", POLYTILE_F32, 1, 4, false, POLYTILE_INVALID, "array A: its data is NULL"},
        {"A", 99, 1, 4, true, POLYTILE_INVALID, "array A: 99 is no element type"},
        {"A", POLYTILE_F32, 0, 4, true, POLYTILE_INVALID, "0 dimensions"},
        {"A", POLYTILE_F32, 9, 4, true, POLYTILE_INVALID, "9 dimensions"},
        {"A", POLYTILE_F32, 1, 0, true, POLYTILE_INVALID, "dimension 0 has no elements"},
        {"A", POLYTILE_F32, 2, -5, true, POLYTILE_INVALID, "dimension 0 has no elements"},
        {"A", POLYTILE_F32, 2, INT64_C(1) << 31, true, POLYTILE_OVERFLOW, "exceed 64 bits"},
        {"A", POLYTILE_F32, 1, INT64_MAX, true, POLYTILE_OVERFLOW, "-2^61:2^61"},
        {"A", POLYTILE_BYTES(INT32_MAX), 1, INT64_C(1) << 40, true, POLYTILE_OVERFLOW, "exceed"},
    };
    for (const Case &c : cases) {
        const int64_t extents[] = {c.extent, c.extent, c.extent, 1, 1, 1, 1, 1, 1};
        EXPECT_EQ(polytile_array_wrap(ctx_, c.name, c.type, c.n_dims, extents,
                                      c.has_data ? data_ : nullptr, &array_),
                  c.status)
            << c.says;
        EXPECT_EQ(array_, nullptr);
        EXPECT_NE(error().find(c.says), std::string::npos) << error();
    }
}

TEST_F(Array, NullArgumentsAreRefused) {
    const int64_t extents[] = {4};
    EXPECT_EQ(polytile_array_wrap(nullptr, "A", POLYTILE_F32, 1, extents, data_, &array_),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_wrap(ctx_, "A", POLYTILE_F32, 1, extents, data_, nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_wrap(ctx_, "A", POLYTILE_F32, 1, nullptr, data_, &array_),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_wrap_domain(ctx_, "A", POLYTILE_F32, nullptr, data_, &array_),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_describe(nullptr, "A", POLYTILE_F32, nullptr, &array_),
              POLYTILE_INVALID);
}

TEST_F(Array, StridedDomainIsRefused) {
    polytile_domain strided = {1, {{0, 8, 2}}};
    EXPECT_EQ(polytile_array_describe(ctx_, "A", POLYTILE_F32, &strided, &array_),
              POLYTILE_INVALID);
    EXPECT_NE(error().find("step 2"), std::string::npos);
}

TEST(Type, TextsAreReadAsTypes) {
    struct Case {
        const char *text;
        int64_t bytes; /* 0: refused */
    };
    const Case cases[] = {{"f32", 4},       {"u8", 1},          {"f16", 2},      {"i64", 8},
                          {"12", 12},       {"f33", 0},         {"", 0},         {"0", 0},
                          {"-4", 0},        {"4x", 0},          {"+4", 0},       {" 4", 0},
                          {"1", 1},         {"99999999999", 0}, {"F32", 0},      {"bf16", 2},
                          {"c64", 8},       {"c128", 16},       {"f32_i64", 16}, {"u8_i64", 16},
                          {"bf16_i64", 16}, {"c64_i64", 0},     {"f32_i6", 0},   {"f32_i64_i64", 0},
                          {"_i64", 0},      {"i64_i64", 16},    {"f32_u64", 0}};
    for (const Case &c : cases) {
        polytile_type type = 0;
        EXPECT_EQ(polytile_type_parse(c.text, &type), c.bytes > 0 ? POLYTILE_OK : POLYTILE_INVALID)
            << c.text;
        if (c.bytes > 0) {
            EXPECT_EQ(polytile_type_get_bytes(type), c.bytes) << c.text;
        }
    }
    EXPECT_EQ(polytile_type_get_bytes(14), 0);
    EXPECT_EQ(polytile_type_get_bytes(63), 0);
    EXPECT_EQ(polytile_type_get_bytes(POLYTILE_INDEXED(POLYTILE_C64)), 0);
    EXPECT_EQ(polytile_type_get_bytes(POLYTILE_INDEXED(14)), 0);
    EXPECT_EQ(polytile_type_get_bytes(INT_MAX), 0);
    EXPECT_EQ(polytile_type_parse(nullptr, nullptr), POLYTILE_INVALID);
}

TEST(Domain, ExtentsStartAtZero) {
    const int64_t extents[] = {3, 5, 7};
    const polytile_domain domain = polytile_domain_from_extents(3, extents);
    EXPECT_EQ(domain.n_dims, 3);
    EXPECT_EQ(domain.range[2].lo, 0);
    EXPECT_EQ(domain.range[2].hi, 6);
}

TEST(Domain, WrongNumbersOfDimensionsAreKeptToBeRefused) {
    const int64_t extents[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_EQ(polytile_domain_from_extents(9, extents).n_dims, 9);
    EXPECT_EQ(polytile_domain_from_bounds(-1, extents, extents).n_dims, -1);
    EXPECT_EQ(polytile_domain_from_extents(1, nullptr).n_dims, 0);
}

TEST(Domain, AnInteriorLeavesTheBorderOut) {
    const int64_t extents[] = {5, 9};
    const polytile_domain inner = polytile_domain_from_interior(2, 2, extents);
    EXPECT_EQ(inner.n_dims, 2);
    EXPECT_EQ(inner.range[0].lo, 2);
    EXPECT_EQ(inner.range[0].hi, 2);
    EXPECT_EQ(inner.range[1].hi, 6);
    EXPECT_EQ(POLYTILE_INTERIOR(1, 5, 9)->range[1].hi, 7);
    EXPECT_LT(polytile_domain_from_interior(3, 2, extents).range[0].hi, 3);
    EXPECT_EQ(polytile_domain_from_interior(1, 2, nullptr).n_dims, 0);
}

} // namespace
