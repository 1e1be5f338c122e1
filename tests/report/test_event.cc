#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <jansson.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "report/event.h"
}

/* JSON of one event, compared with jansson. */

namespace {

/** A text in memory of exactly its size, which is parsed in place. */
struct Parsed {
    explicit Parsed(const std::string &of) : text(of.begin(), of.end()) {
        why = pti_trace_event_parse(text.data(), text.size(), &event, &place);
    }

    std::vector<char> text;
    pti_trace_event event = {};
    const char *why = nullptr;
    size_t place = 0;
};

TEST(TraceEvent, HasTheTextsAndNumbersThatAReportWants) {
    const Parsed parsed(
        " { \"name\" : \"a\\\"\\\\\\n\\u00e9\\ud83d\\ude00\", \"x\": [1, {\"ts\": 5}, \"]\", []], "
        "\"ph\":\"X\",\"ts\":-12.75e1,\"dur\":0.125,\"pid\":7,\"tid\":-3, \"y\": null,"
        "\"args\":{\"bytes\":9223372036854775807,\"run\":1.0,\"args\":{\"launches\":4},"
        "\"superblocks\":9223372036854775808}} ");
    ASSERT_EQ(parsed.why, nullptr) << parsed.why;
    const pti_trace_event &event = parsed.event;
    EXPECT_STREQ(event.name, "a\"\\\n\u00e9\U0001F600");
    EXPECT_STREQ(event.phase, "X");
    EXPECT_EQ(event.category, nullptr);
    EXPECT_EQ(event.ts.real, -127.5);
    EXPECT_FALSE(event.ts.is_whole);
    EXPECT_EQ(event.dur.real, .125);
    EXPECT_EQ(event.tid.whole, -3);
    EXPECT_TRUE(event.bytes.is_whole);
    EXPECT_EQ(event.bytes.whole, INT64_MAX);
    EXPECT_TRUE(event.run.is_there && !event.run.is_whole);
    EXPECT_TRUE(event.superblocks.is_there && !event.superblocks.is_whole);
    EXPECT_FALSE(event.launches.is_there) << "of args in args";
}

TEST(TraceEvent, IsRefusedWithTheReason) {
    const struct {
        std::string text, why;
    } cases[] = {
        {"", "no object"},
        {"[]", "no object"},
        {"{", "has no name"},
        {"{1: 2}", "has no name"},
        {"{\"a\"}", "has no colon"},
        {"{\"a\": }", "a value is none"},
        {"{\"a\": tru}", "a value is none"},
        {"{\"a\": 1", "an object has no end"},
        {"{\"a\": 1,}", "has no name"},
        {"{\"a\": [1}", "a list has no end"},
        {"{\"a\": [1,]}", "a value is none"},
        {"{\"a\": 1} x", "something follows"},
        {"{\"a\": -}", "a number lacks a digit"},
        {"{\"a\": 1.}", "a number lacks a digit"},
        {"{\"a\": 1e}", "an exponent lacks a digit"},
        {"{\"a\": \"b", "a text has a control character, or no end"},
        {std::string("{\"a\": \"\0\"}", 9), "a control character"},
        {"{\"a\": \"\n\"}", "a control character"},
        {"{\"a\": \"\\x\"}", "an escape is none"},
        {"{\"a\": \"\\u12\"}", "four digits"},
        {"{\"a\": \"\\u0000\"}", "an escape is none"},
        {"{\"a\": \"\\ud83d\"}", "a surrogate stands alone"},
        {"{\"a\": \"\\ud83d\\u0041\"}", "a surrogate stands alone"},
        {"{\"a\": \"\\ude00\"}", "a surrogate stands alone"},
        {"{\"a\": \"\\", "an escape is none"},
        {"{\"a\": " + std::string(100, '['), "too deeply"},
    };
    for (const auto &c : cases) {
        const Parsed parsed(c.text);
        ASSERT_NE(parsed.why, nullptr) << c.text;
        EXPECT_NE(std::string(parsed.why).find(c.why), std::string::npos) << c.text << "\n"
                                                                          << parsed.why;
        EXPECT_LE(parsed.place, c.text.size()) << c.text;
    }
}

json_t *random_value(Random &random, int depth) {
    switch (random.number(depth < 4 ? 0 : 2, 6)) {
    case 0: {
        json_t *list = json_array();
        for (int64_t k = random.number(0, 3); k > 0; k--)
            json_array_append_new(list, random_value(random, depth + 1));
        return list;
    }
    case 1: {
        json_t *object = json_object();
        for (int64_t k = random.number(0, 3); k > 0; k--)
            json_object_set_new(object, k % 2 == 0 ? "ts" : "bytes",
                                random_value(random, depth + 1));
        return object;
    }
    case 2:
        return json_integer(random.number(0, 1) == 0
                                ? random.number(-9, 9)
                                : random.number(-INT64_MAX / 2, INT64_MAX / 2));
    case 3:
        return json_real(static_cast<double>(random.number(-1000000, 1000000)) *
                         std::pow(10.0, static_cast<double>(random.number(-20, 20))));
    case 4:
        return random.chance(50) ? json_true() : json_null();
    default: {
        static const char *const texts[] = {
            "", "a b", "\"", "\\\\\"", "\n\t\b", "\u00e9", "\u20ac\U0001F600", "]}{["};
        return json_string(texts[random.number(0, 7)]);
    }
    }
}

void expect_same(const json_t *value, const pti_event_number &number) {
    EXPECT_EQ(number.is_there, json_is_number(value));
    EXPECT_EQ(number.is_there && number.is_whole, json_is_integer(value));
    if (json_is_integer(value)) {
        EXPECT_EQ(number.whole, json_integer_value(value));
    }
    if (json_is_number(value)) {
        const double expected = json_number_value(value);
        EXPECT_NEAR(number.real, expected, 1e-14 * std::fabs(expected));
    }
}

void expect_same(const json_t *value, const char *text) {
    if (json_is_string(value))
        EXPECT_STREQ(text, json_string_value(value));
    else
        EXPECT_EQ(text, nullptr);
}

TEST(TraceEvent, IsReadAsJanssonReadsIt) {
    const uint64_t seed = test_seed("TraceEvent.IsReadAsJanssonReadsIt");
    Random random(seed);
    for (int64_t round = 0; round < scaled(3000); round++) {
        const std::unique_ptr<json_t, decltype(&json_decref)> root(json_object(), json_decref);
        json_t *args = json_object();
        for (const char *key : {"name", "cat", "ts", "pid", "other"})
            if (random.chance(80))
                json_object_set_new(root.get(), key, random_value(random, 0));
        for (const char *key : {"name", "bytes", "limit_bytes", "ts"})
            if (random.chance(80))
                json_object_set_new(args, key, random_value(random, 1));
        json_object_set_new(root.get(), "args", args);
        char *text = json_dumps(root.get(), random.chance(50) ? JSON_ENSURE_ASCII : JSON_INDENT(1));
        SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
        const Parsed parsed(text);
        free(text);
        ASSERT_EQ(parsed.why, nullptr) << parsed.why << " at " << parsed.place;
        expect_same(json_object_get(root.get(), "name"), parsed.event.name);
        expect_same(json_object_get(root.get(), "cat"), parsed.event.category);
        expect_same(json_object_get(root.get(), "ts"), parsed.event.ts);
        expect_same(json_object_get(root.get(), "pid"), parsed.event.pid);
        expect_same(json_object_get(args, "name"), parsed.event.given_name);
        expect_same(json_object_get(args, "bytes"), parsed.event.bytes);
        expect_same(json_object_get(args, "limit_bytes"), parsed.event.limit_bytes);
    }
}

} // namespace
