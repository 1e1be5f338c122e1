#ifndef POLYTILE_LAUNCH_TUNING_LEARNED_H
#define POLYTILE_LAUNCH_TUNING_LEARNED_H

#include "launch/tuning/table.h"

#include <jansson.h>

/* Measurements of POLYTILE_TUNE=1: a table in the cache, tuning.json, that several processes
 * extend. */

/** What was measured, by this process and by others. */
typedef struct pti_learned {
    json_t *root;            /* NULL: nothing; owned */
    pti_tuning_table *table; /* the same as a table */
} pti_learned;

/** Read the cache's table. A damaged file is empty, with a warning. */
void pti_learned_read(polytile_context *ctx, pti_learned *learned);

/**
 * Add or replace a row, here and in the cache's file with the rows of other processes. What cannot
 * be kept is a warning; of two processes that write at once one may lose its row. False when memory
 * runs out.
 */
bool pti_learned_add(polytile_context *ctx, pti_learned *learned, const pti_tuning_row *row,
                     int capability);

void pti_learned_free(pti_learned *learned);

#endif
