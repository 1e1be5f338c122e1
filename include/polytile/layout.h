#ifndef POLYTILE_LAYOUT_H
#define POLYTILE_LAYOUT_H

#include <polytile/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layouts: who owns which elements of an array that several devices or ranks share. docs/mpi.md has
 * those of the library; programs add their own here. */

/** The indices of one dimension, which are divided into parts: the members along it in their
 * grid. */
typedef struct polytile_layout_dimension {
    int64_t first;
    int64_t last;
    int n_parts;
    const char *arguments; /* what stands in parentheses after the name, "" without any */
    int64_t reserved[4];   /* zeros */
} polytile_layout_dimension;

/**
 * A layout, as text its name, "mine", or with arguments, "mine(16)".
 *
 * find_owner returns the part, from 0, that owns an index, and in *last, which is the index before
 * the call, up to which index it owns all. It is asked for the first index, then for the one after
 * *last, and so on: so each index has one owner, whatever it answers. Answers are clamped, and the
 * log says so once. It answers by what it is given alone, on all ranks alike, and keeps nothing.
 */
typedef struct polytile_layout {
    const char *name; /* letters, digits, '_', '-' and '.', a letter first */
    int (*find_owner)(const polytile_layout_dimension *of, int64_t index, int64_t *last,
                      void *user);
    void *user;          /* handed to the function */
    int64_t reserved[4]; /* zeros */
} polytile_layout;

/**
 * Give a context a layout, for the options of queues (polytile_share_options.layout), by its name.
 *
 * Errors  INVALID (a name that is none, or that there is already; no function), NO_MEMORY.
 * Owns    The layout is copied; what `user` points to lives as long as the context.
 */
polytile_status polytile_layout_register(polytile_context *ctx, const polytile_layout *layout);

#ifdef __cplusplus
}
#endif

#endif
