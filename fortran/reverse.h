#ifndef POLYTILE_FORTRAN_REVERSE_H
#define POLYTILE_FORTRAN_REVERSE_H

#include <stddef.h>

/* Texts whose subscripts are in Fortran's order, the first one running fastest, in that of C. */

/** A declaration with each list in brackets reversed: "f[i, j]: in A[i-1:i+1, j]" becomes
 * "f[j, i]: in A[j, i-1:i+1]". What is no declaration stays wrong. The caller frees it; NULL: no
 * memory. */
char *polytile_fortran_reverse_declaration(const char *declaration);

/** A body in C with the subscripts of the declaration's arrays reversed, and their dimensions, which
 * count from 1: "B(i, j) = A(i-1, j) + PT_EXTENT(A, 1);" becomes
 * "B(j, i) = A(j, i-1) + PT_EXTENT(A, 1);", and PT_EXTENT(A, 2) PT_EXTENT(A, 0).
 * The caller frees it. NULL: no memory; or, and then why has a sentence, the body has something
 * behind which subscripts could be missed. why: of so many bytes. */
char *polytile_fortran_reverse_body(const char *body, const char *declaration, size_t why_bytes,
                                    char *why);

#endif
