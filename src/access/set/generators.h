#ifndef POLYTILE_ACCESS_SET_GENERATORS_H
#define POLYTILE_ACCESS_SET_GENERATORS_H

#include "access/set/range.h"

/** A sum of strided ranges from 0: { sum over g of stride[g] * t : 0 <= t < count[g] }. */
typedef struct pti_generators {
    int n;
    int64_t stride[POLYTILE_MAX_DIMS + 1];
    int64_t count[POLYTILE_MAX_DIMS + 1];
} pti_generators;

/** Start with a window: an interval 0, step, ... of count elements, generator 0. */
pti_generators pti_generators_of_window(int64_t step, int64_t count);

/** One more index with this coefficient (any sign; the base is the caller's) and extent. */
void pti_generators_add(pti_generators *generators, int64_t coefficient, int64_t extent);

/**
 * Let the window swallow what leaves no gaps between its shifted copies, taking for granted that it
 * is sure_extent long; a growing window is taken at its new length if grows.
 */
void pti_generators_absorb(pti_generators *generators, int64_t sure_extent, bool grows);

/** Join generators of equal strides, which needs no knowledge of counts. */
void pti_generators_join_equal(pti_generators *generators);

/** Join each generator with those whose copies of it leave no gaps. */
void pti_generators_join_nested(pti_generators *generators);

/** How many ranges it takes: the product of all counts but the largest; INT64_MAX if more. */
int64_t pti_generators_count_ranges(const pti_generators *generators);

/** The k-th of these ranges, shifted by base. */
polytile_range pti_generators_get_range(const pti_generators *generators, int64_t k, int64_t base);

#endif
