#ifndef POLYTILE_COMPILE_ENTRY_H
#define POLYTILE_COMPILE_ENTRY_H

#include "compile/compile.h"

/* Code that processes keep for later ones: a file for each recipe, all that the code depends on. It
 * is run as it is found, so nobody else may be able to write where it lies. */

/**
 * Find the code of a recipe that an earlier process kept. A file that is damaged is warned about,
 * and not taken.
 *
 * Errors  IO (others may write the directory), NO_MEMORY.
 * Owns    The caller frees code->bytes; NULL: there is none.
 */
polytile_status pti_entry_find(polytile_context *ctx, const char *kernel, const pti_text *recipe,
                               pti_code *code);

/** Keep code, if that is possible. */
void pti_entry_keep(polytile_context *ctx, const char *kernel, const pti_text *recipe,
                    const pti_code *code);

#endif
