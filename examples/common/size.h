#ifndef EXAMPLES_SIZE_H
#define EXAMPLES_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/** Read a whole number of at least `least`; false when the text is none or exceeds 64 bits. */
bool count_parse(const char *text, int64_t least, int64_t *count);

/** Read a size in bytes such as "64MiB", "1.5GiB" or "4096": a number and B, KiB, MiB, GiB, TiB. */
bool size_parse(const char *text, int64_t *bytes);

/** A size for people, in a buffer of at least 32 bytes, which it returns: "512 B", "64.0 MiB". */
char *size_format(int64_t bytes, char *buffer);

#endif
