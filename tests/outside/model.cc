#include "outside/model.h"

#include "outside/text.h"

#include <algorithm>

namespace outside {

namespace {

struct Type {
    const char *name;
    int64_t bytes;
};

#define TYPE(name, text, bytes) {text, bytes},
const Type types[] = {POLYTILE_TYPES(TYPE)};

#define ROLE(name, text) text,
const char *const roles[] = {POLYTILE_ROLES(ROLE)};

} // namespace

std::string type_name(polytile_type type) {
    return is_indexed(type) ? type_name(value_type(type)) + "_i64" : types[type].name;
}

int64_t type_bytes(polytile_type type) {
    return is_indexed(type) ? 16 : types[type].bytes;
}

const char *role_name(polytile_role role) {
    return roles[role];
}

bool is_reducing(polytile_role role) {
    return role >= POLYTILE_SUM && role < POLYTILE_SCRATCH;
}

bool is_reading(polytile_role role) {
    return role == POLYTILE_IN || role == POLYTILE_INOUT;
}

bool is_storing(polytile_role role) {
    return role == POLYTILE_OUT || role == POLYTILE_INOUT;
}

bool suits(polytile_role role, polytile_type type) {
    const bool has_index = role == POLYTILE_ARGMIN || role == POLYTILE_ARGMAX;
    const bool has_order = type != POLYTILE_C64 && type != POLYTILE_C128;
    return !is_reducing(role) || (has_index == is_indexed(type) &&
                                  (has_order || role == POLYTILE_SUM || role == POLYTILE_PROD));
}

int64_t count(const Box &box) {
    int64_t n = 1;
    for (const Range &range : box)
        n *= range.count();
    return n;
}

polytile_domain to_domain(const Box &box) {
    polytile_domain domain = {};
    domain.n_dims = static_cast<int>(box.size());
    for (size_t d = 0; d < box.size(); d++)
        domain.range[d] = {box[d].lo, box[d].hi, 1};
    return domain;
}

bool is_written(const Kernel &kernel, int operand) {
    for (const Access &access : kernel.accesses)
        if (access.operand == operand && access.role != POLYTILE_IN)
            return true;
    return false;
}

bool has_look_up(const Subscript &subscript) {
    return !subscript.lo_of.empty() || !subscript.hi_of.empty();
}

size_t n_members(const Program &program) {
    return program.devices.size() * static_cast<size_t>(program.n_ranks);
}

bool has_look_ups(const Kernel &kernel) {
    for (const Access &access : kernel.accesses)
        if (std::any_of(access.subscripts.begin(), access.subscripts.end(), has_look_up))
            return true;
    return false;
}

bool is_named(const Kernel &kernel, size_t parameter) {
    for (const Access &access : kernel.accesses)
        for (const Subscript &subscript : access.subscripts)
            if ((!subscript.from_first && subscript.lo.parameter[parameter]) ||
                (!subscript.is_single && !subscript.to_last && subscript.hi.parameter[parameter]))
                return true;
    return false;
}

bool is_mentioned(const Kernel &kernel, size_t parameter) {
    for (const Access &access : kernel.accesses)
        for (const Subscript &subscript : access.subscripts)
            if (subscript.lo.parameter[parameter] || subscript.hi.parameter[parameter])
                return true;
    return false;
}

std::vector<int> declared_parameters(const Kernel &kernel) {
    std::vector<int> order;
    const auto n = static_cast<int>(kernel.parameters.size());
    for (int k = 0; k < n; k++)
        if (kernel.is_built || kernel.parameters[static_cast<size_t>(k)].is_listed)
            order.push_back(k);
    if (kernel.is_built)
        return order;
    for (const std::string &name : names_in(declaration_text(kernel)))
        for (int k = 0; k < n; k++)
            if (kernel.parameters[static_cast<size_t>(k)].name == name &&
                std::find(order.begin(), order.end(), k) == order.end())
                order.push_back(k);
    return order;
}

std::vector<int> taken_parameters(const Kernel &kernel) {
    return kernel.names_taken ? kernel.taken : declared_parameters(kernel);
}

bool takes(const Kernel &kernel, size_t parameter) {
    const std::vector<int> &taken = kernel.taken;
    return !kernel.names_taken ||
           std::find(taken.begin(), taken.end(), static_cast<int>(parameter)) != taken.end();
}

/** What the first versions of index arrays hold. */
static Look first_versions(const Kernel &kernel) {
    return [&kernel](int operand, const int64_t *index) {
        const Shape &shape = kernel.operands[static_cast<size_t>(operand)];
        return shape.versions[0][static_cast<size_t>(position(shape.box, index))];
    };
}

Values to_values(const Kernel &kernel, const std::vector<uint64_t> &raw) {
    Values values;
    values.look = first_versions(kernel);
    for (size_t k = 0; k < kernel.parameters.size(); k++) {
        const Parameter &parameter = kernel.parameters[k];
        const bool is_known = takes(kernel, k);
        values.subscripts.push_back(!is_integer(parameter.type) ? 0
                                    : is_known                  ? to_integer(parameter.type, raw[k])
                                                                : parameter.value);
        if (is_known)
            values.mixed = mix(values.mixed + k, canonical(parameter.type, raw[k]));
    }
    return values;
}

Values drawn_values(const Kernel &kernel) {
    Values values;
    values.look = first_versions(kernel);
    for (const Parameter &parameter : kernel.parameters)
        values.subscripts.push_back(parameter.value);
    return values;
}

Values launch_values(const Kernel &kernel, const std::vector<Number> &numbers) {
    std::vector<uint64_t> raw(numbers.size());
    for (size_t k = 0; k < numbers.size(); k++)
        convert(kernel.parameters[k].type, numbers[k], raw[k]);
    return to_values(kernel, raw);
}

std::string operand_name(int operand) {
    return std::string(1, static_cast<char>('A' + operand));
}

int64_t position(const Box &box, const int64_t *index) {
    uint64_t at = 0;
    for (size_t d = 0; d < box.size(); d++)
        at = at * static_cast<uint64_t>(box[d].count()) +
             static_cast<uint64_t>(index[d] - box[d].lo);
    return static_cast<int64_t>(at);
}

} // namespace outside
