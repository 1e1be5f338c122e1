#ifndef POLYTILE_ACCESS_DECLARE_ACCESS_TEXT_H
#define POLYTILE_ACCESS_DECLARE_ACCESS_TEXT_H

#include "access/declare/declaration.h"
#include "base/text.h"

/* Accesses, points and domains as text. */

/** Write "[1, 2]". */
void pti_point_write(pti_text *text, const int64_t *point, int n_dims);

/** Write "[0:63, 0:255]". */
void pti_domain_write(pti_text *text, const polytile_domain *domain);

/** Write an access as it could be declared, "in A[i-1:i+1, j]"; of braces, the section around
 * them. */
void pti_access_write(pti_text *text, const polytile_declaration *declaration,
                      const pti_access *access);

/** Write an access, braces as a relation: "in {[i] -> A[e0] : e0-2*i >= 0}". */
void pti_access_write_declared(pti_text *text, const polytile_declaration *declaration,
                               const pti_access *access);

/** Write an access as it was declared, in braces only if no section says the same. */
void pti_access_write_exactly(pti_text *text, const polytile_declaration *declaration,
                              const pti_access *access);

#endif
