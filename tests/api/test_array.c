#include <polytile/array.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

static const struct {
    const char *text;
    polytile_type type;
    int64_t bytes;
} types[] = {
#define TYPE(name, text, bytes) {text, POLYTILE_##name, bytes},
    POLYTILE_TYPES(TYPE)
#undef TYPE
        {"1", POLYTILE_BYTES(1), 1},
    {"12", POLYTILE_BYTES(12), 12},
    {"f32_i64", POLYTILE_INDEXED(POLYTILE_F32), 16},
    {"u8_i64", POLYTILE_INDEXED(POLYTILE_U8), 16},
    {"bf16_i64", POLYTILE_INDEXED(POLYTILE_BF16), 16},
};

TEST_TABLE(ApiArrayType, HasANameAndBytes, types) {
    polytile_type type = POLYTILE_BYTES(99);
    CHECK_OK(polytile_type_parse(row->text, &type));
    CHECK_EQUAL(type, row->type);
    CHECK_EQUAL(polytile_type_get_bytes(type), row->bytes);
}

static const char *const wrong_types[] = {"",        "f",       "f31",        "float", "F32",
                                          "0",       "-4",      "4.5",        "12B",   " f32",
                                          "c64_i64", "f32_i32", "f32_i64_i64"};

TEST_TABLE(ApiArrayType, OfAnotherNameIsNone, wrong_types) {
    polytile_type type;
    CHECK_STATUS(polytile_type_parse(*row, &type), POLYTILE_INVALID);
    CHECK_TEXT(polytile_last_error(ctx), "");
}

static const polytile_type no_types[] = {POLYTILE_C128 + 1, 1000, POLYTILE_BYTES(0),
                                         POLYTILE_INDEXED(POLYTILE_C64)};

TEST_TABLE(ApiArrayType, ThatIsNoneHasNoBytes, no_types) {
    CHECK_EQUAL(polytile_type_get_bytes(*row), 0);
}

TEST_CASE(ApiArray, KnowsWhatItWraps) {
    float memory[2][3];
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "heat", POLYTILE_F32, 2, (int64_t[]){2, 3}, memory, &array));
    CHECK_TEXT(polytile_array_get_name(array), "heat");
    CHECK_EQUAL(polytile_array_get_type(array), POLYTILE_F32);
    CHECK(polytile_array_get_data(array) == memory);
    CHECK_EQUAL(polytile_array_get_domain(array)->n_dims, 2);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[1].lo, 0);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[1].hi, 2);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[1].step, 1);
    CHECK(polytile_array_is_complete(array));
    CHECK_EQUAL(polytile_array_get_state(array), POLYTILE_ARRAY_COMPLETE);
}

TEST_CASE(ApiArray, CopiesItsNameAndDomain) {
    char name[] = "heat", memory[7];
    polytile_domain domain = *POLYTILE_EXTENTS(7);
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap_domain(ctx, name, POLYTILE_I8, &domain, memory, &array));
    name[0] = 'b';
    domain.range[0].hi = 100;
    CHECK_TEXT(polytile_array_get_name(array), "heat");
    CHECK_EQUAL(polytile_array_get_domain(array)->range[0].hi, 6);
}

TEST_CASE(ApiArray, MayHaveAGhostBorder) {
    double memory[6];
    const polytile_domain domain = polytile_domain_from_bounds(1, (int64_t[]){-1}, (int64_t[]){4});
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap_domain(ctx, "u", POLYTILE_F64, &domain, memory, &array));
    CHECK_EQUAL(polytile_array_get_domain(array)->range[0].lo, -1);
    CHECK_EQUAL(polytile_array_get_domain(array)->range[0].hi, 4);
    CHECK(polytile_array_get_data(array) == memory);
}

TEST_CASE(ApiArray, MayHaveUpToEightDimensions) {
    const int64_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    char memory[1];
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I8, POLYTILE_MAX_DIMS, ones, memory, &array));
    CHECK_REFUSED(polytile_array_wrap(ctx, "x", POLYTILE_I8, 9, ones, memory, &array),
                  POLYTILE_INVALID, "x", "9", "8");
}

