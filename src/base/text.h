#ifndef POLYTILE_BASE_TEXT_H
#define POLYTILE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A string that grows as it is written; a failed allocation is remembered, so one test at the end
 * is enough. */
typedef struct pti_text {
    char *data; /* NUL-terminated once something was written; owned */
    size_t length;
    size_t capacity;
    bool failed;
} pti_text;

void pti_text_add(pti_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Room for bytes at its end, NUL-terminated, for the caller to write; NULL: no memory. */
char *pti_text_extend(pti_text *text, size_t n_bytes);

void pti_text_free(pti_text *text);

#endif
