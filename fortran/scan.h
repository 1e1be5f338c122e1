#ifndef POLYTILE_FORTRAN_SCAN_H
#define POLYTILE_FORTRAN_SCAN_H

#include <stdbool.h>

/* Reading texts in C and declarations, as far as subscripts need it. */

/** A part of a text. */
typedef struct span {
    const char *begin, *end;
} span;

/** Whether a character belongs to names and numbers. */
bool polytile_fortran_is_of_name(char c);

/** The end of the name or number at the beginning; begin: there is none. */
const char *polytile_fortran_skip_name(span text);

/** The end of what is not looked into, a comment or a literal; begin: there is none. */
const char *polytile_fortran_skip_quoted(span text);

/** The end of the white space and the comments at the beginning. */
const char *polytile_fortran_skip_blanks(span text);

/** The bracket that closes the one at the beginning; NULL: none does. */
const char *polytile_fortran_find_closing(span text);

/** The first comma of a list outside of brackets; NULL: there is none. */
const char *polytile_fortran_find_comma(span list);

/** A text without the white space around it; the end of a line stays, which may end a comment. */
span polytile_fortran_trim(span text);

#endif
