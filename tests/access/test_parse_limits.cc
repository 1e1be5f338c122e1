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
