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

/** A size for people in a buffer of at least 32 bytes, which it returns: "512 B", "64 MiB", "1.5
 * GiB". */
char *pti_bytes_format(int64_t bytes, char *buffer);

/**
 * Read a size such as "64MiB", "1.5GiB", "4096" or "4096B": a number and B, KiB, MiB, GiB or TiB.
 *
 * False when it is no size, is not positive, is no whole number of bytes or exceeds 64 bits.
 */
bool pti_bytes_parse(const char *text, int64_t *bytes);

#endif
