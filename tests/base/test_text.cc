#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "base/context.h"
#include "base/text.h"
}
#include <polytile/polytile.h>

namespace {

std::string shown(const std::string &text, size_t n_bytes = 256) {
    std::string buffer(n_bytes, '#');
    EXPECT_EQ(polytile_text_show(text.c_str(), &buffer[0], n_bytes), &buffer[0]);
    return buffer.c_str();
}

const struct {
    const char *text, *shown;
} rows[] = {
    {"", ""},
    {"A[i-1:i+1, j]\n\tB", "A[i-1:i+1, j]\n\tB"},
    {"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
    {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
    {"a\r\b\v\f\x7f", "a\\x0d\\x08\\x0b\\x0c\\x7f"},
    {"\u00e4 \u20ac \U0001d11e \u00a0", "\u00e4 \u20ac \U0001d11e \u00a0"},
    {"\xc2\x9b"
     "31m \x9b \xff",
     "\\xc2\\x9b31m \\x9b \\xff"},
    {"\xe2\x82", "\\xe2\\x82"},                              /* cut short */
    {"\xc0\xaf \xe0\x80\xaf", "\\xc0\\xaf \\xe0\\x80\\xaf"}, /* longer than need be */
    {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
};

TEST(Text, ShowsWhatATerminalObeysAndWhatIsNoTextByteByByte) {
    for (const auto &row : rows) {
        EXPECT_EQ(shown(row.text), row.shown);
        pti_text text = {};
        const size_t n_columns = pti_text_add_shown(&text, row.text, std::string(row.text).size());
        EXPECT_STREQ(text.data == nullptr ? "" : text.data, row.shown);
        size_t n_characters = 0;
        for (const char *c = row.shown; *c != '\0'; c++)
            n_characters += (*c & 0xC0) != 0x80;
        EXPECT_EQ(n_columns, n_characters) << row.shown;
        pti_text_free(&text);
    }
}

TEST(Text, IsShownTheSameWhenItWasShownBefore) {
    for (const auto &row : rows)
        EXPECT_EQ(shown(row.shown), row.shown);
}

TEST(Text, LeavesOutWholeCharactersWhereThePlaceIsShort) {
    EXPECT_EQ(shown("ab\x1b", 1), "");
    EXPECT_EQ(shown("ab\x1b", 3), "ab");
    EXPECT_EQ(shown("ab\x1b", 6), "ab");
    EXPECT_EQ(shown("ab\x1b", 7), "ab\\x1b");
    EXPECT_EQ(shown("a\u20ac", 4), "a");
    char nothing = '#';
    EXPECT_EQ(polytile_text_show("a", &nothing, 0), &nothing);
    EXPECT_EQ(nothing, '#');
}

TEST(Text, ThatIsTooLongKeepsItsEnd) {
    const std::string text = "what: " + std::string(100000, 'x') + "\x1b: why";
    EXPECT_EQ(shown(text, 80),
              "what: " + std::string(31, 'x') + " ... " + std::string(28, 'x') + "\\x1b: why");
    EXPECT_EQ(shown(std::string(79, 'x'), 80), std::string(79, 'x'));
    EXPECT_EQ(shown(std::string(80, 'x'), 80),
              std::string(37, 'x') + " ... " + std::string(37, 'x'));
    for (size_t n_bytes : {1, 2, 64, 65, 66, 67, 80, 81})
        EXPECT_LT(shown(text, n_bytes).size(), n_bytes);
}

TEST(Text, OfErrorsKeepsTheReason) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_device *device = nullptr;
    EXPECT_EQ(polytile_device_open(ctx, std::string(100000, 'h').c_str(), &device),
              POLYTILE_INVALID);
    const std::string error = polytile_last_error(ctx);
    EXPECT_LT(error.size(), 2048u);
    EXPECT_NE(error.find("host(memory=SIZE"), std::string::npos) << error;
    polytile_context_destroy(ctx);
}

TEST(Text, OfErrorsIsShown) {
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_device *device = nullptr;
    EXPECT_EQ(polytile_device_open(ctx, "host\x1b[2J(memory=1MiB)", &device), POLYTILE_INVALID);
    const std::string error = polytile_last_error(ctx);
    EXPECT_NE(error.find("host\\x1b[2J"), std::string::npos) << error;
    EXPECT_EQ(error.find('\x1b'), std::string::npos);
    polytile_context_destroy(ctx);
}

} // namespace
