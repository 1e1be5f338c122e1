#ifndef POLYTILE_FORTRAN_REVERSE_H
#define POLYTILE_FORTRAN_REVERSE_H

/* Texts whose subscripts are in Fortran's order, the first one running fastest, in that of C. */

/** A declaration with each list in brackets reversed: "f[i, j]: in A[i-1:i+1, j]" becomes
 * "f[j, i]: in A[j, i-1:i+1]". What is no declaration stays wrong. The caller frees it; NULL: no
 * memory. */
char *polytile_fortran_reverse_declaration(const char *declaration);

/** A body in C with the subscripts of the declaration's arrays reversed: "B(i, j) = A(i-1, j);"
 * becomes "B(j, i) = A(j, i-1);". The caller frees it; NULL: no memory. */
char *polytile_fortran_reverse_body(const char *body, const char *declaration);

#endif
