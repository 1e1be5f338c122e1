#ifndef EXAMPLES_FIELD_PICTURE_H
#define EXAMPLES_FIELD_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { PICTURE_CELLS = 96 };

/** A field brought down to at most PICTURE_CELLS cells a side, each the mean of its elements. */
typedef struct field_sample {
    const char *title;
    int64_t field_rows; /* of the field itself */
    int64_t field_columns;
    int rows; /* of the sample */
    int columns;
    double cell[PICTURE_CELLS][PICTURE_CELLS];
} field_sample;

/** Write fields side by side as an SVG heat map with one colour bar; false if the file can't be
 * written (errno says why). Cells that are not finite stay grey. */
bool field_picture_write(const char *path, const field_sample *samples, int n_samples);

#endif
