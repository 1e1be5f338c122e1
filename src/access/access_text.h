#ifndef POLYTILE_ACCESS_ACCESS_TEXT_H
#define POLYTILE_ACCESS_ACCESS_TEXT_H

#include "access/declaration.h"
#include "base/text.h"

/** Write one access as it could be declared: "in A[i-1:i+1, j]"; braces by the section around them.
 */
void pti_access_write(pti_text *text, const polytile_declaration *declaration,
                      const pti_access *access);

/** The same with braces as a relation: "in {[i] -> A[e0] : e0-2*i >= 0}". */
void pti_access_write_declared(pti_text *text, const polytile_declaration *declaration,
                               const pti_access *access);

#endif
