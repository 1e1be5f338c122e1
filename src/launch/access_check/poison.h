#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H

#include <polytile/array.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * What stands where a kernel must not look, in the order in which runs hold it.
 *
 * The first two are small numbers, of types with fractions one of either sign, so that what takes
 * one for an index stays near; they are never zero, and nowhere the same. With them a result that
 * depends on an element differs, unless it is one of a comparison: with zero, which is a pattern of
 * its own, or with a value that the array holds, there or elsewhere. The largest and the smallest
 * numbers there are show in whatever is combined with them by taking the larger or the smaller.
 * What is not a number spreads through arithmetic; integers have any bits then. The last one is
 * small fractions, or any bits again.
 */
typedef enum pti_pattern {
    PTI_PATTERN_EVEN,
    PTI_PATTERN_ODD,
    PTI_PATTERN_OWN,   /* what the array has there; outside of it small numbers */
    PTI_PATTERN_DRAWN, /* what the array has anywhere */
    PTI_PATTERN_ZERO,
    PTI_PATTERN_LARGEST,
    PTI_PATTERN_SMALLEST,
    PTI_PATTERN_NO_NUMBER,
    PTI_PATTERN_FRACTIONS,
    PTI_N_PATTERNS
} pti_pattern;

/** Random bits of an element's own for a pattern. */
uint64_t pti_poison_bits(pti_pattern pattern, int64_t place);

/** Fill n elements, of which the first has a place, with a pattern; of those that are an array's
 * values small numbers. */
void pti_poison_fill(pti_pattern pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements);

/** Whether numbers of a type are integers with a sign. */
bool pti_poison_has_sign(polytile_type type);
/** Whether elements of a type are numbers with fractions. */
bool pti_poison_has_fractions(polytile_type type);

/** Whether two elements are the same result: equal bytes, or both not a number. */
bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other);

#endif