static const struct {
    polytile_type type;
    int n_dims;
    int64_t extents[2];
    polytile_status status;
    const char *object, *value;
} wrong_arrays[] = {
    {POLYTILE_F32, 2, {4, 0}, POLYTILE_INVALID, "heat", "dimension 1"},
    {POLYTILE_F32, 1, {-5}, POLYTILE_INVALID, "heat", "dimension 0"},
    {POLYTILE_F32, 0, {4}, POLYTILE_INVALID, "heat", "0"},
    {POLYTILE_F32, -1, {4}, POLYTILE_INVALID, "heat", "-1"},
    {1000, 1, {4}, POLYTILE_INVALID, "heat", "1000"},
    {POLYTILE_BYTES(0), 1, {4}, POLYTILE_INVALID, "heat", ""},
    {POLYTILE_F32, 2, {INT64_C(1) << 32, INT64_C(1) << 31}, POLYTILE_OVERFLOW, "heat", "64 bits"},
    {POLYTILE_F64, 1, {INT64_C(1) << 60}, POLYTILE_OVERFLOW, "heat", "64 bits"},
};

TEST_TABLE(ApiArray, ThatCannotBeIsRefusedWithItsNameAndTheValue, wrong_arrays) {
    float memory[4];
    polytile_array *array = NULL;
    CHECK_REFUSED(
        polytile_array_wrap(ctx, "heat", row->type, row->n_dims, row->extents, memory, &array),
        row->status, row->object, row->value);
    CHECK(array == NULL);
}

static const polytile_domain wrong_domains[] = {
    {1, {{0, 8, 2}}},  {1, {{5, 4, 1}}}, {1, {{0, 4, 0}}},
    {1, {{0, 4, -1}}}, {0, {{0, 0, 1}}}, {9, {{0, 0, 1}}},
};

TEST_TABLE(ApiArray, HasStepsOfOneAndElements, wrong_domains) {
    float memory[16];
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_array_wrap_domain(ctx, "u", POLYTILE_F32, row, memory, &array),
                  POLYTILE_INVALID, "u");
    CHECK_REFUSED(polytile_array_describe(ctx, "u", POLYTILE_F32, row, &array), POLYTILE_INVALID,
                  "u");
}

TEST_CASE(ApiArray, NeedsANameExtentsMemoryAndAPlaceForTheAnswer) {
    float memory[4];
    const int64_t extents[] = {4};
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_array_wrap(ctx, NULL, POLYTILE_F32, 1, extents, memory, &array),
                  POLYTILE_INVALID, "name");
    CHECK_REFUSED(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, NULL, memory, &array),
                  POLYTILE_INVALID, "x", "NULL");
    CHECK_REFUSED(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, extents, NULL, &array),
                  POLYTILE_INVALID, "x", "NULL");
    CHECK_REFUSED(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, extents, memory, NULL),
                  POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_array_wrap_domain(ctx, "x", POLYTILE_F32, NULL, memory, &array),
                  POLYTILE_INVALID, "x", "NULL");
    CHECK_REFUSED(polytile_array_describe(ctx, "x", POLYTILE_F32, NULL, &array), POLYTILE_INVALID,
                  "x", "NULL");
}

TEST_CASE(ApiArray, IsDescribedWithoutMemoryAtAnySize) {
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_describe(ctx, "big", POLYTILE_F64,
                                     POLYTILE_EXTENTS(1 << 20, 1 << 20, 1 << 10), &array));
    CHECK(polytile_array_get_data(array) == NULL);
    CHECK_EQUAL(polytile_array_get_domain(array)->n_dims, 3);
    CHECK(polytile_array_is_complete(array));
}

TEST_CASE(ApiArray, LeavesItsMemoryToTheCaller) {
    float memory[4] = {1, 2, 3, 4};
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){4}, memory, &array));
    polytile_array_destroy(array);
    CHECK_NEAR(memory[3], 4, 0);
}

TEST_CASE(ApiArray, MayBeNull) {
    CHECK_TEXT(polytile_array_get_name(NULL), "");
    CHECK_EQUAL(polytile_type_get_bytes(polytile_array_get_type(NULL)), 0);
    CHECK_EQUAL(polytile_array_get_domain(NULL)->n_dims, 0);
    CHECK(polytile_array_get_data(NULL) == NULL);
    CHECK(!polytile_array_is_complete(NULL));
    CHECK_EQUAL(polytile_array_get_state(NULL), POLYTILE_ARRAY_INCOMPLETE);
    polytile_array_destroy(NULL);
}

/* Strides and views. */

