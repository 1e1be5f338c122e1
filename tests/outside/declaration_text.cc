#include "outside/dice.h"
#include "outside/text.h"

#include <algorithm>
#include <cstdlib>

namespace outside {

namespace {

const char *const index_names[] = {"i", "j", "k", "l"};

/** Writes one declaration; what is a matter of taste is drawn. */
class Writer {
  public:
    explicit Writer(const Kernel &drawn) : kernel(drawn), dice(mix(drawn.style, 7)) {
        is_wide = dice.chance(30);
    }

    std::string declaration();

  private:
    const Kernel &kernel;
    Dice dice;
    bool is_wide;

    const char *space() const { return is_wide ? " " : ""; }
    std::string product(int64_t factor, const char *name, bool is_behind_sign);
    std::string affine(const Affine &value);
    std::string end(const Affine &value, const std::vector<LookUp> &of);
    std::string range(const Subscript &value);
    std::string subscript(const Subscript &value);
    std::string subscripts(const std::vector<Subscript> &list);
    std::string section(const Access &access);
    std::string tuple() const;
    std::string parameters();
    std::string condition(const Subscript &value, const std::string &place);
    std::string relation(const Access &access);
    std::string role(const Access &access) const;
    bool joins(const Access &access, const Access &before);
};

/** A positive multiple of a name, or of 1 where the name is NULL. */
std::string Writer::product(int64_t factor, const char *name, bool is_behind_sign) {
    const std::string number = std::to_string(factor);
    if (!name)
        return number;
    if (factor == 1)
        return name;
    switch (dice.weighted({60, 20, is_behind_sign ? 1 : 20})) {
    case 0:
        return number + "*" + name;
    case 1:
        return std::string(name) + space() + "*" + space() + number;
    default:
        return number + name;
    }
}

std::string Writer::affine(const Affine &value) {
    std::vector<std::pair<int64_t, const char *>> terms;
    for (size_t k = 0; k < MAX_INDICES; k++)
        if (value.index[k])
            terms.emplace_back(value.index[k], index_names[k]);
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        if (k < MAX_PARAMETERS && value.parameter[k])
            terms.emplace_back(value.parameter[k], kernel.parameters[k].name.c_str());
    if (value.constant || terms.empty())
        terms.emplace(dice.chance(20) ? terms.begin() : terms.end(), value.constant, nullptr);
    std::string text;
    for (const auto &term : terms) {
        if (term.first < 0)
            text += text.empty() ? "-" : std::string(space()) + "-" + space();
        else if (!text.empty())
            text += std::string(space()) + "+" + space();
        const bool is_first = text.empty() || text == "-";
        text += product(std::abs(term.first), term.second, is_first && term.first < 0);
    }
    return dice.chance(3) ? "(" + text + ")" : text;
}

bool is_zero(const Affine &value) {
    return !value.constant &&
           std::none_of(value.index.begin(), value.index.end(), [](int64_t k) { return k != 0; }) &&
           std::none_of(value.parameter.begin(), value.parameter.end(),
                        [](int64_t k) { return k != 0; });
}

/** An end, which may add an element of an index array. */
std::string Writer::end(const Affine &value, const std::vector<LookUp> &of) {
    if (of.empty())
        return affine(value);
    const std::string element =
        operand_name(of[0].operand) + "[" + subscripts(of[0].subscripts) + "]";
    if (is_zero(value))
        return element;
    const std::string rest = affine(value);
    if (dice.chance(30))
        return rest + space() + "+" + space() + element;
    return element + space() + (rest[0] == '-' ? "" : "+") + rest;
}

std::string Writer::range(const Subscript &value) {
    if (value.is_single)
        return end(value.lo, value.lo_of);
    std::string text = value.from_first ? "" : end(value.lo, value.lo_of);
    text += is_wide ? " : " : ":";
    text += value.to_last ? "" : end(value.hi, value.hi_of);
    if (has_look_up(value))
        return text;
    return value.step == 1 && !dice.chance(5) ? text : text + ":" + std::to_string(value.step);
}

std::string Writer::subscript(const Subscript &value) {
    if (value.edge == POLYTILE_EDGE_CLIP)
        return range(value);
    return std::string(value.edge == POLYTILE_EDGE_WRAP ? "wrap" : "clamp") +
           (dice.chance(20) ? " " : "") + "(" + range(value) + ")";
}

std::string Writer::subscripts(const std::vector<Subscript> &list) {
    std::string text;
    for (size_t d = 0; d < list.size(); d++)
        text += (d ? is_wide ? ", " : "," : "") + subscript(list[d]);
    return text;
}

std::string Writer::tuple() const {
    std::string text = "[";
    for (int k = 0; k < kernel.n_indices; k++)
        text += std::string(k ? ", " : "") + index_names[k];
    return text + "]";
}

/** The list in parentheses, which may be missing. */
std::string Writer::parameters() {
    std::string text;
    for (const Parameter &parameter : kernel.parameters)
        if (parameter.is_listed)
            text += (text.empty()      ? "("
                     : dice.chance(20) ? " ,\n "
                                       : ", ") +
                    std::string(type_name(parameter.type)) + " " + parameter.name;
    return text.empty() ? text : space() + text + ")";
}

/** What is true of one place of an element's tuple; sections with ends left out have none. */
std::string Writer::condition(const Subscript &value, const std::string &place) {
    if (value.is_single)
        return place + " = " + affine(value.lo);
    const std::string lo = affine(value.lo), hi = affine(value.hi);
    const std::string bounds = dice.chance(60) ? lo + " <= " + place + " <= " + hi
                                               : place + " <= " + hi + " && " + place + " >= " + lo;
    const std::string step = std::to_string(value.step);
    if (value.step == 1)
        return bounds;
    if (dice.chance(50))
        return bounds + " and (" + place + " - (" + lo + ")) mod " + step + " = 0";
    return bounds + " and exists (e : " + place + " = " + step + "*e + " + lo + ")";
}

/** In a tuple, a parameter's name alone would stand for the place. */
bool has_parameter(const Affine &value) {
    return std::any_of(value.parameter.begin(), value.parameter.end(),
                       [](int64_t factor) { return factor != 0; });
}

std::string Writer::relation(const Access &access) {
    static const char *const places[] = {"a", "b", "c", "d"};
    std::string element, conditions;
    for (size_t d = 0; d < access.subscripts.size(); d++) {
        const Subscript &subscript = access.subscripts[d];
        const bool is_direct =
            subscript.is_single && !has_parameter(subscript.lo) && dice.chance(50);
        element += (d ? ", " : "") + (is_direct ? affine(subscript.lo) : places[d]);
        if (!is_direct)
            conditions += (conditions.empty() ? " : " : " and ") + condition(subscript, places[d]);
    }
    return "{" + tuple() + " -> " + operand_name(access.operand) + "[" + element + "]" +
           conditions + "}";
}

std::string Writer::section(const Access &access) {
    if (access.is_relation)
        return relation(access);
    const std::string type =
        access.role == POLYTILE_SCRATCH
            ? type_name(kernel.operands[static_cast<size_t>(access.operand)].type) + " "
            : "";
    return type + operand_name(access.operand) + "[" + subscripts(access.subscripts) + "]";
}

std::string Writer::role(const Access &access) const {
    return std::string(access.is_fresh ? "out " : "") + role_name(access.role) + " ";
}

bool Writer::joins(const Access &access, const Access &before) {
    return access.role == before.role && access.is_fresh == before.is_fresh && dice.chance(80);
}

std::string Writer::declaration() {
    std::string text = kernel.name + tuple() + parameters() + ": ";
    for (size_t k = 0; k < kernel.accesses.size(); k++) {
        const Access &access = kernel.accesses[k];
        if (k && joins(access, kernel.accesses[k - 1]))
            text += ", ";
        else
            text += (k ? "; " : "") + role(access);
        text += section(access);
    }
    return text;
}

} // namespace

std::string declaration_text(const Kernel &kernel) {
    return Writer(kernel).declaration();
}

} // namespace outside
