#ifndef POLYTILE_SIZE_H
#define POLYTILE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Read a size in bytes such as "64MiB", "1.5GiB", "4096" or "4096B": a number and B, KiB, MiB, GiB
 * or TiB.
 *
 * Returns false, and leaves *bytes alone, when the text is no size, is not positive, is no whole
 *         number of bytes or exceeds 64 bits.
 */
bool polytile_size_parse(const char *text, int64_t *bytes);

/** A size for people in a buffer of at least 32 bytes, which it returns: "512 B", "64 MiB". */
char *polytile_size_format(int64_t bytes, char *buffer);

#ifdef __cplusplus
}
#endif

#endif
