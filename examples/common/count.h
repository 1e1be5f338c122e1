#ifndef EXAMPLES_COUNT_H
#define EXAMPLES_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/** Parse an integer of at least `least`; false if the text is none or exceeds 64 bits. */
bool count_parse(const char *text, int64_t least, int64_t *count);

#endif
