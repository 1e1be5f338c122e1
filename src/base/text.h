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
void pti_text_free(pti_text *text);

#endif
