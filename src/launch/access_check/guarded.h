#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_GUARDED_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_GUARDED_H

#include "base/context.h"

#include <stddef.h>

/** Memory between guard pages: an access far beyond it is a fault. */
typedef struct pti_guarded {
    unsigned char *bytes;
    size_t n_bytes; /* that may be touched: whole pages */
    void *map;      /* with the pages around; NULL: none */
    size_t map_bytes;
} pti_guarded;

/**
 * Make n_bytes of memory at least, with about guard_bytes of guard pages on either side; old
 * contents are lost. Zero-initialise *memory first.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_guarded_make(polytile_context *ctx, pti_guarded *memory, size_t n_bytes,
                                 size_t guard_bytes);

void pti_guarded_free(pti_guarded *memory);

#endif
