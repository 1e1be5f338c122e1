#include <gtest/gtest.h>

#include <cstdint>
#include <string>

extern "C" {
#include "access/set/box_text.h"
}

namespace {

TEST(BoxText, IsAsInADeclaration) {
    const struct {
        polytile_domain box;
        const char *text;
    } cases[] = {
        {{1, {{1, 8190, 1}}}, "[1:8190]"},
        {{2, {{0, 15, 1}, {4, 8, 2}}}, "[0:15, 4:8:2]"},
        {{3, {{7, 7, 1}, {-3, -3, 5}, {0, 1, 1}}}, "[7, -3, 0:1]"},
        {{1, {{0, -1, 1}}}, "[0:-1]"},
        {{0, {}}, "[]"},
    };
    for (const auto &c : cases) {
        pti_text text = {};
        pti_box_write(&text, &c.box);
        EXPECT_STREQ(text.data, c.text);
        pti_text_free(&text);
    }
}

} // namespace
