#ifndef POLYTILE_SIZE_H
#define POLYTILE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Read a size such as "64MiB", "1.5GiB" or "4096B": a number and B, KiB, MiB, GiB or TiB. A number
 * alone is none: who writes 64 may mean MiB.
 *
 * Returns false, and leaves *bytes alone, when the text is no size, is not positive, is no whole
 *         number of bytes or exceeds 64 bits.
 */
bool polytile_size_parse(const char *text, int64_t *bytes);

enum { POLYTILE_SIZE_WHY_BYTES = 128 };

/** Why polytile_size_parse() refuses a text, and what was perhaps meant, for the end of an error's
 * text: "it has no unit: 64MiB? (64B for bytes)". In a buffer of POLYTILE_SIZE_WHY_BYTES, which is
 * returned. */
char *polytile_size_explain(const char *text, char *buffer);

/** A size for people in a buffer of at least 32 bytes, which it returns: "512 B", "64 MiB". */
char *polytile_size_format(int64_t bytes, char *buffer);

#ifdef __cplusplus
}
#endif

#endif
