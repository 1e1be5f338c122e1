#include "support/c_test_failing.h"

#include <polytile/polytile.h>

#define EXAMPLE(name, check)                                                                       \
    static bool name(polytile_context *ctx) {                                                      \
        (void)ctx;                                                                                 \
        return check;                                                                              \
    }

static const int64_t nothing = 0;
static polytile_array *array;

EXAMPLE(true_condition, CHECK(1 < 2))
EXAMPLE(false_condition, CHECK(2 < 1))
EXAMPLE(equal_numbers, CHECK_EQUAL((size_t)1 << 40, INT64_C(1) << 40))
EXAMPLE(other_number, CHECK_EQUAL(1 + 1, 3))
EXAMPLE(other_constant, CHECK_EQUAL(1 + 1, POLYTILE_MAX_DIMS))
EXAMPLE(near_numbers, CHECK_NEAR(0.25, 0.5, 0.25))
EXAMPLE(far_numbers, CHECK_NEAR(0.25, 0.5, 0.125))
EXAMPLE(no_number, CHECK_NEAR(0.0 / (double)nothing, 0, 1))
EXAMPLE(equal_texts, CHECK_TEXT("text", "text"))
EXAMPLE(other_text, CHECK_TEXT("text", "texts"))
EXAMPLE(no_text, CHECK_TEXT(NULL, ""))
EXAMPLE(contained_texts, CHECK_CONTAINS("x: 3 of 4", "x", "3 of 4"))
EXAMPLE(missing_text, CHECK_CONTAINS("x: 3 of 4", "3", "x"))
EXAMPLE(success,
        CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){4}, (void *)1, &array)))
EXAMPLE(failure, CHECK_OK(polytile_kernel_create(ctx, "k[i]: up x[i]", NULL, NULL)))
EXAMPLE(refusal, CHECK_REFUSED(polytile_device_open(ctx, "moon", (polytile_device *[1]){0}),
                               POLYTILE_INVALID, "moon"))
EXAMPLE(other_refusal, CHECK_REFUSED(polytile_device_open(ctx, "moon", (polytile_device *[1]){0}),
                                     POLYTILE_IO, "moon"))
EXAMPLE(other_words, CHECK_REFUSED(polytile_device_open(ctx, "moon", (polytile_device *[1]){0}),
                                   POLYTILE_INVALID, "moon", "the sun"))

const c_test_example c_test_examples[] = {
    {true_condition, NULL},
    {false_condition, "2 < 1\n  is false"},
    {equal_numbers, NULL},
    {other_number, "1 + 1\n  is 2, expected 3"},
    {other_constant, "1 + 1\n  is 2, expected POLYTILE_MAX_DIMS = 8"},
    {near_numbers, NULL},
    {far_numbers, "0.25\n  is 0.25, expected 0.5 within 0.125"},
    {no_number, "nan, expected 0 within 1"},
    {equal_texts, NULL},
    {other_text, "is \"text\"\n  expected \"texts\""},
    {no_text, "is NULL\n  expected \"\""},
    {contained_texts, NULL},
    {missing_text, "is \"x: 3 of 4\"\n  without \"x\""},
    {success, NULL},
    {failure, "returns INVALID, expected OK\n  last error: \""},
    {refusal, NULL},
    {other_refusal, "returns INVALID, expected IO\n  last error: \""},
    {other_words, "without \"the sun\""},
};
const int n_c_test_examples = sizeof c_test_examples / sizeof *c_test_examples;

static const int rows[] = {2, 3, 5};
static int n_rows_seen;

TEST_TABLE(CTestTable, GoesThroughItsRows, rows) {
    CHECK_EQUAL(*row, rows[n_rows_seen % 3]);
    CHECK(ctx != NULL);
    n_rows_seen++;
}

TEST_CASE(CTestTable, IsOneTest) {
    CHECK_TEXT(polytile_last_error(ctx), "");
}
