#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "base/text.h"
}

namespace {

std::string place_in(const std::string &source, size_t offset) {
    pti_text text = {};
    pti_text_add_place(&text, source.c_str(), offset);
    const std::string place = text.failed ? "no memory" : text.data;
    pti_text_free(&text);
    return place;
}

TEST(TextPlace, ShowsTheLineWithACaretUnderTheColumn) {
    const struct {
        std::string source;
        size_t offset;
        std::string place;
    } rows[] = {
        {"in x[i;", 6, " (column 7)\n  in x[i;\n        ^"},
        {"", 0, " (column 1)\n  \n  ^"},
        {"in x\nout y[", 10, " (line 2, column 6)\n  out y[\n       ^"},
        {"a\r\nb", 0, " (line 1, column 1)\n  a\n  ^"},
        {"\x1b[i", 1, " (column 5)\n  \\x1b[i\n      ^"},
        {"\xc3\xa4[", 2, " (column 2)\n  \xc3\xa4[\n   ^"},
    };
    for (const auto &row : rows)
        EXPECT_EQ(place_in(row.source, row.offset), row.place) << row.source;
}

TEST(TextPlace, LeavesOutTheEndsOfLongLines) {
    const std::string source = std::string(300, 'a') + "!" + std::string(300, 'b');
    EXPECT_EQ(place_in(source, 300), " (column 301)\n  ..." + std::string(100, 'a') + "!" +
                                         std::string(59, 'b') + "...\n  " + std::string(103, ' ') +
                                         "^");
}

} // namespace
