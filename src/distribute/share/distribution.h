#ifndef POLYTILE_DISTRIBUTE_SHARE_DISTRIBUTION_H
#define POLYTILE_DISTRIBUTE_SHARE_DISTRIBUTION_H

#include "base/context.h"
#include <polytile/domain.h>

/* How the indices of one dimension are divided among coordinates. A new kind is one file and one
 * row of the table. */

typedef struct pti_distribution pti_distribution;

/** A row of the table. */
typedef struct pti_distribution_kind {
    const char *name;  /* in texts, before parentheses */
    const char *forms; /* for error texts */
    bool is_of_first;  /* divides the first dimension that is cut; the others come in blocks */
    /** Read what stands between the parentheses, empty if there are none; false if it is wrong. */
    bool (*parse)(const char *arguments, pti_distribution *distribution);
    /** How many ranges a coordinate has; 0: none of the dimension's indices. */
    int64_t (*count)(const pti_distribution *distribution, const polytile_range *whole,
                     int coordinate, int n_coordinates);
    /** The k-th of them, ascending. All ranges of all coordinates are disjoint and make up the
     * whole. */
    polytile_range (*get)(const pti_distribution *distribution, const polytile_range *whole,
                          int coordinate, int n_coordinates, int64_t k);
} pti_distribution_kind;

/** The most coordinates that can be given weights, and the bytes of a registered layout's
 * arguments. */
enum { PTI_MAX_WEIGHTS = 64, PTI_ARGUMENTS_BYTES = 64 };

/** A layout that a program registered; the context owns it. */
typedef struct pti_registered pti_registered;

/** A kind with its arguments. */
struct pti_distribution {
    const pti_distribution_kind *kind;
    int only_dim;  /* block(dim=D): the one dimension that is cut; -1: those of the grid */
    int64_t block; /* cyclic(B): consecutive indices of a coordinate */
    int n_weights; /* weighted(W,W,...): of the coordinates of the first dimension that is cut; 0:
                      none is given yet, all are the same */
    int coordinates_per_weight; /* this many coordinates, side by side, share a weight; 0: one */
    double weight[PTI_MAX_WEIGHTS];
    pti_registered *registered; /* NULL: a kind of the table; borrowed */
    char arguments[PTI_ARGUMENTS_BYTES];
};

extern const pti_distribution_kind pti_distribution_block;
extern const pti_distribution_kind pti_distribution_cyclic;
extern const pti_distribution_kind pti_distribution_weighted;

/** From a text: "block", "block(dim=0)", "cyclic(64)", "weighted(3,1)", "weighted", a
 * registered name; NULL: "block".
 * Errors: INVALID, naming what there is. */
polytile_status pti_distribution_parse(polytile_context *ctx, const char *text,
                                       pti_distribution *distribution);

#endif
