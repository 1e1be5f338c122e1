#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "support/declared.h"

/* Declarations are data from anywhere: whatever they hold, they are read whole or refused with a
 * place, and their numbers are checked before they are used. */

namespace {

const char *const valid[] = {
    "k[i, j]: in x[2*i+(m-1)*3-j:n:2, :]; inout y[-i]; out sum s[0]; max t[i, :j]",
    "k[i, j]: in [m] -> {[i, j] -> A[a, b] : a = 2*(i + m) mod 3 and (b < j or m != b)}; out B[i]",
    "k[i]: in {[i] -> A[a] : exists (q, r : a = 2*q + r and 0 <= r < 2) and -a <= i, m}; out B[i]",
    "k[i]: in {[x] -> A[x + 1] ; [x] -> A[-x % 4] : x >= 3 || (x + 1) * 2 > m && x == 1}; out B[i]",
};

TEST(ParseLimits, WhateverEndsADeclarationEarlyIsRefusedWithItsPlace) {
    for (const char *text : valid) {
        const std::string whole = text;
        ASSERT_EQ(Parsed(whole).status(), POLYTILE_OK) << whole << "\n" << Parsed(whole).error();
        for (size_t length = 0; length < whole.size(); length++) {
            for (const char *end : {"$", "[[", "99999999999999999999", "\xff", "\"", "\n$"}) {
                Parsed cut(whole.substr(0, length) + end);
                ASSERT_EQ(cut.status(), POLYTILE_DECLARATION) << whole.substr(0, length) << end;
                ASSERT_EQ(cut.get(), nullptr);
                ASSERT_NE(cut.error().find("column "), std::string::npos) << cut.error();
            }
        }
    }
}

TEST(ParseLimits, NamesOfMoreThan63LettersAreRefusedWhereverTheyStand) {
    const std::string longest(63, 'n'), longer(64, 'n');
    for (const char *text : valid) {
        const std::string whole = text;
        for (size_t at = 0; at < whole.size(); at++) {
            const bool begins =
                std::isalpha(static_cast<unsigned char>(whole[at])) != 0 &&
                (at == 0 || std::isalnum(static_cast<unsigned char>(whole[at - 1])) == 0);
            if (!begins)
                continue;
            Parsed parsed(whole.substr(0, at) + longer + whole.substr(at));
            ASSERT_EQ(parsed.status(), POLYTILE_DECLARATION);
            EXPECT_NE(parsed.error().find("letters; at most 63"), std::string::npos)
                << parsed.error();
        }
    }
    EXPECT_EQ(Parsed("k[i]: out x[i]; in " + longest + "[i]").status(), POLYTILE_OK);
}

std::string repeated(const std::string &text, int n) {
    std::string all;
    for (int k = 0; k < n; k++)
        all += text;
    return all;
}

/** Each within a second in any build; what is within the limits is read. */
TEST(ParseLimits, LongTextsAreReadOrRefusedSoon) {
    const std::string head = "k[i]: in {[i] -> A[a] : ", tail = "a = i}; out B[i]";
    const std::string sections = "k[i]: out y[i]; in x[i]";
    const struct {
        std::string text;
        const char *says; /* NULL: it is read */
    } rows[] = {
        {std::string(65537, ' '), "the text of 65537 bytes is longer than the 65536 there may be"},
        {sections + std::string(65536 - sections.size(), ' '), nullptr},
        {head + repeated("(", 1000000) + tail, "nested more than 100 deep"},
        {head + repeated("(", 60000) + tail, "nested more than 100 deep"},
        {head + repeated("(", 100) + "a = i" + repeated(")", 100) + "}; out B[i]", nullptr},
        {head + repeated("(", 101) + "a = i" + repeated(")", 101) + "}; out B[i]",
         "nested more than 100 deep"},
        {head + "a = " + repeated("(", 100) + "i" + repeated(")", 100) + "}; out B[i]", nullptr},
        {"k[i]: out x[" + repeated("(", 100) + "i" + repeated(")", 100) + "]", nullptr},
        {"k[i]: out x[" + repeated("(", 101) + "i" + repeated(")", 101) + "]",
         "nested more than 100 deep"},
        {"k[i]: out x[" + repeated("-", 100) + "i]", nullptr},
        {head + repeated("a <= i and ", 10000) + tail, "more than the 256 comparisons"},
        {head + repeated("(((a + (1)", 30) + repeated(" + (1)", 20000) + tail, "65536"},
        {head + repeated("a <= i and ", 5000) + tail, "more than the 256 comparisons"},
        {head + repeated("a <= i and ", 200) + tail, nullptr},
        {head + "a" + repeated(" <= i", 10000) + "}", "more than the 256 comparisons"},
        {head + repeated("a = i or ", 5000) + tail, "more than 64"},
        {head + repeated("exists e : ", 5000) + tail, "more than"},
        {sections + repeated(", x[i]", 160000), "x is one more than the 1024 there may be"},
        {sections + repeated(", x[i]", 10000), "x is one more than the 1024 there may be"},
        {sections + repeated(", x[i]", 1022), nullptr},
        {sections + repeated(", x[i]", 1023), "one more than the 1024"},
        {sections + repeated(", {[i] -> x[a] : a < i and a > 0 and a < 2i}", 1022), nullptr},
        {sections +
             repeated(", {[i] -> x[a] : a < i and a > 0 and a < 2i and a < 3i and a < 4i}", 900),
         "all relations have 4100 comparisons in their pieces; there may be 4096"},
        {repeated("k", 60000) + "[i]: in x[i]", "60000 letters; at most 63"},
        {"k[i" + repeated(", i", 20000) + "]: in x[i]", "is an index already"},
        {"k[i]: in x[i" + repeated(", i", 20000) + "]", "more than the 8 subscripts"},
        {"k[i]: in x[" + repeated("9", 60000) + "]", "exceeds 64 bits"},
        {"k[i]: out x[" + repeated("0", 60000) + "+i]", nullptr},
        {"k[i]: out x[" + repeated("i-i+", 15000) + "i]", nullptr},
        {"k[i]: out x[" + repeated("1*", 30000) + "i]", nullptr},
        {"k[i]: out x[" + repeated("-", 60000) + "i]", "nested more than 100 deep"},
    };
    for (const auto &row : rows) {
        Parsed parsed(row.text);
        EXPECT_EQ(parsed.status(), row.says == nullptr ? POLYTILE_OK : POLYTILE_DECLARATION)
            << row.text.substr(0, 60) << "\n"
            << parsed.error();
        if (row.says != nullptr) {
            EXPECT_NE(parsed.error().find(row.says), std::string::npos) << parsed.error() << "\n"
                                                                        << row.says;
        }
    }
}

TEST(ParseLimits, WhatTheDataCannotHoldIsRefusedAndSaid) {
    const std::string head = "k[i]: in {[i] -> A[a] : ";
    std::string many_pieces, many_quantified, many_names, many_expressions = "a";
    for (int k = 0; k < 9; k++) {
        many_pieces += (k == 0 ? "a != " : " and a != ") + std::to_string(k);
        many_quantified += (k == 0 ? "(a + " : " and (a + ") + std::to_string(k) + ") mod 3 = 1";
        many_names += (k == 0 ? "q" : ", q") + std::to_string(k);
    }
    for (int k = 0; k < 100; k++)
        many_expressions += ", a + " + std::to_string(k);
    const struct {
        std::string text;
        const char *says;
    } rows[] = {
        {head + many_pieces + "}", "more than 64"},
        {head + many_quantified + "}", "more than"},
        {head + "exists (" + many_names + " : a = q0)}", "more than"},
        {head + many_expressions + " < 3}", "more than"},
        {head + "9223372036854775807 * a >= -9223372036854775807 * a}", "exceeds 64 bits"},
        {head + "a = (-9223372036854775807 - 1 + i) mod 2}", "exceeds 64 bits"},
        {head + "a = 9223372036854775808}", "64"},
        {head + "a = i mod 0}", "divisor"},
        {head + "a = i mod a}", "divisor"},
        {"k[i]: in x[9223372036854775807*i+9223372036854775807*i]; out y[i]", "64 bits"},
        {"k[i]: in x[0:9:0]; out y[i]", "step"},
        {"k[i]: in x[0:9:-1]; out y[i]", "step"},
        {"k[i]: in x[0:9:99999999999999999999]; out y[i]", "64"},
    };
    for (const auto &row : rows) {
        Parsed parsed(row.text);
        EXPECT_EQ(parsed.status(), POLYTILE_DECLARATION) << row.text.substr(0, 200);
        EXPECT_NE(parsed.error().find(row.says), std::string::npos) << parsed.error() << "\n"
                                                                    << row.says << "\n";
    }
}

} // namespace
