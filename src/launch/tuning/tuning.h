#ifndef POLYTILE_LAUNCH_TUNING_TUNING_H
#define POLYTILE_LAUNCH_TUNING_TUNING_H

#include "launch/tuning/table.h"

/* launch/tuning: which thread block suits which kernel on which GPU: tables of the library, of
 * files, and of measurements. */

/* The tuning tables of a context in the order of search: the loaded ones, the last one first; that
 * of POLYTILE_TUNING; measurements of POLYTILE_TUNE=1, by this process or an earlier one; the
 * library's own. Threads of one context may search at once. */

typedef struct pti_tuning pti_tuning;

/**
 * Return the context's tables, made at the first call.
 *
 * Errors  Those of polytile_tuning_load() for the table of POLYTILE_TUNING, which is read anew at
 *         each call until that succeeds; NO_MEMORY.
 * Owns    The context owns them.
 */
polytile_status pti_tuning_get(polytile_context *ctx, pti_tuning **tuning);

/** Return a number that grows whenever a table changes, so that answers can be kept. */
int64_t pti_tuning_generation(const pti_tuning *tuning);

/** Find a copy of the best row of the first table that has one; false: none has. */
bool pti_tuning_find(pti_tuning *tuning, const pti_tuning_query *query, pti_tuning_row *found);

/**
 * Learn the best block of a measurement, for this process and, in the cache's tuning.json, for
 * later ones. A file that cannot be written is a warning. Without memory nothing changes.
 *
 * Shapes  row: kernel, traits, block, n_dims, cache and coarsening; its architecture is the
 *         capability.
 */
void pti_tuning_learn(pti_tuning *tuning, const pti_tuning_row *row, int capability);

#endif
