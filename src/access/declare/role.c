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

bool pti_role_writes(polytile_role role) {
    return role != POLYTILE_IN;
}
