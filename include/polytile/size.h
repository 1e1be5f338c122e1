#ifndef POLYTILE_SIZE_H
#define POLYTILE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Parse a size such as "64MiB", "1.5GiB" or "4096B": a number and B, KiB, MiB, GiB or TiB. A number
 * alone is no size, since 64 may mean MiB.
 *
 * Returns false, and leaves *bytes alone, if the text is no size, or the size is not positive, no
 *         whole number of bytes or above 64 bits.
 */
bool polytile_size_parse(const char *text, int64_t *bytes);

enum { POLYTILE_SIZE_WHY_BYTES = 128 };

/** Write why polytile_size_parse() refuses a text, and what was perhaps meant, for the end of an
 * error's text: "it has no unit: 64MiB? (64B for bytes)". Returns buffer, of
 * POLYTILE_SIZE_WHY_BYTES. */
char *polytile_size_explain(const char *text, char *buffer);

/** Write a size for people, as "512 B" or "64 MiB", into a buffer of at least 32 bytes, and return
 * it. */
char *polytile_size_format(int64_t bytes, char *buffer);

#ifdef __cplusplus
}
#endif

#endif
