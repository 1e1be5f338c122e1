#include "outside/given.h"

#include <algorithm>
#include <limits>

namespace outside {

namespace {

template <class T> bool holds(int64_t value) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

polytile_parameter from_signed(Dice &dice, const char *name, int64_t value) {
    if (holds<int8_t>(value) && dice.chance(20))
        return POLYTILE_PARAMETER(name, static_cast<int8_t>(value));
    if (holds<int>(value) && dice.chance(40))
        return POLYTILE_PARAMETER(name, static_cast<int>(value));
    return POLYTILE_PARAMETER(name, value);
}

polytile_parameter from_unsigned(Dice &dice, const char *name, uint64_t value) {
    if (value <= std::numeric_limits<uint16_t>::max() && dice.chance(20))
        return POLYTILE_PARAMETER(name, static_cast<uint16_t>(value));
    if (value <= std::numeric_limits<uint32_t>::max() && dice.chance(40))
        return POLYTILE_PARAMETER(name, static_cast<uint32_t>(value));
    return POLYTILE_PARAMETER(name, value);
}

polytile_parameter from_real(Dice &dice, const char *name, double value) {
    const auto narrow = static_cast<float>(value);
    const bool is_float =
        !(static_cast<double>(narrow) < value) && !(static_cast<double>(narrow) > value);
    if (is_float && dice.chance(40))
        return POLYTILE_PARAMETER(name, narrow);
    return dice.chance(20) ? POLYTILE_PARAMETER(name, static_cast<long double>(value))
                           : POLYTILE_PARAMETER(name, value);
}

/** The member that does not count holds something. */
polytile_parameter to_parameter(Dice &dice, const char *name, const Number &number) {
    switch (number.kind) {
    case POLYTILE_ANY_NUMBER:
        return {name, static_cast<int64_t>(number.bits), 0.5, POLYTILE_ANY_NUMBER};
    case POLYTILE_SIGNED_NUMBER:
        return from_signed(dice, name, static_cast<int64_t>(number.bits));
    case POLYTILE_UNSIGNED_NUMBER:
        return from_unsigned(dice, name, number.bits);
    default:
        return from_real(dice, name, to_real(number));
    }
}

} // namespace

Given::Given(const Kernel &called, const std::vector<Number> &values, uint64_t seed, Leave leave)
    : kernel(called), dice(seed) {
    for (int declared : declared_parameters(kernel)) {
        const auto k = static_cast<size_t>(declared);
        if (is_left(leave, k))
            continue;
        const auto at = static_cast<size_t>(dice.between(0, static_cast<int64_t>(list.size())));
        numbers.insert(numbers.begin() + static_cast<int64_t>(at), k);
        add(kernel.parameters[k].name, values[k], at);
    }
}

bool Given::is_left(Leave leave, size_t parameter) {
    const bool is_free = leave == Leave::bodies       ? !is_mentioned(kernel, parameter)
                         : leave == Leave::subscripts ? is_named(kernel, parameter)
                                                      : false;
    return is_free && dice.chance(50);
}

void Given::add(const std::string &name, const Number &number, size_t at) {
    names.push_back(name);
    list.insert(list.begin() + static_cast<int64_t>(at),
                to_parameter(dice, names.back().c_str(), number));
}

/** One that the declaration has not, or has for something else. */
std::string Given::unknown_name() {
    const std::vector<int> declared = declared_parameters(kernel);
    for (;;) {
        std::string name = dice.pick<const char *>({"nothing", "i", "A", "p", "n", "P", "f64"});
        if (!kernel.parameters.empty() && dice.chance(40))
            name = dice.pick(kernel.parameters).name + "_";
        if (std::none_of(declared.begin(), declared.end(), [&](int k) {
                return kernel.parameters[static_cast<size_t>(k)].name == name;
            }))
            return name;
    }
}

/** One, or so many that there are more than a declaration can have. */
std::vector<std::string> Given::add_unknown() {
    std::vector<std::string> added;
    for (int64_t k = dice.chance(70) ? 1 : dice.between(17, 60); k > 0; k--) {
        added.push_back(unknown_name());
        add(added.back(), signed_number(k),
            static_cast<size_t>(dice.between(0, static_cast<int64_t>(list.size()))));
    }
    return added;
}

std::vector<std::string> Given::spoil(const Launch &launch) {
    if (launch.mistake == Mistake::unknown)
        return add_unknown();
    const std::string name = kernel.parameters[launch.mistaken].name;
    const auto found = std::find(numbers.begin(), numbers.end(), launch.mistaken);
    const auto at = static_cast<size_t>(found - numbers.begin());
    const bool is_there = found != numbers.end();
    if (launch.mistake == Mistake::twice) {
        add(name, launch.values[launch.mistaken], 0);
        if (!is_there)
            add(name, launch.values[launch.mistaken], list.size());
        return {name};
    }
    if (is_there)
        list.erase(list.begin() + static_cast<int64_t>(at));
    if (launch.mistake == Mistake::renamed) {
        const std::string other = unknown_name();
        add(other, launch.values[launch.mistaken], 0);
        return {name, other};
    }
    if (launch.mistake != Mistake::left_out)
        add(name, launch.wrong, 0);
    return {name};
}

void Given::put_into(polytile_launch_options &options) const {
    options.n_parameters = static_cast<int>(list.size());
    options.parameters = list.empty() ? nullptr : list.data();
}

void Given::overwrite() {
    for (std::string &name : names)
        std::fill(name.begin(), name.end(), '#');
    for (polytile_parameter &parameter : list)
        parameter = {nullptr, 77, 77.5, POLYTILE_UNSIGNED_NUMBER};
}

} // namespace outside
