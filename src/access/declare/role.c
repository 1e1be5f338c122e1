#include "access/array/type.h"
#include "access/declare/declaration.h"

static const char *const role_words[] = {
#define ROLE_WORD(name, text) text,
    POLYTILE_ROLES(ROLE_WORD)
#undef ROLE_WORD
};

enum { N_ROLES = sizeof role_words / sizeof *role_words };

bool pti_role_is_known(polytile_role role) {
    return (int)role >= 0 && (int)role < N_ROLES;
}

const char *pti_role_word(polytile_role role) {
    return (int)role >= 0 && (int)role < N_ROLES ? role_words[role] : "?";
}

bool pti_role_reduces(polytile_role role) {
    return role >= POLYTILE_SUM && role <= POLYTILE_ARGMAX;
}

const char *pti_role_lacks(polytile_role role, polytile_type type) {
    const bool takes_index = role == POLYTILE_ARGMIN || role == POLYTILE_ARGMAX;
    const bool has_index = pti_type_indexed(type) >= 0;
    const bool needs_order = role == POLYTILE_MIN || role == POLYTILE_MAX;
    if (takes_index && !has_index)
        return "argmin and argmax find a value and its index: give elements of both, such as "
               "f32_i64, POLYTILE_INDEXED(POLYTILE_F32)";
    if (has_index && !takes_index)
        return "a value with an index takes argmin and argmax: give elements of one number, or "
               "another role";
    if (needs_order && pti_type_part(type) >= 0)
        return "complex numbers have no order: reduce their magnitudes, in an array of f32 or f64, "
               "or declare sum or prod";
    return NULL;
}

bool pti_role_writes(polytile_role role) {
    return role != POLYTILE_IN;
}
