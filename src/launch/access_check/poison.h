#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_POISON_H

#include <polytile/array.h>
#include <stdbool.h>

/* What stands where a kernel must not look: patterns of which each has about any value at each
 * place, and pattern 1 nowhere the value of pattern 0.
 *
 * Patterns 0 and 1 are small numbers, of types with fractions one of either sign, so that what
 * takes one for an index stays near. 2 and 3 are large ones, of either sign if the type has one,
 * integers the largest and the smallest: whatever is combined with them by taking the smaller or
 * the larger shows in one of them. 4 is not a number, which spreads through arithmetic, and
 * integers have any bits; 5 is small fractions, or any bits again. */

/** Patterns there are; a check that wants fewer takes the first. */
enum { PTI_POISON_PATTERNS = 6 };

/** Fill n elements, of which the first has a place, with a pattern. */
void pti_poison_fill(int pattern, polytile_type type, int64_t element_bytes, int64_t place,
                     int64_t n, unsigned char *elements);

/** Whether two elements are the same result: equal bytes, or both not a number. */
bool pti_poison_is_same(polytile_type type, int64_t element_bytes, const unsigned char *one,
                        const unsigned char *other);

#endif
