#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_GUARDED_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_GUARDED_H

#include "base/context.h"

#include <stddef.h>

/** Memory between pages that nobody may touch: who goes far beyond it faults at that very
 * access. */
typedef struct pti_guarded {
    unsigned char *bytes;
    size_t n_bytes; /* that may be touched: whole pages */
    void *map;      /* with the pages around; NULL: none */
    size_t map_bytes;
} pti_guarded;

/**
 * Let there be n_bytes at least, with about as many guarded ones on either side as reach_bytes;
 * what the memory held is lost. Zero-initialise it first.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_guarded_make(polytile_context *ctx, pti_guarded *memory, size_t n_bytes,
                                 size_t reach_bytes);

void pti_guarded_free(pti_guarded *memory);

#endif
