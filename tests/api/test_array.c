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
};

TEST_TABLE(ApiArrayType, HasANameAndBytes, types) {
    polytile_type type = POLYTILE_BYTES(99);
    CHECK_OK(polytile_type_parse(row->text, &type));
    CHECK_EQUAL(type, row->type);
    CHECK_EQUAL(polytile_type_get_bytes(type), row->bytes);
}

static const char *const wrong_types[] = {"",  "f",  "f31", "float", "F32",
                                          "0", "-4", "4.5", "12B",   " f32"};

TEST_TABLE(ApiArrayType, OfAnotherNameIsNone, wrong_types) {
    polytile_type type;
    CHECK_STATUS(polytile_type_parse(*row, &type), POLYTILE_INVALID);
    CHECK_TEXT(polytile_last_error(ctx), "");
}

static const polytile_type no_types[] = {POLYTILE_F64 + 1, 1000, POLYTILE_BYTES(0)};

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
    polytile_array_destroy(NULL);
}
