/* The parameters of kernels, the values that launches give, and what is wrong with them. */
#include "outside/draw.h"

#include <algorithm>

namespace outside {

namespace {

struct Name {
    const char *text;
    bool is_word; /* of the grammar, so only a list can be told to declare it */
};

const Name names[] = {
    {"p", false},  {"q", false},
    {"r", false},  {"s", false},
    {"t", false},  {"n", false},
    {"m", false},  {"x", false},
    {"y", false},  {"u", false},
    {"v", false},  {"w", false},
    {"_", false},  {"n2", false},
    {"N", false},  {"alpha_is_a_name_that_is_as_long_as_the_grammar_lets_a_name_be__", false},
    {"f32", true}, {"i64", true},
    {"sum", true}, {"in", true},
    {"out", true}, {"inout", true}};

std::vector<Name> draw_names(Dice &dice) {
    std::vector<Name> drawn(std::begin(names), std::end(names));
    for (size_t k = drawn.size(); k > 1; k--)
        std::swap(drawn[k - 1],
                  drawn[static_cast<size_t>(dice.between(0, static_cast<int64_t>(k) - 1))]);
    return drawn;
}

polytile_type draw_type(Dice &dice) {
    return dice.chance(35) ? POLYTILE_I64
                           : static_cast<polytile_type>(dice.between(POLYTILE_I8, POLYTILE_BF16));
}

/** A small one, which the type can hold; of wide types now and then a large one. */
int64_t draw_value(Dice &dice, polytile_type type) {
    const int64_t bytes = type_bytes(type), small = dice.between(is_unsigned(type) ? 0 : -2, 12);
    if (bytes < 4 || !dice.chance(8))
        return small;
    return (int64_t{1} << (bytes == 4 ? 30 : 40)) + small;
}

Parameter draw_parameter(Dice &dice, const Name &name) {
    Parameter parameter;
    parameter.name = name.text;
    parameter.type = draw_type(dice);
    parameter.is_listed = parameter.type != POLYTILE_I64 || name.is_word || dice.chance(50);
    parameter.is_steady = dice.chance(30);
    parameter.value = is_integer(parameter.type) ? draw_value(dice, parameter.type) : 0;
    return parameter;
}

/** Replace a part of a constant by a multiple of a parameter that has an integer type. */
void replace_constant(Dice &dice, const Kernel &kernel, size_t n_in_subscripts, Affine &affine) {
    const auto k = static_cast<size_t>(dice.between(0, static_cast<int64_t>(n_in_subscripts) - 1));
    if (!is_integer(kernel.parameters[k].type))
        return;
    const int64_t factor = dice.pick<int64_t>({1, 1, 1, -1, 2});
    affine.parameter[k] += factor;
    affine.constant -= factor * kernel.parameters[k].value;
}

/** The body takes what subscripts need that differs from launch to launch, and some more. */
void draw_taken(Dice &dice, Kernel &kernel) {
    kernel.names_taken = dice.chance(45);
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        if ((is_mentioned(kernel, k) && !kernel.parameters[k].is_steady) || dice.chance(60))
            kernel.taken.insert(kernel.taken.begin() +
                                    dice.between(0, static_cast<int64_t>(kernel.taken.size())),
                                static_cast<int>(k));
}

bool has_mentioned(const Kernel &kernel) {
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        if (is_named(kernel, k))
            return true;
    return false;
}

Flaw draw_flaw(Dice &dice, const Kernel &kernel) {
    return dice.pick({Flaw::one_more, Flaw::twice, Flaw::as_index, Flaw::as_array,
                      has_mentioned(kernel) ? Flaw::real_in_subscript : Flaw::one_more,
                      kernel.names_taken && !kernel.taken.empty() ? Flaw::body_type : Flaw::twice,
                      kernel.names_taken ? Flaw::body_name : Flaw::as_index});
}

/** The value with which the kernel was drawn, or one beside it. */
int64_t draw_beside(Dice &dice, const Parameter &parameter) {
    if (parameter.is_steady || !dice.chance(20))
        return parameter.value;
    const int64_t value = parameter.value + dice.between(-2, 2);
    return is_unsigned(parameter.type) ? std::max<int64_t>(0, value) : value;
}

/** Give subscripts the values with which the kernel was drawn. */
void reset_values(const Kernel &kernel, std::vector<Number> &values) {
    for (size_t k = 0; k < values.size(); k++)
        if (is_mentioned(kernel, k))
            values[k] = signed_number(kernel.parameters[k].value);
}

bool are_drawn(const Kernel &kernel, const std::vector<Number> &values) {
    const Integers given = launch_values(kernel, values).subscripts;
    for (size_t k = 0; k < given.size(); k++)
        if (is_mentioned(kernel, k) && given[k] != kernel.parameters[k].value)
            return false;
    return true;
}

uint64_t raw_value(const Kernel &kernel, const Launch &launch, size_t parameter) {
    uint64_t raw = 0;
    convert(kernel.parameters[parameter].type, launch.values[parameter], raw);
    return raw;
}

/** Whether this can be wrong with a call of that kind. */
bool fits(Dice &dice, const Kernel &kernel, Step &step) {
    Launch &launch = step.launch;
    const size_t k = launch.mistaken;
    const bool is_plan = step.act == Act::plan_run;
    switch (launch.mistake) {
    case Mistake::left_out:
        return is_plan ? !is_mentioned(kernel, k) : step.act != Act::check || is_named(kernel, k);
    case Mistake::beyond:
        return draw_number(dice, kernel.parameters[k].type, true, launch.wrong);
    default:
        return true;
    }
}

/** What only a run of a plan can do wrong, and seldom can. */
bool draw_other_value(Dice &dice, const Kernel &kernel, Step &step) {
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        if (step.act == Act::plan_run && is_named(kernel, k) && dice.chance(60)) {
            step.launch.mistake = Mistake::other_value;
            step.launch.mistaken = k;
            step.launch.wrong = signed_number(
                to_integer(kernel.parameters[k].type, raw_value(kernel, step.launch, k)) ? 0 : 1);
            return true;
        }
    return false;
}

} // namespace

void draw_parameters(Dice &dice, Kernel &kernel) {
    const std::vector<Name> drawn = draw_names(dice);
    const int64_t n = dice.pick<int64_t>({0, 0, 0, 0, 1, 1, 2, 2, 3, dice.between(4, 15), 16});
    for (int64_t k = 0; k < n; k++)
        kernel.parameters.push_back(draw_parameter(dice, drawn[static_cast<size_t>(k)]));
    if (n == 0)
        return;
    const auto n_in_subscripts = static_cast<size_t>(dice.between(1, n));
    const int percent = dice.chance(70) ? 30 : 0;
    for (Access &access : kernel.accesses)
        for (Subscript &subscript : access.subscripts)
            for (Affine *affine : {&subscript.lo, &subscript.hi})
                if (access.role != POLYTILE_SCRATCH && dice.chance(percent))
                    replace_constant(dice, kernel, n_in_subscripts, *affine);
    list_unnamed(kernel);
    draw_taken(dice, kernel);
    if (dice.chance(5))
        kernel.flaw = draw_flaw(dice, kernel);
}

void list_unnamed(Kernel &kernel) {
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        kernel.parameters[k].is_listed |= !is_named(kernel, k);
}

std::vector<Number> draw_values(Dice &dice, const Kernel &kernel, const Box &domain,
                                const std::vector<Number> &before) {
    std::vector<Number> values;
    for (size_t k = 0; k < kernel.parameters.size(); k++) {
        const Parameter &parameter = kernel.parameters[k];
        Number number;
        if (is_mentioned(kernel, k))
            number = draw_integer_number(dice, draw_beside(dice, parameter));
        else if (!before.empty() && dice.chance(40))
            number = before[k];
        else
            draw_number(dice, parameter.type, false, number);
        values.push_back(number);
    }
    if (are_drawn(kernel, values))
        return values;
    const Verdict verdict = judge(kernel, launch_values(kernel, values), domain);
    const bool is_told = !verdict.is_unclear && !verdict.may_be_refused();
    if (!is_told || (!verdict.is_right() && dice.chance(90)))
        reset_values(kernel, values);
    return values;
}

void draw_mistake(Dice &dice, const Kernel &kernel, Step &step) {
    Launch &launch = step.launch;
    const std::vector<int> declared = declared_parameters(kernel);
    if (!dice.chance(6))
        return;
    if (declared.empty()) {
        launch.mistake = dice.chance(40) ? Mistake::unknown : Mistake::none;
        return;
    }
    if (draw_other_value(dice, kernel, step))
        return;
    launch.mistake = static_cast<Mistake>(
        dice.between(static_cast<int>(Mistake::left_out), static_cast<int>(Mistake::beyond)));
    launch.mistaken = static_cast<size_t>(dice.pick(declared));
    if (!fits(dice, kernel, step))
        launch.mistake = Mistake::none;
}

} // namespace outside
