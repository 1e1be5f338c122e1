#ifndef POLYTILE_LAUNCH_TUNING_JSON_LINE_H
#define POLYTILE_LAUNCH_TUNING_JSON_LINE_H

#include <stddef.h>

/* Where values of a JSON text stand, which jansson does not tell of a text that it took. */

/** A member of an object by its key, or an element of an array by its position, from 0. */
typedef struct pti_json_step {
    const char *key; /* NULL: an element */
    size_t element;
} pti_json_step;

/** The line, from 1, on which what the steps lead to begins, a member with its key. Of steps that
 * lead nowhere the last one that was found counts, or line 1. Any text can be searched. */
int pti_json_line(const char *text, size_t n_bytes, const pti_json_step *steps, int n_steps);

#endif
