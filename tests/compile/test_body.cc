#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "access/declare/parse.h"
#include "compile/body.h"
}

#include <memory>
#include <string>
#include <vector>

namespace {

struct Declared {
    explicit Declared(const char *text) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(pti_declaration_parse(ctx, text, &declaration), POLYTILE_OK);
    }
    ~Declared() {
        pti_declaration_free(declaration);
        polytile_context_destroy(ctx);
    }
    polytile_status check(const std::string &body) const {
        return pti_body_check(ctx, declaration, body.c_str());
    }
    polytile_context *ctx = nullptr;
    polytile_declaration *declaration = nullptr;
};

const char *const mixed = "k[i, j]: in x[i], A[i, j]; inout y[i]; out z[i]; sum s[0]; max m[j]";

TEST(Body, MayDoAllThatCMayDo) {
    const Declared of(mixed);
    for (const char *body : {
             "z(i) = x(i) + y(i);",
             "y(i) += x(i); y(i)++; --y(i); y(i) <<= 1;",
             "z(i) = x(i) == y(i) ? x(i) : A(i, (j));",
             "z(i) = x((int64_t)A(i, j)); /* x(i) = 1; */ // y(",
             "PT_SUM(s(0), x(i) * (y(i) - 1)); PT_MAX(m(j), A(i, j));",
             "PT_SUM(PT_AT(s, 0), PT_AT(x, i));",
             "for (int64_t k = PT_FIRST(x, 0); k <= PT_LAST(x, 0); k++) z(i) += PT_EXTENT(A, 1);",
             "struct { int a, b; } q = {1, 2}, *p = &q; z(i) = q.a + p->b;",
             "const char c = '\"', *t = \"x(i) = 1; \\\" ( [ {\"; z(i) = c + t[0];",
             "#pragma omp simd\nfor (int k = 0; k < 3; k++) z(i) = 0x1p-3 + 1.e+5;",
             "int t[2] = {1, 2}; { z(i) = t[1]; }",
             "z(i) = xs; z(i) = x2;",
         })
        EXPECT_EQ(of.check(body), POLYTILE_OK) << body << "\n" << polytile_last_error(of.ctx);
}

TEST(Body, IsRefusedAtTheFirstTokenThatIsWrong) {
    const Declared of(mixed);
    const struct {
        const char *body, *says;
    } rows[] = {
        {"z(i) = 1;\n x(i) = 2;", "(line 2, column 2)"},
        {"x(i)\n= 2;", "x is assigned"},
        {"++ x(i);", "x is assigned"},
        {"A(i, j) %= 2;", "A is assigned"},
        {"z(i) = A(i)(j);", "A has 1 subscript here and 2 in the declaration"},
        {"z(i) = A((i, j));", "A has 1 subscript"},
        {"z(i) = PT_AT(A, i);", "A has 1 subscript"},
        {"z(i) = s(0);", "threads combine into s (\"sum\")"},
        {"PT_SUM(m(j), 1);", "threads combine into m (\"max\")"},
        {"PT_SUM(s(0) + 1, 1);", "threads combine into s"},
        {"PT_SUM(x(i), s(0));", "threads combine into s"},
        {"float *p = &m(j);", "threads combine into m"},
        {"z = 1;", "z is an array"},
        {"f(z);", "z is an array"},
        {"{ ( } )", "closes none"},
        {"<% z(i) = 1; ", "not closed"},
        {"%: define x", "a line of the preprocessor"},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(of.check(row.body), POLYTILE_DECLARATION) << row.body;
        EXPECT_NE(std::string(polytile_last_error(of.ctx)).find(row.says), std::string::npos)
            << row.body << "\n"
            << polytile_last_error(of.ctx);
    }
}

/* Whatever a body is, it is taken, or refused with a text that names a place in it. */
TEST(BodyRandom, AnyTextIsTakenOrRefusedWithASentence) {
    const char *const pieces[] = {"x",  "A",    "y", "z",  "s",  "(",      ")",      "[",  "]",
                                  "{",  "}",    ",", ";",  "=",  "+=",     "++",     "==", "i",
                                  "j",  "\n",   " ", "/*", "*/", "//",     "\"",     "'",  "\\",
                                  "#",  "1.e",  "+", "-",  ".",  "PT_SUM", "PT_AT(", "<%", "%:",
                                  "\t", "\xff", "?", "0",  "->", "return", "\r\n",   "@",  "\x01"};
    Random random(test_seed("BodyRandom.AnyTextIsTakenOrRefusedWithASentence"));
    const Declared of(mixed);
    for (int64_t round = 0; round < scaled(20000); round++) {
        std::string body;
        for (int64_t k = random.number(0, 20); k >= 0; k--)
            body += pieces[random.number(0, (int64_t)std::size(pieces) - 1)];
        const polytile_status status = of.check(body);
        const std::string text = polytile_last_error(of.ctx);
        if (status != POLYTILE_OK) {
            ASSERT_EQ(status, POLYTILE_DECLARATION) << body;
            ASSERT_EQ(text.rfind("k: ", 0), 0u) << body << "\n" << text;
        }
    }
}

} // namespace
