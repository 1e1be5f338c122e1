#ifndef POLYTILE_ACCESS_DECLARE_ACCESS_TEXT_H
#define POLYTILE_ACCESS_DECLARE_ACCESS_TEXT_H

#include "access/declare/declaration.h"
#include "base/text.h"

/* How errors and other texts write accesses, points and domains. */

/** "[1, 2]" */
void pti_point_write(pti_text *text, const int64_t *point, int n_dims);

/** "[0:63, 0:255]" */
void pti_domain_write(pti_text *text, const polytile_domain *domain);

/** Write one access as it could be declared: "in A[i-1:i+1, j]"; braces by the section around them.
 */
void pti_access_write(pti_text *text, const polytile_declaration *declaration,
                      const pti_access *access);

/** The same with braces as a relation: "in {[i] -> A[e0] : e0-2*i >= 0}". */
void pti_access_write_declared(pti_text *text, const polytile_declaration *declaration,
                               const pti_access *access);

/** An access as it was declared, in braces only where no section says the same. */
void pti_access_write_exactly(pti_text *text, const polytile_declaration *declaration,
                              const pti_access *access);

#endif
