#ifndef POLYTILE_COMPILE_BODY_EDGES_H
#define POLYTILE_COMPILE_BODY_EDGES_H

#include "compile/token.h"

/**
 * Append a body in which subscripts with edges are macros: A(wrap(i-1), j) is
 * A(PT_WRAP(A, 0, i-1), j).
 *
 * Lines stay lines. A declared array called wrap or clamp is that array. text: checked. What memory
 * does not suffice for marks *expanded as failed.
 */
void pti_body_add_expanded(pti_text *expanded, const polytile_declaration *declaration,
                           const char *text);

#endif
