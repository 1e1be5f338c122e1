#include <gtest/gtest.h>

#include <cstdarg>
#include <string>

extern "C" {
#include "base/log.h"
}

namespace {

void show(char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pti_show_message(format, arguments, text);
    va_end(arguments);
}

TEST(Log, MessagesMayHaveTheOldTextAmongTheirArguments) {
    char text[PTI_ERROR_BYTES];
    show(text, "%s: is %d", "limit", 4);
    EXPECT_STREQ(text, "limit: is 4");
    show(text, "rank 1: %s", text);
    EXPECT_STREQ(text, "rank 1: limit: is 4");
}

TEST(Log, MessagesObeyNoTerminalAndKeepTheirEnd) {
    char text[PTI_ERROR_BYTES];
    show(text, "%s", "\x1b[31mred");
    EXPECT_STREQ(text, "\\x1b[31mred");
    show(text, "%s the end", std::string(2 * PTI_ERROR_BYTES, 'x').c_str());
    const std::string shown = text;
    EXPECT_LT(shown.size(), static_cast<size_t>(PTI_ERROR_BYTES));
    EXPECT_EQ(shown.substr(shown.size() - 8), " the end");
}

} // namespace
