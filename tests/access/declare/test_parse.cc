#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "support/declared.h"
#include "support/random.h"
#include "support/scale.h"

namespace {

TEST(Parse, WrongDeclarationsShowWhereAndWhy) {
    struct Case {
        const char *text; /* @ is where the caret must point */
        const char *says;
    };
    const Case cases[] = {
        {"@", "expected a name of a kernel, not the end"},
        {"@[i]: in x[i]", "expected a name of a kernel, not '['"},
        {"@2k[i]: in x[i]", "not 2"},
        {"k@", "expected '[' after the kernel's name, not the end"},
        {"k[@]: in x[0]", "expected a name of an index, not ']'"},
        {"k[i @: in x[i]", "expected ']' after the indices, not ':'"},
        {"k[i, @i]: in x[i]", "the name 'i' is an index already"},
        {"k[i] @in x[i]", "expected ':' between the indices"},
        {"k[i]: @", "expected a role"},
        {"k[i]: @x[i]", "not 'x'"},
        {"k[i]: @input x[i]",
         "expected a role (in, out, inout, sum, prod, min, max, argmin, argmax"},
        {"k[i]: in @;", "expected a name of an array or '{', not ';'"},
        {"k[i]: in x@", "expected '[' after the array's name, not the end"},
        {"k[i]: in x[@]", "expected an expression"},
        {"k[i]: in x[wrap(i@]", "expected ')' after the range, not ']'"},
        {"k[i]: in x[wrap(i)@+1]", "wrap(...) stands around a whole subscript"},
        {"k[i]: in x[wrap(i)@:9]", "wrap(...) stands around a whole subscript"},
        {"k[i]: in x[1+@clamp(i)]", "clamp(...) stands around a whole subscript"},
        {"k[i]: in x[0:@wrap(i)]", "wrap(...) stands around a whole subscript"},
        {"k[i]: in {[i] -> x[@wrap(i)]}", "not affine: 'wrap' with something in brackets"},
        {"k[i]: out @x[clamp(i)]", "subscript 1 of x clamps, which only the role in may"},
        {"k[i]: scratch f32 @x[i, wrap(0:9)]; out y[i]", "scratch ends nowhere"},
        {"k[i]: in x[i@", "expected ']' after the subscripts, not the end"},
        {"k[i]: in x[i, @]", "expected an expression"},
        {"k[i]: in x[i] @out y[i]", "expected ',', ';' or the end after a section, not 'out'"},
        {"k[i]: in x[i], @out y[i]", "write ';' before the next role 'out'"},
        {"k[i]: in x[i]; @", "expected a role"},
        {"k[i]: in x[i]; @; out y[i]", "expected a role"},
        {"k[i]: in x[i@*i]", "not affine: one factor of a product"},
        {"k[i]: in x[n@*i]", "not affine"},
        {"k[i]: in x[i@/2]", "not affine: there is no division"},
        {"k[i]: in x[(i+1)@/2]", "not affine: there is no division"},
        {"k[i]: in x[i @mod 2]", "not affine: a remainder needs the form in braces"},
        {"k[i]: in x[i @% 2]", "not affine: a remainder needs the form in braces"},
        {"k[i]: in x[2*@idx(i)]", "not affine: 'idx' with something in brackets"},
        {"k[i]: in x[@f(i)]", "not affine: 'f' with something in brackets"},
        {"k[i]: in x[0:9:@0]", "the step is 0; it must be at least 1"},
        {"k[i]: in x[0:9:@-1]", "the step is -1"},
        {"k[i]: in x[0:9:@i]", "the step must be an integer constant"},
        {"k[i]: in x[0:9:2@:1]", "expected ']' after the subscripts, not ':'"},
        {"k[i]: in x[i], @x[i, i]", "x has 2 subscripts here and 1 before"},
        {"k[i]: in x[i]; out @x[0, i]", "x has 2 subscripts here and 1 before"},
        {"k[i]: sum x[i]; out sum @x[i]", "use two arrays"},
        {"k[i]: in x[i @$ 2]", "this character"},
        {"k[i]: in x[@$]", "this character"},
        {"k[i]: in x[@.5]", "this character"},
        {"k[i]: in x[@9223372036854775808]", "this number exceeds 64 bits"},
        {"k[i]: in x[i+@99999999999999999999999]", "this number exceeds 64 bits"},
        {"k[i]: in x[9223372036854775807 @+ 1]", "this sum exceeds 64 bits"},
        {"k[i]: in x[4611686018427387904 @* 2]", "this product exceeds 64 bits"},
        {"k[i]: in x[4611686018427387904*i@+4611686018427387904*i]", "this sum exceeds 64 bits"},
        {"k[a, b, c, d, e, f, g, h, @o]: in x[a]", "'o' is one more than the 8"},
        {"k[i]: in x[a+b+c+d+e+f+g+h+j+k+l+m+n+p+q+r+@o]", "'o' is one more than the 16"},
        {"k[i]: in x[1, 2, 3, 4, 5, 6, 7, 8, @9]", "more than the 8 subscripts"},
        {"k[i]: in {@}", "expected '[' before a tuple"},
        {"k[i]: in {[i]@}", "expected '->' after the thread's tuple"},
        {"k[i]: in {@[i, j] -> A[i]}", "2 places for the 1 index of"},
        {"k[i]: in {[i] -> @}", "expected a name of an array after '->'"},
        {"k[i]: in {[i] -> A[i] : @}", "expected an expression"},
        {"k[i]: in {[i] -> A[a] : a@}", "expected a comparison, not '}'"},
        {"k[i]: in {[i] -> A[a] : a = i@", "expected '}' after a relation, not the end"},
        {"k[i]: in {[i] -> A[a] : a +@= i}", "expected an expression"},
        {"k[i]: in {[i] -> A[a] : a = i and @}", "expected an expression"},
        {"k[i]: in {[i] -> A[a] : a = 3 mod @i}", "divisor must be a positive integer constant"},
        {"k[i]: in {[i] -> A[a] : a = i mod @0}", "divisor must be a positive integer constant"},
        {"k[i]: in {[i] -> A[a] : a@*i = 1}", "not affine: one factor of a product"},
        {"k[i]: in {[x] -> A[a] : a = @i}", "the index 'i' is not named in the tuple"},
        {"k[i]: in {[i] -> A[a] : exists e @a = 2e}",
         "expected ':' after the quantified variables"},
        {"k[i]: in {[i] -> A[a] : exists (e : a = 2e@}", "expected ')'"},
        {"k[i]: in {[i] -> A[a] : exists a0, a1, a2, a3, a4, a5, a6, a7, @a8 : a = a8}",
         "more than the 8 quantified variables"},
        {"k[i]: in {[i] -> A[1, 2, 3, 4, 5, 6, 7, 8, @9]}", "a tuple has at most 8 places"},
        {"k[i]: in [n @{[i] -> A[i]}", "expected ']' after the parameters"},
        {"k[i]: in [n] @{[i] -> A[i]}", "expected '->'"},
        {"k[i](@): in x[i]", "expected a parameter's type (i8, i16, i32, i64, u8, u16, u32, u64, "
                             "f16, f32, f64, bf16, c64, c128), not ')'"},
        {"k[i](@a): in x[i]", "c128), not 'a'"},
        {"k[i](@12 a): in x[i]", "c128), not 12"},
        {"k[i](@double a): in x[i]", "c128), not 'double'"},
        {"k[i](f32@): in x[i]", "expected a name of a parameter, not ')'"},
        {"k[i](f32 a,@): in x[i]", "c128), not ')'"},
        {"k[i](f32 a, @b): in x[i]", "c128), not 'b'"},
        {"k[i](f32 a @f32 b): in x[i]", "expected ')' after the parameters, not 'f32'"},
        {"k[i](f32 a)@(f32 b): in x[i]", "expected ':'"},
        {"k[i](f32 a) @in x[i]", "expected ':'"},
        {"k@(f32 a)[i]: in x[i]", "expected '[' after the kernel's name"},
        {"k[i](f32 a, f64 @a): in x[i]", "the name 'a' is a parameter already"},
        {"k[i, j](f32 @j): in x[i]", "the name 'j' is an index already"},
        {"k[i](f32 a): in @a[i]", "the name 'a' is a parameter already; rename an array"},
        {"k[i](i64 a): in {[i] -> @a[i]}", "the name 'a' is a parameter already; rename an array"},
        {"k[i](f32 a): in x[i+2*@a]", "a is f32: subscripts take integers"},
        {"k[i](f16 a): in x[@a-a:]", "a is f16: subscripts take integers"},
        {"k[i](f64 a): in {[i] -> x[e] : e >= @a}", "a is f64: subscripts take integers"},
        {"k[i](f64 a): in {[i] -> x[@a]}", "a is f64: subscripts take integers"},
    };
    for (const Case &c : cases) {
        std::string text = c.text;
        const size_t caret = text.find('@');
        text.erase(caret, 1);
        Parsed parsed(text);
        EXPECT_EQ(parsed.status(), POLYTILE_DECLARATION) << text;
        EXPECT_EQ(parsed.get(), nullptr);
        const std::string error = parsed.error();
        EXPECT_NE(error.find(c.says), std::string::npos) << error;
        const std::string place = "(column " + std::to_string(caret + 1) + ")\n  " + text + "\n  " +
                                  std::string(caret, ' ') + "^";
        EXPECT_NE(error.find(place), std::string::npos) << c.text << "\n" << error;
    }
}

TEST(Parse, ParametersAreSixteenAtMost) {
    std::string list = "i8 p0";
    for (int p = 1; p < POLYTILE_MAX_PARAMETERS; p++)
        list += ", i8 p" + std::to_string(p);
    EXPECT_EQ(Parsed("k[i](" + list + "): in x[i]").status(), POLYTILE_OK);
    for (const std::string &text :
         {"k[i](" + list + ", i8 more): in x[i]", "k[i](" + list + "): in x[i+more]"}) {
        Parsed parsed(text);
        EXPECT_EQ(parsed.status(), POLYTILE_DECLARATION);
        EXPECT_NE(parsed.error().find("'more' is one more than the 16 there may be"),
                  std::string::npos)
            << parsed.error();
    }
}

TEST(Parse, ParametersHaveTypesAndSubscriptsUseSome) {
    struct Parameter {
        const char *name;
        polytile_type type;
        bool is_typed, is_in_subscripts;
    };
    const struct {
        const char *text;
        std::vector<Parameter> parameters;
    } rows[] = {
        {"k[i]: in x[i]", {}},
        {"k[i]: in x[i+n]", {{"n", POLYTILE_I64, false, true}}},
        {"k[i](f32 a): in x[i]", {{"a", POLYTILE_F32, true, false}}},
        {"k[i]\n(\tf32 a,u8 b ) : in x[i]",
         {{"a", POLYTILE_F32, true, false}, {"b", POLYTILE_U8, true, false}}},
        {"k[i](i32 n, f16 h): in x[m:n]",
         {{"n", POLYTILE_I32, true, true},
          {"h", POLYTILE_F16, true, false},
          {"m", POLYTILE_I64, false, true}}},
        {"k[i](u64 n): in x[i+0*n]", {{"n", POLYTILE_U64, true, true}}},
        {"k[i](i16 n): in {[i] -> x[e] : e >= n}", {{"n", POLYTILE_I16, true, true}}},
        {"k[i](i16 n): in [n] -> {[i] -> x[i+n]}", {{"n", POLYTILE_I16, true, true}}},
        {"k[i](i16 n): in [n, m] -> {[i] -> x[m]}",
         {{"n", POLYTILE_I16, true, false}, {"m", POLYTILE_I64, false, true}}},
        {"k[i](f32 f32): in f64[i]", {{"f32", POLYTILE_F32, true, false}}},
        {"k[i]: in n[i+n]", {{"n", POLYTILE_I64, false, true}}},
    };
    for (const auto &row : rows) {
        Parsed parsed(row.text);
        ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
        ASSERT_EQ(static_cast<size_t>(parsed.get()->n_parameters), row.parameters.size());
        for (size_t p = 0; p < row.parameters.size(); p++) {
            EXPECT_STREQ(parsed.get()->parameter_name[p], row.parameters[p].name) << row.text;
            EXPECT_EQ(parsed.get()->parameter_type[p], row.parameters[p].type) << row.text;
            EXPECT_EQ(parsed.get()->is_typed[p], row.parameters[p].is_typed) << row.text;
            EXPECT_EQ(parsed.get()->is_in_subscripts[p], row.parameters[p].is_in_subscripts)
                << row.text;
        }
    }
}

TEST(Parse, TheCaretStandsUnderTheRightLineAndColumn) {
    Parsed lines("k[i]:\n  in x[i];\n\tout\ty[i*i]");
    EXPECT_NE(lines.error().find("k: not affine"), std::string::npos) << lines.error();
    EXPECT_NE(lines.error().find("(line 3, column 9)\n  \tout\ty[i*i]\n  \t   \t   ^"),
              std::string::npos)
        << lines.error();
    Parsed letters("k[i]: in \u00e4[i]");
    EXPECT_NE(letters.error().find("(column 10)"), std::string::npos) << letters.error();
    Parsed returns("k[i]: in x[\r\n i*i]\r\n");
    EXPECT_NE(returns.error().find("(line 2, column 3)\n   i*i]\n    ^"), std::string::npos)
        << returns.error();
}

TEST(Parse, WhatATerminalWouldObeyIsShownAsBytesAndTheCaretStandsUnderThem) {
    const struct {
        const char *text, *place;
    } rows[] = {
        {"k[i]: in x[i\x1b[31m]", "(column 13)\n  k[i]: in x[i\\x1b[31m]\n              ^"},
        {"k[i\x1b", "(column 4)\n  k[i\\x1b\n     ^"},
        {"k[i]: in x[\v i*i, \x1b]",
         "(column 18)\n  k[i]: in x[\\x0b i*i, \\x1b]\n                   ^"},
        {"k[i]:\n in x[\f i*i, \xff]",
         "(line 2, column 13)\n   in x[\\x0c i*i, \\xff]\n              ^"},
    };
    for (const auto &row : rows) {
        const std::string error = Parsed(row.text).error();
        EXPECT_NE(error.find(row.place), std::string::npos) << error << "\n" << row.place;
        EXPECT_EQ(error.find_first_of("\x1b\v\f\xff"), std::string::npos);
    }
}

/** Of a line that is too long, what is around the caret; the caret stands under it. */
TEST(Parse, LongLinesAreShownAroundTheCaret) {
    for (size_t n_before : {0, 1, 30, 80, 1000, 30000}) {
        for (size_t n_behind : {0, 1, 50, 1000}) {
            std::string text = "k[i]: in x[";
            for (size_t k = 0; k < n_before; k++)
                text += "i+";
            const std::string error = Parsed(text + "@" + std::string(n_behind, ' ')).error();
            const size_t column = text.size() + 1;
            EXPECT_NE(error.find("(column " + std::to_string(column) + ")\n"), std::string::npos)
                << error.substr(0, 200);
            const size_t line = error.find('\n') + 1, caret = error.find('\n', line) + 1;
            ASSERT_EQ(error.back(), '^') << error;
            ASSERT_LT(error.size() - caret, 110u);
            ASSERT_LT(caret - line, 180u);
            EXPECT_EQ(error[line + error.size() - 1 - caret], '@') << error;
        }
    }
}

/** Texts that mean the same declaration. */
TEST(Parse, SpellingsAreTheSame) {
    const std::vector<std::vector<const char *>> groups = {
        {"k[i,j]:in A[i-1:i+1,j];out B[i,j]",
         " k [ i , j ] : in A [ i - 1 : i + 1 , j ] ; out B [i,j] ",
         "k[i, j]:\n  in A[i-1:i+1, j];\r\n\tout B[i, j]\n",
         "k[i, j]: in A[-1+i:1+i, j]; out B[+i, --j]",
         "k[i, j]: in A[2*i-(i+1):i+2*2-3, 3*j-2j]; out B[i+n-n, (j)]"},
        {"k[i]: in A[2*i:2*i+2]", "k[i]: in A[2i:2(i+1)]", "k[i]: in A[i*2:(i+1)*2]"},
        {"k[i]: in A[-2*i:-2*i+2]", "k[i]: in A[-2i:+2-2i]", "k[i]: in A[-+2i:-2(i-1)]",
         "k[i]: in A[i*-2:---2i*1+2]", "k[i]: in A[2*-1i:-1*2i+2]"},
        {"k[i]: in A[:]", "k[i]: in A[ : ]", "k[i]: in A[::1]"},
        {"k[i]: in A[i:]", "k[i]: in A[i::1]"},
        {"k[i]: in A[:i]", "k[i]: in A[:i:1]"},
        {"k[i]: in A[i], B[i]", "k[i]: in A[i]; in B[i]"},
    };
    for (const auto &group : groups) {
        Parsed first(group[0]);
        ASSERT_EQ(first.status(), POLYTILE_OK) << first.error();
        for (const char *text : group) {
            Parsed other(text);
            ASSERT_EQ(other.status(), POLYTILE_OK) << other.error();
            EXPECT_EQ(difference(first.get(), other.get()), "") << group[0] << "\n" << text;
        }
    }
}

TEST(Parse, RoleWordsCanBeNames) {
    Parsed parsed("in[i]: in in[i], out[i+sum]; out sum sum[0]; out prod[i]; out max max[i]");
    ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
    EXPECT_EQ(text_of(parsed.get()),
              "in[i]: in in[i]; in out[i+sum]; out sum sum[0]; out prod[i]; out max max[i]");
}

TEST(Parse, EightOfEachAreAllowed) {
    Parsed parsed("k[a, b, c, d, e, f, g, h]: in x[a+p, b+q, c+r, d+s, e+t, f+u, g+v, h+w]");
    ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
    EXPECT_EQ(parsed.get()->n_indices, 8);
    EXPECT_EQ(parsed.get()->n_parameters, 8);
    EXPECT_EQ(parsed.get()->access[0].n_dims, 8);
    EXPECT_EQ(parsed.get()->access[0].subscript[7].lo.parameter[7], 1);
}

TEST(Parse, TheLargestNumbersAreKept) {
    Parsed parsed("k[i]: in x[9223372036854775807*i-9223372036854775807-1]");
    ASSERT_EQ(parsed.status(), POLYTILE_OK) << parsed.error();
    EXPECT_EQ(parsed.get()->access[0].subscript[0].lo.index[0], INT64_MAX);
    EXPECT_EQ(parsed.get()->access[0].subscript[0].lo.constant, INT64_MIN);
}

TEST(Parse, DeepNestingIsRefusedNotRunOutOfStack) {
    const size_t deep = 1000000;
    for (const char *opener : {"(", "-", "+"}) {
        std::string text = "k[i]: in x[";
        for (size_t k = 0; k < deep; k++)
            text += opener;
        Parsed parsed(text + "i]");
        EXPECT_EQ(parsed.status(), POLYTILE_DECLARATION);
        EXPECT_NE(parsed.error().find("nested"), std::string::npos);
    }
    for (const char *opener : {"(", "exists (e : ", "a = i and ("}) {
        std::string text = "k[i]: in {[i] -> A[a] : ";
        for (size_t k = 0; k < 2000; k++)
            text += opener;
        Parsed parsed(text + "a = i");
        EXPECT_EQ(parsed.status(), POLYTILE_DECLARATION);
    }
}

/* ---- random round trips ---- */

int64_t draw_coefficient(Random *random) {
    return random->one_of({0, 0, 0, 0, 1, 1, -1, 2, -3, 10, INT64_MAX, -INT64_MAX,
                           random->number(-1000000, 1000000)});
}

polytile_affine draw_affine(Random *random, int n_indices, int n_parameters) {
    polytile_affine affine = {};
    affine.constant = draw_coefficient(random);
    for (int k = 0; k < n_indices; k++)
        affine.index[k] = draw_coefficient(random);
    for (int p = 0; p < n_parameters; p++)
        affine.parameter[p] = random->chance(30) ? draw_coefficient(random) : 0;
    return affine;
}

polytile_subscript draw_subscript(Random *random, int n_indices, int n_parameters) {
    polytile_subscript subscript = {};
    subscript.step = 1;
    subscript.lo = draw_affine(random, n_indices, n_parameters);
    subscript.hi = subscript.lo;
    if (random->chance(40))
        return subscript;
    subscript.hi = draw_affine(random, n_indices, n_parameters);
    subscript.hi.index[0] = subscript.lo.index[0] == 5 ? 6 : 5;
    subscript.step = random->one_of({1, 1, 2, 7, INT64_MAX});
    subscript.from_first = random->chance(20);
    subscript.to_last = random->chance(20);
    return subscript;
}

polytile_declaration *draw_declaration(polytile_context *ctx, Random *random) {
    static const char *const names[] = {"i", "j",    "k1",  "_l", "Index", "in",  "sum", "o",
                                        "n", "m",    "p_2", "q",  "N",     "out", "max", "x",
                                        "A", "fine", "B2",  "u",  "_",     "min"};
    const int n_indices = static_cast<int>(random->number(1, 8));
    const int n_parameters = static_cast<int>(random->number(0, 8));
    polytile_declaration *declaration = nullptr;
    EXPECT_EQ(polytile_declaration_create(ctx, "kernel", n_indices, names, n_parameters, names + 8,
                                          &declaration),
              POLYTILE_OK);
    const int64_t n_accesses = random->number(1, 6);
    for (int64_t a = 0; a < n_accesses; a++) {
        const int array = static_cast<int>(random->number(0, 5));
        std::vector<polytile_subscript> subscripts;
        for (int d = 0; d <= array; d++)
            subscripts.push_back(draw_subscript(random, n_indices, n_parameters));
        const auto role = static_cast<polytile_role>(random->number(POLYTILE_IN, POLYTILE_MAX));
        EXPECT_EQ(polytile_declaration_add(declaration, role,
                                           role >= POLYTILE_SUM && array % 2 == 0,
                                           names[16 + array], array + 1, subscripts.data()),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
    }
    return declaration;
}

TEST(ParseRandom, WhatIsPrintedIsParsedAgain) {
    Random random(test_seed("ParseRandom.WhatIsPrintedIsParsedAgain"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int64_t round = scaled(20000); round > 0 && !HasFailure(); round--) {
        polytile_declaration *declaration = draw_declaration(ctx, &random);
        polytile_declaration *parsed = nullptr;
        const std::string text = text_of(declaration);
        ASSERT_EQ(pti_declaration_parse(ctx, text.c_str(), &parsed), POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(difference(declaration, parsed), "") << text << "\n" << text_of(parsed);
        pti_declaration_free(parsed);
        polytile_declaration_destroy(declaration);
    }
    polytile_context_destroy(ctx);
}

/* ---- garbage ---- */

const char *const seeds[] = {
    "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
    "dot[i]: in x[i], y[i]; out sum s[0]",
    "odd[i]: in x[1:n-1:2], z[::3], w[i:]; out y[i]",
    "any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]",
    "m[i]: in [n] -> {[i] -> A[a] : exists (e : a = 2e + i mod 3) or 0 <= a, i < n; [i] -> B[2i]}",
};

/** A text with a few characters or tokens put in, left out, doubled or replaced. */
std::string mutate(Random *random, std::string text) {
    static const char *const pieces[] = {
        "[",  "]",  "{",    "}",   "(",      ")",   ",",  ";", ":",  "->",
        "*",  "+",  "-",    "mod", "exists", "and", "or", "=", "!=", "<",
        ">=", "i",  "n",    "out", "sum",    "%",   "/",  "0", "7",  "9223372036854775807",
        "\n", "\t", "\xff", "@"};
    for (int64_t n = random->number(1, 6); n > 0; n--) {
        const auto at = static_cast<size_t>(random->number(0, static_cast<int64_t>(text.size())));
        const auto length = static_cast<size_t>(random->number(0, 4));
        const std::string piece =
            pieces[random->number(0, static_cast<int64_t>(std::size(pieces)) - 1)];
        switch (random->number(0, 3)) {
        case 0:
            text.insert(at, piece);
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.replace(at, length, piece);
            break;
        default:
            text.insert(at, text.substr(at, length * 5));
            break;
        }
    }
    return text;
}

TEST(ParseRandom, MutatedDeclarationsAreParsedOrRefused) {
    Random random(test_seed("ParseRandom.MutatedDeclarationsAreParsedOrRefused"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int64_t round = scaled(100000); round > 0 && !HasFailure(); round--) {
        const std::string text =
            mutate(&random, seeds[random.number(0, static_cast<int64_t>(std::size(seeds)) - 1)]);
        polytile_declaration *parsed = nullptr;
        const polytile_status status = pti_declaration_parse(ctx, text.c_str(), &parsed);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_DECLARATION) << text;
        EXPECT_EQ(parsed != nullptr, status == POLYTILE_OK) << text;
        const std::string error = polytile_last_error(ctx);
        EXPECT_TRUE(status == POLYTILE_OK || error.back() == '^') << error;
        pti_declaration_free(parsed);
    }
    polytile_context_destroy(ctx);
}

TEST(ParseRandom, MutatedDeclarationsBecomeKernelsOrAreRefused) {
    Random random(test_seed("ParseRandom.MutatedDeclarationsBecomeKernelsOrAreRefused"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    int64_t n_kernels = 0;
    for (int64_t round = scaled(20000); round > 0; round--) {
        const std::string text =
            mutate(&random, seeds[random.number(0, static_cast<int64_t>(std::size(seeds)) - 1)]);
        polytile_kernel *kernel = nullptr;
        const polytile_status status = polytile_kernel_create(ctx, text.c_str(), nullptr, &kernel);
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_DECLARATION ||
                    status == POLYTILE_UNSUPPORTED)
            << text << "\n"
            << polytile_last_error(ctx);
        n_kernels += status == POLYTILE_OK;
        polytile_kernel_destroy(kernel);
    }
    EXPECT_GE(n_kernels, least_count(scaled(20000), 0.04));
    polytile_context_destroy(ctx);
}

TEST(ParseRandom, NoiseIsRefused) {
    Random random(test_seed("ParseRandom.NoiseIsRefused"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int64_t round = scaled(20000); round > 0; round--) {
        std::string text;
        for (int64_t n = random.number(0, 60); n > 0; n--)
            text += static_cast<char>(random.number(1, 255));
        polytile_declaration *parsed = nullptr;
        EXPECT_EQ(pti_declaration_parse(ctx, text.c_str(), &parsed), POLYTILE_DECLARATION) << text;
    }
    polytile_context_destroy(ctx);
}

} // namespace
