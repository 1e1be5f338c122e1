#ifndef POLYTILE_BASE_TEXT_H
#define POLYTILE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A string that grows as it is written. It remembers a failed allocation, so one test at the end
 * is enough. */
typedef struct pti_text {
    char *data; /* NUL-terminated once something was written; owned */
    size_t length;
    size_t capacity;
    bool failed;
} pti_text;

void pti_text_add(pti_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Extend the text by n_bytes, NUL-terminated, for the caller to write; NULL: no memory. */
char *pti_text_extend(pti_text *text, size_t n_bytes);

void pti_text_free(pti_text *text);

/** The most bytes that a shown character takes. */
enum { PTI_SHOWN_BYTES = 4 };

/** A character of a text from anywhere, and how it is shown. */
typedef struct pti_shown_character {
    size_t n_bytes; /* of the text: 1 where it is no character that can be printed as it is */
    char bytes[PTI_SHOWN_BYTES + 1];
    size_t n_columns; /* a tab is one */
} pti_shown_character;

/** Show the character at the beginning of a text, which is not empty: \x1b, say, for what a
 * terminal would take for a command, or what is no UTF-8. */
pti_shown_character pti_text_show_next(const char *text);

/** Append bytes of a text from anywhere as they are shown; returns how many columns. */
size_t pti_text_add_shown(pti_text *text, const char *bytes, size_t n_bytes);

/** Append where in a source an offset is: " (column 7)", and below it its line with a caret; the
 * line's number, too, if the source has several. */
void pti_text_add_place(pti_text *text, const char *source, size_t offset);

/** Return whether a name is the first length characters of a text. */
bool pti_is_name(const char *name, const char *text, size_t length);

#endif
