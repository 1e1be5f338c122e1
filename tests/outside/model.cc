#include "outside/model.h"

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

const char *type_name(polytile_scalar type) {
    return types[type].name;
}

int64_t type_bytes(polytile_scalar type) {
    return types[type].bytes;
}

const char *role_name(polytile_role role) {
    return roles[role];
}

bool is_reducing(polytile_role role) {
    return role >= POLYTILE_SUM;
}

bool is_reading(polytile_role role) {
    return role == POLYTILE_IN || role == POLYTILE_INOUT;
}

bool is_storing(polytile_role role) {
    return role == POLYTILE_OUT || role == POLYTILE_INOUT;
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

bool is_named(const Kernel &kernel, size_t parameter) {
    for (const Access &access : kernel.accesses)
        for (const Subscript &subscript : access.subscripts)
            if ((!subscript.from_first && subscript.lo.parameter[parameter]) ||
                (!subscript.is_single && !subscript.to_last && subscript.hi.parameter[parameter]))
                return true;
    return false;
}

std::string operand_name(int operand) {
    return std::string(1, static_cast<char>('A' + operand));
}

int64_t position(const Box &box, const int64_t *index) {
    int64_t at = 0;
    for (size_t d = 0; d < box.size(); d++)
        at = at * box[d].count() + (index[d] - box[d].lo);
    return at;
}

} // namespace outside
