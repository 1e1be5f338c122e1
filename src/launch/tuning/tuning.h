#ifndef POLYTILE_LAUNCH_TUNING_TUNING_H
#define POLYTILE_LAUNCH_TUNING_TUNING_H

#include "launch/tuning/table.h"

/* launch/tuning: which thread block suits which kernel on which GPU: tables from the library,
 * from files, and from what was measured. */

/* The tuning tables of a context, in the order in which they are asked: those that were loaded, the
 * last one first; that of POLYTILE_TUNING; what was measured with POLYTILE_TUNE=1, by this process
 * or an earlier one; the library's own. Threads of one context may ask at once. */

typedef struct pti_tuning pti_tuning;

/**
 * The context's tables, made at the first call.
 *
 * Errors  Those of polytile_tuning_load() for the table of POLYTILE_TUNING, which is read anew
 *         until it can be; NO_MEMORY.
 * Owns    The context owns them.
 */
polytile_status pti_tuning_get(polytile_context *ctx, pti_tuning **tuning);

/** Grows whenever a table changes, so that answers can be kept. */
int64_t pti_tuning_generation(const pti_tuning *tuning);

/** A copy of the first table's row that fits best; false if no table has one. */
bool pti_tuning_find(pti_tuning *tuning, const pti_tuning_query *query, pti_tuning_row *found);

/**
 * Note a block that was measured to be the best, for this process and, in the cache's tuning.json,
 * for later ones. A file that cannot be written is warned about. Without memory nothing changes.
 *
 * Shapes  row: kernel, traits, block, n_dims and cache; its architecture is the capability.
 */
void pti_tuning_learn(pti_tuning *tuning, const pti_tuning_row *row, int capability);

#endif