TEST_CASE(ApiArray, MayLieInRowsWithAPitch) {
    float memory[2][4];
    polytile_array *array = NULL;
    CHECK_OK(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2, 3),
                                         (int64_t[]){16, 4}, memory, &array));
    CHECK(polytile_array_get_data(array) == memory);
    CHECK(polytile_array_get_base(array) == NULL);
    CHECK_EQUAL(polytile_array_get_stride_bytes(array, 0), 16);
    CHECK_EQUAL(polytile_array_get_stride_bytes(array, 1), 4);
    CHECK_EQUAL(polytile_array_get_stride_bytes(array, 2), 0);
    CHECK_EQUAL(polytile_array_get_stride_bytes(array, -1), 0);
}

TEST_CASE(ApiArray, MayLieInTheMemoryOfAGpuWhichTheHostDoesNotSee) {
    float memory[2][4];
    const polytile_device_memory there = {.data = memory, .stride_bytes = (int64_t[]){16, 4}};
    polytile_array *array = NULL, *part = NULL;
    CHECK_OK(
        polytile_array_wrap_device(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2, 3), &there, &array));
    CHECK(polytile_array_get_data(array) == NULL);
    CHECK_EQUAL(polytile_array_get_stride_bytes(array, 0), 16);
    CHECK_OK(polytile_array_select(array, "part", POLYTILE_EXTENTS(1, 3), &part));
    CHECK(polytile_array_get_data(part) == NULL);
    CHECK_REFUSED(
        polytile_array_wrap_device(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2, 3), NULL, &array),
        POLYTILE_INVALID, "x", "its data is NULL");
    CHECK(array == NULL);
}

static const struct {
    int64_t stride_bytes[2];
    const char *says;
} wrong_strides[] = {
    {{12, 3}, "dimension 1 has a stride of 3 bytes"},
    {{11, 4}, "dimension 0 has a stride of 11 bytes"},
    {{4, 4}, "must be at least 8"},
    {{4, 7}, "dimension 1 has a stride of 7 bytes"},
    {{0, 4}, "dimension 0 has a stride of 0 bytes"},
    {{16, -4}, "must be at least 1"},
};

TEST_TABLE(ApiArray, HasElementsThatDoNotOverlap, wrong_strides) {
    float memory[16];
    polytile_array *array = (polytile_array *)memory;
    CHECK_REFUSED(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2, 3),
                                              row->stride_bytes, memory, &array),
                  POLYTILE_INVALID, "x", row->says);
    CHECK(array == NULL);
}

TEST_CASE(ApiArray, WithStridesIsLessThanTwoToThe63Bytes) {
    float memory[16];
    polytile_array *array = NULL;
    CHECK_REFUSED(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2, 3),
                                              (int64_t[]){INT64_MAX, 4}, memory, &array),
                  POLYTILE_OVERFLOW, "x", "dimension 0");
    CHECK_REFUSED(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2), NULL,
                                              memory, &array),
                  POLYTILE_INVALID, "x", "strides are NULL");
    CHECK_REFUSED(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(2),
                                              (int64_t[]){4}, NULL, &array),
                  POLYTILE_INVALID, "x", "data is NULL");
}

TEST_CASE(ApiArray, ThatIsSelectedKeepsItsIndices) {
    float memory[4][6];
    polytile_array *array = NULL, *part = NULL, *rows = NULL;
    const polytile_domain inner =
        polytile_domain_from_bounds(2, (int64_t[]){1, 2}, (int64_t[]){3, 5});
    polytile_domain odd = inner;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 2, (int64_t[]){4, 6}, memory, &array));
    CHECK_OK(polytile_array_select(array, "part", &inner, &part));
    CHECK(polytile_array_get_data(part) == &memory[1][2]);
    CHECK(polytile_array_get_base(part) == array);
    CHECK_TEXT(polytile_array_get_name(part), "part");
    CHECK_EQUAL(polytile_array_get_domain(part)->range[0].lo, 1);
    CHECK_EQUAL(polytile_array_get_stride_bytes(part, 0), 24);
    odd.range[0].step = 2;
    CHECK_OK(polytile_array_select(part, "rows", &odd, &rows));
    CHECK(polytile_array_get_data(rows) == &memory[1][2]);
    CHECK(polytile_array_get_base(rows) == part);
    CHECK_EQUAL(polytile_array_get_stride_bytes(rows, 0), 48);
}

