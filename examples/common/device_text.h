#ifndef EXAMPLES_DEVICE_TEXT_H
#define EXAMPLES_DEVICE_TEXT_H

#include <stdbool.h>

enum { DEVICE_TEXT_SIZE = 256 };

/** A device's text, such as "host(memory=64MiB,threads=2)", taken apart. */
typedef struct device_text {
    char bare[DEVICE_TEXT_SIZE];   /* without its memory: "host(threads=2)" */
    char memory[DEVICE_TEXT_SIZE]; /* "64MiB"; "" when it has none */
} device_text;

/** Take a text apart; false when it is too long. A malformed text is left whole in bare. */
bool device_text_split(const char *text, device_text *parts);

/** The whole text again, in a buffer of twice DEVICE_TEXT_SIZE bytes, which it returns. */
char *device_text_join(const device_text *parts, char *buffer);

#endif
