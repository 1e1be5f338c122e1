#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H

#include <polytile/array.h>
#include <stdbool.h>

/* What stands where a kernel must not look. Each pattern has another value at each place, and no
 * pattern the value that pattern 0 has there.
 *
 * Patterns 0 and 1 are small numbers, positive and (of types with a sign) negative, so that what
 * takes one for an index stays near, and what takes the larger of two lets one of them through. The
 * third is not a number, which spreads through arithmetic; integers have any bits. The others are
 * large, small, anything. */

/** Patterns there are; a check that wants fewer takes the first. */
enum { PTI_POISON_PATTERNS = 6 };

/** Fill n elements, of which the first has a place, with a pattern. */
void pti_poison_fill(int pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements);

/** Whether two elements are the same result: equal bytes, or both not a number. */
bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other);

#endif
