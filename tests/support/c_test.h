#ifndef POLYTILE_TESTS_SUPPORT_C_TEST_H
#define POLYTILE_TESTS_SUPPORT_C_TEST_H

#include <polytile/context.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Tests in C. Each is a fact of a suite, and runs as any test of GoogleTest, under the name
 * SUITE.FACT:
 *
 *     TEST_CASE(ApiSize, IsFormattedForPeople) {
 *         char text[32];
 *         CHECK_TEXT(polytile_size_format(65536, text), "64 KiB");
 *     }
 *
 * A table of cases is one test, whose body runs for each row; what fails names the row's number:
 *
 *     static const struct {
 *         const char *text;
 *         int64_t bytes;
 *     } sizes[] = {{"512B", 512}, {"64KiB", 65536}};
 *
 *     TEST_TABLE(ApiSize, IsReadWithItsUnit, sizes) {
 *         int64_t bytes = 0;
 *         CHECK(polytile_size_parse(row->text, &bytes));
 *         CHECK_EQUAL(bytes, row->bytes);
 *     }
 *
 * Every run of a body has a context of its own, `ctx`, and with it all that is made from it ends.
 */
#define TEST_CASE(suite, fact)                                                                     \
    static void suite##_##fact(polytile_context *ctx);                                             \
    static void suite##_##fact##_run(polytile_context *ctx, const void *row) {                     \
        (void)row;                                                                                 \
        suite##_##fact(ctx);                                                                       \
    }                                                                                              \
    C_TEST_REGISTER(suite, fact, NULL, NULL, 0, 1)                                                 \
    static void suite##_##fact(polytile_context *ctx __attribute__((unused)))

#define TEST_TABLE(suite, fact, table)                                                             \
    typedef __typeof__(*(table)) suite##_##fact##_case;                                            \
    static void suite##_##fact(polytile_context *ctx, suite##_##fact##_case *row);                 \
    static void suite##_##fact##_run(polytile_context *ctx, const void *row) {                     \
        suite##_##fact(ctx, (suite##_##fact##_case *)row);                                         \
    }                                                                                              \
    C_TEST_REGISTER(suite, fact, #table, table, sizeof *(table), sizeof(table) / sizeof *(table))  \
    static void suite##_##fact(polytile_context *ctx __attribute__((unused)),                      \
                               suite##_##fact##_case *row)

/* Checks. One that fails tells file and line, what was checked and what it was; the test goes on.
 * Each returns whether it passes: `if (!CHECK_OK(...)) return;` where the rest makes no sense. */

#define CHECK(condition) c_test_check(C_TEST_HERE(#condition), condition)

/** Integers, compared as int64_t. */
#define CHECK_EQUAL(value, expected)                                                               \
    c_test_equal(C_TEST_HERE(#value), (int64_t)(value), #expected, (int64_t)(expected))

/** Numbers that differ by at most the tolerance. */
#define CHECK_NEAR(value, expected, tolerance)                                                     \
    c_test_near(C_TEST_HERE(#value), value, #expected, expected, tolerance)

/** Texts; NULL differs from all of them. */
#define CHECK_TEXT(value, expected) c_test_text(C_TEST_HERE(#value), value, expected)

/** Texts that stand in another one, in this order: CHECK_CONTAINS(text, "A", "3 of 4"). */
#define CHECK_CONTAINS(value, ...)                                                                 \
    c_test_contains(C_TEST_HERE(#value), value, (const char *const[]){__VA_ARGS__, NULL})

/** The reserved members of a struct that the library filled in are zeros. SPOIL() it before. */
#define CHECK_RESERVED(given)                                                                      \
    CHECK(((given).reserved[0] | (given).reserved[1] | (given).reserved[2] |                       \
           (given).reserved[3]) == 0)

/** Sets all bytes, so that what a call leaves as it was is found. */
#define SPOIL(given) memset(&(given), 0x5a, sizeof(given))

/** A call that succeeds. What fails here tells the last error of `ctx`. */
#define CHECK_OK(call)               c_test_status(C_TEST_HERE(#call), call, POLYTILE_OK, ctx)
#define CHECK_STATUS(call, expected) c_test_status(C_TEST_HERE(#call), call, expected, ctx)

/** A call that returns an error, whose text on `ctx` has these in it, in this order. */
#define CHECK_REFUSED(call, expected, ...)                                                         \
    c_test_refused(C_TEST_HERE(#call), call, expected, ctx,                                        \
                   (const char *const[]){__VA_ARGS__, NULL})

/* What the macros are made of. */

typedef struct c_test_place {
    const char *file;
    int line;
    const char *expression;
} c_test_place;

#define C_TEST_HERE(text) ((c_test_place){__FILE__, __LINE__, text})

bool c_test_check(c_test_place place, bool passes);
bool c_test_equal(c_test_place place, int64_t value, const char *wanted, int64_t expected);
bool c_test_near(c_test_place place, double value, const char *wanted, double expected,
                 double tolerance);
bool c_test_text(c_test_place place, const char *value, const char *expected);
bool c_test_contains(c_test_place place, const char *value, const char *const *parts);
bool c_test_status(c_test_place place, polytile_status status, polytile_status expected,
                   const polytile_context *ctx);
bool c_test_refused(c_test_place place, polytile_status status, polytile_status expected,
                    const polytile_context *ctx, const char *const *parts);

/** A test: its body runs for each of the rows. One without a table has one row, NULL. */
typedef struct c_test {
    const char *suite, *fact, *file;
    int line;
    void (*run)(polytile_context *ctx, const void *row);
    const char *table;
    const void *rows;
    size_t row_bytes, n_rows;
} c_test;

void c_test_register(const c_test *test);
/** Run the body for each of the rows, as the registered test does. */
void c_test_run(const c_test *test);

/* Before main(), as GoogleTest's own macros do. */
#define C_TEST_REGISTER(suite, fact, table, rows, row_bytes, n_rows)                               \
    __attribute__((constructor)) static void suite##_##fact##_register(void) {                     \
        static const c_test test = {#suite, #fact, __FILE__,  __LINE__, suite##_##fact##_run,      \
                                    table,  rows,  row_bytes, n_rows};                             \
        c_test_register(&test);                                                                    \
    }

#ifdef __cplusplus
}
#endif

#endif
