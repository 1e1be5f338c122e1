#ifndef POLYTILE_ACCESS_SET_GENERATORS_H
#define POLYTILE_ACCESS_SET_GENERATORS_H

#include "access/set/range.h"

/** A sum of strided ranges from 0: { sum over g of stride[g] * t : 0 <= t < count[g] }. */
typedef struct pti_generators {
    int n;
    int64_t stride[POLYTILE_MAX_DIMS + 1];
    int64_t count[POLYTILE_MAX_DIMS + 1];
} pti_generators;

/** Start with generator 0: an interval 0, step, ... of count elements. */
pti_generators pti_generators_of_interval(int64_t step, int64_t count);

/** Add an index with this coefficient (any sign; the base is the caller's) and extent. */
void pti_generators_add(pti_generators *generators, int64_t coefficient, int64_t extent);

/** Merge generators into the interval if its shifted copies leave no gaps. The interval is at least
 * sure_extent long, or its new length if grows. */
void pti_generators_absorb(pti_generators *generators, int64_t sure_extent, bool grows);

/** Join generators of equal strides, whatever their counts. */
void pti_generators_join_equal(pti_generators *generators);

/** Join each generator with those whose copies of it leave no gaps. */
void pti_generators_join_nested(pti_generators *generators);

/** Return the number of ranges: the product of all counts but the largest; INT64_MAX if more. */
int64_t pti_generators_count_ranges(const pti_generators *generators);

/** Return the k-th of these ranges, shifted by base. */
polytile_range pti_generators_get_range(const pti_generators *generators, int64_t k, int64_t base);

#endif
