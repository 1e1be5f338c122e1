#include "outside/mistakes.h"

#include "outside/draw.h"
#include "outside/text.h"

#include <polytile/polytile.h>

#include <algorithm>
#include <cstring>

namespace outside {

namespace {

const char *const words[] = {"[",
                             "]",
                             ":",
                             ";",
                             ",",
                             "(",
                             ")",
                             "{",
                             "}",
                             "->",
                             "*",
                             "+",
                             "-",
                             "/",
                             "^",
                             "::",
                             " and ",
                             " or ",
                             "exists ",
                             "mod 2",
                             "% 3",
                             "!=",
                             "<=",
                             "in ",
                             "out ",
                             "inout ",
                             "sum ",
                             "out sum ",
                             "i",
                             "j",
                             "p",
                             "A",
                             "B",
                             "0",
                             "1",
                             "-1",
                             "2i",
                             "-2i",
                             "9223372036854775807",
                             "9223372036854775808",
                             "-9223372036854775808",
                             "4611686018427387904*i",
                             "\n",
                             "\t",
                             " ",
                             "\x1b[31m",
                             "\xc3\xa9",
                             "\x7f",
                             "in A[i]; ",
                             "out B[{",
                             "{[i] -> A[i]}",
                             "A[i][j]",
                             "A[B[i]]",
                             "A[]",
                             "[]",
                             "scratch f32 w[i]; ",
                             "wrap(i-1)",
                             "(f32 a)",
                             "(i64 p, u8 q)",
                             "f16 ",
                             ", i8 i"};

size_t draw_place(Dice &dice, const std::string &text) {
    return static_cast<size_t>(dice.between(0, static_cast<int64_t>(text.size())));
}

std::string draw_word(Dice &dice) {
    const auto n = static_cast<int64_t>(sizeof words / sizeof *words);
    return words[dice.between(0, n - 1)];
}

std::string repeated(const std::string &part, int64_t times) {
    std::string text;
    for (int64_t k = 0; k < times; k++)
        text += part;
    return text;
}

/** Make one mistake. */
void spoil(Dice &dice, std::string &text) {
    const size_t at = draw_place(dice, text);
    const auto length = static_cast<size_t>(dice.between(1, dice.chance(80) ? 3 : 30));
    const std::string part = text.substr(at, length);
    switch (dice.weighted({25, 30, 15, 10, 10, 6, 4})) {
    case 0:
        text.erase(at, length);
        return;
    case 1:
        text.insert(at, draw_word(dice));
        return;
    case 2:
        text.replace(at, length, draw_word(dice));
        return;
    case 3:
        text.insert(draw_place(dice, text), part);
        return;
    case 4:
        text.insert(at, 1, static_cast<char>(dice.between(1, 255)));
        return;
    case 5:
        text.resize(at);
        return;
    default:
        text.insert(at, repeated(dice.chance(50) ? part : draw_word(dice), dice.between(2, 300)));
    }
}

/** A refusal has a sentence, and shows the place with a caret, without what a terminal obeys. */
std::string find_fault(polytile_status status, const std::string &text) {
    const bool is_known = status == POLYTILE_DECLARATION || status == POLYTILE_UNSUPPORTED ||
                          status == POLYTILE_OVERFLOW;
    if (!is_known)
        return std::string("unexpected: ") + polytile_status_text(status) + ": " + text;
    if (text.empty())
        return "no words";
    if (status == POLYTILE_DECLARATION && text.find('^') == std::string::npos)
        return "no caret: " + text;
    if (std::any_of(text.begin(), text.end(),
                    [](char c) { return c > 0 && c < ' ' && c != '\n' && c != '\t'; }))
        return "control characters: " + text;
    return "";
}

} // namespace

std::string draw_text(uint64_t seed) {
    Dice dice(mix(seed, 3));
    std::vector<Shape> shapes;
    for (int k = 0; k < 3; k++)
        shapes.push_back({POLYTILE_F32, draw_box(dice), {}, false});
    Verdict verdict;
    Kernel kernel = draw_kernel(dice, shapes, Fixed(), verdict);
    kernel.name = "k";
    std::string text = declaration_text(kernel);
    const std::string thread[] = {"[i]", "[i, j]", "[i, j, k]", "[i, j, k, l]"};
    if (dice.chance(30))
        text += "; in " + std::string(dice.chance(20) ? "[n] -> " : "") + "{" +
                thread[kernel.n_indices - 1] + " -> E[i, a] : " +
                dice.pick({"0 <= a <= i}", "exists b : a = 2*b + i and b >= 0}",
                           "i mod 2 = 1 or a > 3 and not_i != i}", "a < n && (i > 2 || a != 7)}"});
    for (int k = dice.weighted({1, 5, 4, 2, 1}); k > 0; k--)
        spoil(dice, text);
    return text.substr(0, text.find('\0'));
}

Outcome run_text(uint64_t seed) {
    Outcome outcome;
    polytile_context *ctx;
    polytile_kernel *kernel = nullptr;
    const std::string text = draw_text(seed);
    if (polytile_context_create(&ctx) != POLYTILE_OK) {
        outcome.failure = "call: polytile_context_create";
        return outcome;
    }
    const polytile_status status = polytile_kernel_create(ctx, text.c_str(), nullptr, &kernel);
    const std::string fault =
        status == POLYTILE_OK ? "" : find_fault(status, polytile_last_error(ctx));
    if (!fault.empty())
        outcome.failure = "text: " + fault;
    else if (status == POLYTILE_OK && (!kernel || polytile_kernel_get_n_arrays(kernel) < 1))
        outcome.failure = "text: a kernel without arrays";
    else if (status != POLYTILE_OK && kernel)
        outcome.failure = "text: refused, and yet there is a kernel";
    outcome.n_accepted = status == POLYTILE_OK;
    if (status != POLYTILE_OK)
        outcome.refusals.push_back(reason(status, polytile_last_error(ctx)));
    polytile_context_destroy(ctx);
    return outcome;
}

} // namespace outside
