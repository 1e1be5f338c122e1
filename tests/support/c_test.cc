#include "support/c_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

/** Reports a failure at a place; false. */
bool fail(const c_test_place &place, const std::string &text) {
    ADD_FAILURE_AT(place.file, place.line) << place.expression << "\n  " << text;
    return false;
}

std::string quoted(const char *text) {
    return text == nullptr ? "NULL" : '"' + std::string(text) + '"';
}

const char *name_of(polytile_status status) {
    switch (status) {
#define NAME(name, text)                                                                           \
    case POLYTILE_##name:                                                                          \
        return #name;
        POLYTILE_STATUSES(NAME)
#undef NAME
    }
    return "no status";
}

/** What was expected, and its value where the expression does not show it. */
std::string with_value(const char *expression, const std::string &value) {
    return expression == value ? value : expression + (" = " + value);
}

/** The first of the parts that is not in the text after those before it; NULL if all are. */
const char *missing_part(const std::string &text, const char *const *parts) {
    size_t from = 0;
    for (; *parts != nullptr; parts++) {
        const size_t at = text.find(*parts, from);
        if (at == std::string::npos)
            return *parts;
        from = at + std::string(*parts).size();
    }
    return nullptr;
}

void run_in_context(const c_test *test, const void *row) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    test->run(ctx, row);
    polytile_context_destroy(ctx);
}

void run_row(const c_test *test, size_t k) {
    const std::string name = test->table + ("[" + std::to_string(k) + "]");
    const testing::ScopedTrace trace(test->file, test->line, name);
    run_in_context(test, static_cast<const char *>(test->rows) + k * test->row_bytes);
}

class CTest : public testing::Test {
  public:
    explicit CTest(const c_test *test) : test_(test) {}
    void TestBody() override { c_test_run(test_); }

  private:
    const c_test *test_;
};

} // namespace

void c_test_register(const c_test *test) {
    testing::RegisterTest(test->suite, test->fact, nullptr, nullptr, test->file, test->line,
                          [test]() -> testing::Test * { return new CTest(test); });
}

void c_test_run(const c_test *test) {
    if (test->table == nullptr)
        return run_in_context(test, nullptr);
    for (size_t k = 0; k < test->n_rows; k++)
        run_row(test, k);
}

bool c_test_check(c_test_place place, bool passes) {
    return passes || fail(place, "is false");
}

bool c_test_equal(c_test_place place, int64_t value, const char *wanted, int64_t expected) {
    return value == expected || fail(place, "is " + std::to_string(value) + ", expected " +
                                                with_value(wanted, std::to_string(expected)));
}

bool c_test_near(c_test_place place, double value, const char *wanted, double expected,
                 double tolerance) {
    return std::fabs(value - expected) <= tolerance ||
           fail(place, "is " + testing::PrintToString(value) + ", expected " +
                           with_value(wanted, testing::PrintToString(expected)) + " within " +
                           testing::PrintToString(tolerance));
}

bool c_test_text(c_test_place place, const char *value, const char *expected) {
    return (value != nullptr && expected != nullptr && std::string(value) == expected) ||
           fail(place, "is " + quoted(value) + "\n  expected " + quoted(expected));
}

bool c_test_contains(c_test_place place, const char *value, const char *const *parts) {
    const char *missing = value == nullptr ? *parts : missing_part(value, parts);
    return missing == nullptr ||
           fail(place, "is " + quoted(value) + "\n  without " + quoted(missing));
}

bool c_test_status(c_test_place place, polytile_status status, polytile_status expected,
                   const polytile_context *ctx) {
    return status == expected ||
           fail(place, std::string("returns ") + name_of(status) + ", expected " +
                           name_of(expected) +
                           "\n  last error: " + quoted(polytile_last_error(ctx)));
}

bool c_test_refused(c_test_place place, polytile_status status, polytile_status expected,
                    const polytile_context *ctx, const char *const *parts) {
    if (!c_test_status(place, status, expected, ctx))
        return false;
    const char *text = polytile_last_error(ctx);
    const char *missing = missing_part(text, parts);
    return missing == nullptr ||
           fail(place, std::string("returns ") + name_of(status) +
                           "\n  last error: " + quoted(text) + "\n  without " + quoted(missing));
}
