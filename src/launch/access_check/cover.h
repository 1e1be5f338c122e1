#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_COVER_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_COVER_H

#include <polytile/domain.h>
#include <stdbool.h>

/* The threads of a launch as blocks, of which the check runs some or all. */

/** Blocks of threads, of which boxes consist; those at the end of the domain are clipped. */
typedef struct pti_units {
    polytile_domain threads;
    int64_t extent[POLYTILE_MAX_DIMS]; /* threads of a block along each index */
    int64_t count[POLYTILE_MAX_DIMS];
    int64_t n_units; /* all in all; INT64_MAX: more than can be counted */
} pti_units;

/** Cut threads into blocks. block: threads along each index; NULL: each thread is a block. */
pti_units pti_units_of(const polytile_domain *threads, const int64_t *block);

/** Return how many blocks to run alone, at most n_most: all of them if they are few, else those at
 * the corners and some random ones, always the same. */
int64_t pti_units_n_drawn(const pti_units *units, int64_t n_most);
polytile_domain pti_units_draw(const pti_units *units, int64_t n_most, int64_t k);

/** Halve a box of whole blocks along the index with the most blocks; false: it is one block. */
bool pti_units_halve(const pti_units *units, const polytile_domain *box, polytile_domain *halves);

#endif
