#ifndef POLYTILE_ACCESS_DECLARE_PARAMETER_BODY_H
#define POLYTILE_ACCESS_DECLARE_PARAMETER_BODY_H

#include "access/declare/parameter.h"

/** Return whether a name, perhaps NULL, is one of a declaration; names are short. */
static inline bool pti_is_same_name(const char *name, const char *declared) {
    size_t k = 0;
    if (name == NULL)
        return false;
    while (name[k] == declared[k]) {
        if (name[k++] == '\0')
            return true;
    }
    return false;
}

/** Return the position of a parameter among a declaration's, or -1; guess: where it probably is. */
int pti_find_parameter(const polytile_declaration *declaration, const char *name, int guess);

/** Return which of the declaration's parameters a body takes as its k-th, after the one before; a
 * nameless one is the next in the declaration. -1: none. */
int pti_body_parameter_position(const polytile_declaration *declaration,
                                const polytile_implementation *implementation, int k, int before);

#endif
