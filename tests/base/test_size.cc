#include <gtest/gtest.h>
#include <polytile/size.h>

#include <string>

namespace {

TEST(Size, IsANumberWithAUnit) {
    const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {"64B", 64},
        {"4096B", 4096},
        {"1.5KiB", 1536},
        {"64MiB", int64_t{64} << 20},
        {"0.5GiB", int64_t{1} << 29},
        {"8388607TiB", int64_t{8388607} << 40},
    };
    for (const auto &row : rows) {
        int64_t bytes = 0;
        EXPECT_TRUE(polytile_size_parse(row.text, &bytes)) << row.text;
        EXPECT_EQ(bytes, row.bytes) << row.text;
    }
}

TEST(Size, OfAnyOtherFormIsRefusedWithWhatWasPerhapsMeant) {
    const char *const none = "it is not a size from 1 byte to 8 EiB; write a number and B, KiB, "
                             "MiB, GiB or TiB, such as 64MiB";
    const struct {
        const char *text, *why;
    } rows[] = {
        {"64", "it has no unit: 64MiB? (64B for bytes)"},
        {"1.5", "it has no unit: 1.5MiB? (1.5B for bytes)"},
        {"64M", "it has no unit that is known: 64MiB?"},
        {"64mb", "it has no unit that is known: 64MiB?"},
        {"64 MiB", "it has no unit that is known: 64MiB?"},
        {"2GB", "it has no unit that is known: 2GiB?"},
        {"100bytes", "it has no unit that is known: 100B?"},
        {"", none},
        {"0", none},
        {"0MiB", none},
        {"-1", none},
        {"0.3B", none},
        {"1.2.3KiB", none},
        {"big", none},
        {"64XiB", none},
        {"1e9", none},
        {"9999999TiB", none},
        {"9223372036854775808", none},
        {"1234567890123456789012345678901234567890", none},
    };
    for (const auto &row : rows) {
        char why[POLYTILE_SIZE_WHY_BYTES];
        int64_t bytes = -1;
        EXPECT_FALSE(polytile_size_parse(row.text, &bytes)) << row.text;
        EXPECT_EQ(bytes, -1) << row.text;
        EXPECT_STREQ(polytile_size_explain(row.text, why), row.why) << row.text;
    }
    char why[POLYTILE_SIZE_WHY_BYTES];
    EXPECT_STREQ(polytile_size_explain(nullptr, why), none);
}

} // namespace
