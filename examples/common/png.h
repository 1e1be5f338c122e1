#ifndef POLYTILE_EXAMPLES_PNG_H
#define POLYTILE_EXAMPLES_PNG_H

#include <stdbool.h>
#include <stdint.h>

/** The colours of a picture whose pixels are bytes: red, green, blue. */
typedef struct png_palette {
    uint8_t colour[256][3];
} png_palette;

/**
 * Write a picture of one byte a pixel, row by row from the top; not compressed, so no library is
 * needed.
 *
 * Shapes  pixels: height rows of width; both from 1 to 16384.
 * Errors  false when the file cannot be written whole; errno says why.
 * Source  W3C, Portable Network Graphics (third edition); RFC 1950, RFC 1951.
 */
bool png_write(const char *path, int width, int height, const uint8_t *pixels,
               const png_palette *palette);

#endif
