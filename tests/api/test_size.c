#include <polytile/size.h>

#include "support/c_test.h"

#define MIB (INT64_C(1) << 20)

static const struct {
    const char *text;
    int64_t bytes;
} sizes[] = {
    {"4096B", 4096},        {"1B", 1},
    {"64KiB", 65536},       {"64MiB", 64 * MIB},
    {"1.5GiB", 1536 * MIB}, {"2TiB", 2048 * 1024 * MIB},
    {"0.5KiB", 512},        {"9223372036854775807B", INT64_MAX},
};

TEST_TABLE(ApiSize, IsReadWithItsUnit, sizes) {
    int64_t bytes = 0;
    CHECK(polytile_size_parse(row->text, &bytes));
    CHECK_EQUAL(bytes, row->bytes);
}

static const struct {
    const char *text, *why;
} wrong_sizes[] = {
    {"64", "64MiB"},
    {"", ""},
    {"0B", ""},
    {"-1MiB", ""},
    {"1.5B", ""},
    {"64 MiB of it", ""},
    {"MiB", ""},
    {"8388608TiB", "8 EiB"},
    {"9223372036854775808B", "8 EiB"},
    {"0x10B", ""},
    {"nan", ""},
};

TEST_TABLE(ApiSize, IsRefusedWithTheReasonAndLeavesTheAnswerAlone, wrong_sizes) {
    int64_t bytes = 7;
    char why[POLYTILE_SIZE_WHY_BYTES] = "";
    CHECK(!polytile_size_parse(row->text, &bytes));
    CHECK_EQUAL(bytes, 7);
    CHECK(polytile_size_explain(row->text, why) == why);
    CHECK(why[0] != '\0');
    CHECK_CONTAINS(why, row->why);
}

TEST_CASE(ApiSize, WithoutAUnitIsExplainedByWhatItMayMean) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    CHECK_TEXT(polytile_size_explain("64", why), "it has no unit: 64MiB? (64B for bytes)");
}

static const struct {
    int64_t bytes;
    const char *text;
} formatted[] = {
    {0, "0 B"},        {1, "1 B"},           {512, "512 B"},           {1023, "1023 B"},
    {65536, "64 KiB"}, {64 * MIB, "64 MiB"}, {1536 * MIB, "1.50 GiB"}, {1 << 30, "1 GiB"},
};

TEST_TABLE(ApiSize, IsShortForPeople, formatted) {
    char buffer[32];
    CHECK(polytile_size_format(row->bytes, buffer) == buffer);
    CHECK_TEXT(buffer, row->text);
}

static const int64_t extremes[] = {INT64_MAX, INT64_MIN, -1};

TEST_TABLE(ApiSize, FitsABufferOf32Bytes, extremes) {
    char buffer[33] = {[32] = '#'};
    polytile_size_format(*row, buffer);
    CHECK_EQUAL(buffer[32], '#');
}

TEST_CASE(ApiSize, NeedsATextAndAPlace) {
    int64_t bytes = 7;
    CHECK(!polytile_size_parse(NULL, &bytes));
    CHECK_EQUAL(bytes, 7);
    CHECK(!polytile_size_parse("4B", NULL));
    CHECK(polytile_size_explain("4", NULL) == NULL);
    CHECK(polytile_size_format(4, NULL) == NULL);
}