static const polytile_range no_parts[] = {{0, 4, 1}, {-1, 2, 1}, {2, 1, 1}, {0, 3, 2}, {0, 2, 0}};

TEST_TABLE(ApiArray, HasPartsInsideIt, no_parts) {
    float memory[4];
    polytile_array *array = NULL, *part = NULL;
    const polytile_domain domain = {1, {*row}};
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){4}, memory, &array));
    CHECK_REFUSED(polytile_array_select(array, "part", &domain, &part), POLYTILE_INVALID, "part",
                  "x[0:3]");
    CHECK(part == NULL);
}

TEST_CASE(ApiArray, IsReshapedInItsMemory) {
    float memory[4][6];
    polytile_array *array = NULL, *view = NULL, *flat = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 2, (int64_t[]){4, 6}, memory, &array));
    CHECK_OK(polytile_array_reshape(array, "view", POLYTILE_EXTENTS(2, 2, 1, 2, 3), &view));
    CHECK(polytile_array_get_data(view) == memory);
    CHECK_EQUAL(polytile_array_get_stride_bytes(view, 0), 48);
    CHECK_EQUAL(polytile_array_get_stride_bytes(view, 1), 24);
    CHECK_EQUAL(polytile_array_get_stride_bytes(view, 3), 12);
    CHECK_EQUAL(polytile_array_get_stride_bytes(view, 4), 4);
    CHECK_OK(polytile_array_reshape(view, "flat", POLYTILE_EXTENTS(24), &flat));
    CHECK_EQUAL(polytile_array_get_stride_bytes(flat, 0), 4);
    CHECK_REFUSED(polytile_array_reshape(array, "less", POLYTILE_EXTENTS(23), &view),
                  POLYTILE_INVALID, "less", "23", "24");
    CHECK(view == NULL);
}

TEST_CASE(ApiArray, WithGapsIsNotJoined) {
    float memory[4][8];
    polytile_array *array = NULL, *view = NULL;
    CHECK_OK(polytile_array_wrap_strides(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(4, 6),
                                         (int64_t[]){32, 4}, memory, &array));
    CHECK_OK(polytile_array_reshape(array, "halves", POLYTILE_EXTENTS(4, 2, 3), &view));
    CHECK_EQUAL(polytile_array_get_stride_bytes(view, 0), 32);
    CHECK_REFUSED(polytile_array_reshape(array, "flat", POLYTILE_EXTENTS(24), &view),
                  POLYTILE_INVALID, "flat", "24 bytes", "32 apart");
}

TEST_CASE(ApiArray, EndsWithItsViews) {
    float memory[24];
    polytile_array *array = NULL, *view = NULL, *part = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){24}, memory, &array));
    CHECK_OK(polytile_array_reshape(array, "view", POLYTILE_EXTENTS(4, 6), &view));
    CHECK_OK(polytile_array_select(view, "part", POLYTILE_EXTENTS(2, 3), &part));
    CHECK_OK(polytile_array_select(view, "other", POLYTILE_EXTENTS(2, 3), &part));
    polytile_array_destroy(part);
    polytile_array_destroy(array);
}

TEST_CASE(ApiArray, IsNeededForAView) {
    polytile_array *view = NULL;
    char memory[4];
    polytile_array *array = NULL;
    CHECK_STATUS(polytile_array_select(NULL, "x", POLYTILE_EXTENTS(1), &view), POLYTILE_INVALID);
    CHECK_STATUS(polytile_array_reshape(NULL, "x", POLYTILE_EXTENTS(1), &view), POLYTILE_INVALID);
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_I8, 1, (int64_t[]){4}, memory, &array));
    CHECK_REFUSED(polytile_array_select(array, NULL, POLYTILE_EXTENTS(1), &view), POLYTILE_INVALID,
                  "x", "name");
    CHECK_REFUSED(polytile_array_reshape(array, "y", NULL, &view), POLYTILE_INVALID, "x", "domain");
    CHECK_REFUSED(polytile_array_reshape(array, "y", POLYTILE_EXTENTS(4), NULL), POLYTILE_INVALID,
                  "x", "place");
    CHECK(polytile_array_get_base(NULL) == NULL);
    CHECK_EQUAL(polytile_array_get_stride_bytes(NULL, 0), 0);
}
