#ifndef POLYTILE_LAUNCH_TUNING_JSON_LINE_H
#define POLYTILE_LAUNCH_TUNING_JSON_LINE_H

#include <stddef.h>

/* Find lines of values in a JSON text, which jansson does not keep. */

/** A member of an object by its key, or an element of an array by its position, from 0. */
typedef struct pti_json_step {
    const char *key; /* NULL: an element */
    size_t element;
} pti_json_step;

/** Return the line, from 1, on which the value of the steps begins, a member with its key; else
 * that of the last step that was found, or 1. Any text can be searched. */
int pti_json_line(const char *text, size_t n_bytes, const pti_json_step *steps, int n_steps);

#endif
