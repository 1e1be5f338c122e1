#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "base/json_text.h"
}

namespace {

TEST(JsonText, HasNamesWithoutBytesThatAreNoText) {
    const struct {
        const char *name, *shown;
    } rows[] = {{"A", "A"}, {"\xc3\xa4", "\xc3\xa4"}, {"a\xff\"b\xc3", "a?\"b?"}, {"", ""}};
    for (const auto &row : rows) {
        json_t *value = pti_json_name(row.name);
        EXPECT_STREQ(json_string_value(value), row.shown);
        json_decref(value);
    }
}

TEST(JsonText, IsAppendedAsJanssonWritesIt) {
    pti_text text = {};
    json_t *value = json_pack("{s:[i,s]}", "a", 1, "\"");
    pti_text_add(&text, "before ");
    pti_text_add_json(&text, value, JSON_COMPACT);
    EXPECT_FALSE(text.failed);
    EXPECT_STREQ(text.data, "before {\"a\":[1,\"\\\"\"]}");
    pti_text_add_json(&text, nullptr, 0);
    EXPECT_TRUE(text.failed);
    json_decref(value);
    pti_text_free(&text);
}

} // namespace
