#ifndef POLYTILE_LAUNCH_TUNING_LEARNED_H
#define POLYTILE_LAUNCH_TUNING_LEARNED_H

#include "launch/tuning/table.h"

#include <jansson.h>

/* What was measured with POLYTILE_TUNE=1: a table in the cache, tuning.json, that several processes
 * extend. */

typedef struct pti_learned {
    json_t *root;            /* NULL: nothing; owned */
    pti_tuning_table *table; /* the same as a table */
} pti_learned;

/** What is in the cache. A file that is damaged is warned about and taken for empty. */
void pti_learned_read(polytile_context *ctx, pti_learned *learned);

/**
 * Put a row in place of one for the same, here and in the cache's file, with what other processes
 * have written since. What cannot be kept is warned about; of two processes that write at the very
 * same time one may have to measure again. False when there is no memory.
 */
bool pti_learned_add(polytile_context *ctx, pti_learned *learned, const pti_tuning_row *row,
                     int capability);

void pti_learned_free(pti_learned *learned);

#endif
