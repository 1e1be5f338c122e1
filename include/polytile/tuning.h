#ifndef POLYTILE_TUNING_H
#define POLYTILE_TUNING_H

#include <polytile/declaration.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How neighbouring threads access memory. */
typedef enum polytile_coalescing {
    POLYTILE_COALESCING_DEF, /* not known */
    POLYTILE_COALESCING_FULL,
    POLYTILE_COALESCING_MEDIUM,
    POLYTILE_COALESCING_SCATTER
} polytile_coalescing;

typedef enum polytile_level {
    POLYTILE_LEVEL_DEF, /* not known */
    POLYTILE_LEVEL_NONE,
    POLYTILE_LEVEL_LOW,
    POLYTILE_LEVEL_MEDIUM,
    POLYTILE_LEVEL_HIGH
} polytile_level;

/**
 * What a kernel's code is like. By it the device finds thread blocks and caches in a row of a
 * tuning table for the GPU's architecture. 0 means unknown. If no row fits, the device takes the
 * block with which most threads run at once.
 *
 * Source  Ortega-Arranz et al., "TuCCompi", section 4.4, table 1 (A to D); Alonso-Mayo et al.,
 *         "Communicators", section 3.3, whose data sharing is the reuse here.
 */
typedef struct polytile_character {
    polytile_coalescing coalescing;
    polytile_level arithmetic; /* instructions a thread for each access to memory */
    polytile_level evictions;  /* lines that leave the first-level cache, against its size */
    polytile_level reuse;      /* of data, by a thread and its neighbours */
    int64_t reserved[4];       /* zeros */
} polytile_character;

/** Set what a kernel's code is like, for later launches. Errors: INVALID (a value that is none of
 * the enumeration, or a reserved member). */
polytile_status polytile_kernel_characterise(polytile_kernel *kernel,
                                             const polytile_character *character);

/**
 * Load a tuning table. It goes before those loaded earlier and the library's own. docs/tuning.md
 * has the format; POLYTILE_TUNING names a table that each context loads.
 *
 * Errors  IO (the file cannot be read), INVALID (no valid table; the text names the line and the
 *         reason), both also of the table of POLYTILE_TUNING, which is loaded first; NO_MEMORY.
 *         After an error the tables are as before.
 */
polytile_status polytile_tuning_load(polytile_context *ctx, const char *path);

#ifdef __cplusplus
}
#endif

#endif
