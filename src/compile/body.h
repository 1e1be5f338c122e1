#ifndef POLYTILE_COMPILE_BODY_H
#define POLYTILE_COMPILE_BODY_H

#include "compile/token.h"

/* The rules of bodies that need no compiler. */

/**
 * Check that a text can be a body of a declaration: its brackets match, elements have as many
 * subscripts as declared, none is assigned that is only read, and elements of reducing roles are
 * only combined into.
 *
 * Errors  DECLARATION (the text shows the place), NO_MEMORY.
 */
polytile_status pti_body_check(polytile_context *ctx, const polytile_declaration *declaration,
                               const char *text);

/** Record an error at a place of a body. Returns DECLARATION. */
polytile_status pti_body_fail(polytile_context *ctx, const polytile_declaration *declaration,
                              const char *text, size_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
