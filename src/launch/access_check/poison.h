#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H

#include <polytile/array.h>
#include <stdbool.h>
#include <stdint.h>

/* Values for elements that a kernel must not look at. */

/**
 * What poisoned elements hold, in the order of the runs.
 *
 * The first two are small numbers, of types with fractions one of either sign: as an index they
 * stay near. They are never zero and never equal, so results that depend on an element differ,
 * except for comparisons, with zero, which is a pattern of its own, or with a value of the array.
 * The largest and the smallest numbers show in maxima and minima. What is not a number spreads
 * through arithmetic; integers have random bits then. The last one is small fractions, or random
 * bits again.
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

/** Return random bits for a pattern, of an element's own. */
uint64_t pti_poison_bits(pti_pattern pattern, int64_t place);

/** Fill n elements with a pattern; the first has this place. The pattern of an array's own values
 * is small numbers. */
void pti_poison_fill(pti_pattern pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements);

/** Return whether numbers of a type are integers with a sign. */
bool pti_poison_has_sign(polytile_type type);
/** Return whether elements of a type are numbers with fractions. */
bool pti_poison_has_fractions(polytile_type type);

/** Return whether two elements are the same result: equal bytes, or both not a number. */
bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other);

#endif
