#ifndef POLYTILE_ACCESS_SET_RANGE_H
#define POLYTILE_ACCESS_SET_RANGE_H

#include <polytile/domain.h>
#include <stdbool.h>

/* Strided intervals. All functions take and return normalised ranges: step >= 1, hi - lo a multiple
 * of step, or empty (hi < lo). Ends are within +-2^61, so differences and one addition cannot
 * overflow. */

/** Make the range lo, lo + step, ... up to hi, which is rounded down onto the lattice. */
polytile_range pti_range(int64_t lo, int64_t hi, int64_t step);

static inline polytile_range pti_range_empty(void) {
    return (polytile_range){0, -1, 1};
}

static inline bool pti_range_is_empty(polytile_range range) {
    return range.hi < range.lo;
}

/** Return whether a range leaves out integers between its ends. */
static inline bool pti_range_has_gaps(polytile_range range) {
    return range.step != 1 && range.lo != range.hi;
}

static inline int64_t pti_range_count(polytile_range range) {
    if (pti_range_is_empty(range))
        return 0;
    return (range.step == 1 ? range.hi - range.lo : (range.hi - range.lo) / range.step) + 1;
}

static inline bool pti_range_equals(polytile_range a, polytile_range b) {
    if (pti_range_is_empty(a) || pti_range_is_empty(b))
        return pti_range_is_empty(a) && pti_range_is_empty(b);
    return a.lo == b.lo && a.hi == b.hi && (a.step == b.step || a.lo == a.hi);
}

/** Compare ranges as they are written. */
static inline int pti_range_compare(const polytile_range *a, const polytile_range *b) {
    int order = (a->lo > b->lo) - (a->lo < b->lo);
    if (order == 0)
        order = (a->hi > b->hi) - (a->hi < b->hi);
    return order != 0 ? order : (a->step > b->step) - (a->step < b->step);
}

/** Return the elements number first .. first + count - 1 of a range, as far as it has them. */
polytile_range pti_range_slice(polytile_range range, int64_t first, int64_t count);

/** Return one of n_parts consecutive parts of a range, whose lengths differ by one element at
 * most. */
polytile_range pti_range_cut(polytile_range range, int64_t n_parts, int64_t part);

/** Return whether a range has one element or two, or none: its ends are all of them. */
static inline bool pti_range_is_its_ends(polytile_range range) {
    return range.hi - range.lo <= range.step;
}

static inline bool pti_range_has(polytile_range range, int64_t value) {
    if (value < range.lo || value > range.hi)
        return false;
    if (pti_range_is_its_ends(range))
        return value == range.lo || value == range.hi;
    return (value - range.lo) % range.step == 0;
}

/** Return whether a range has all elements of another one. */
static inline bool pti_range_contains(polytile_range outer, polytile_range inner) {
    if (pti_range_is_empty(inner))
        return true;
    if (outer.step == 1)
        return inner.lo >= outer.lo && inner.hi <= outer.hi;
    if (!pti_range_has(outer, inner.lo) || !pti_range_has(outer, inner.hi))
        return false;
    return inner.lo == inner.hi || inner.step % outer.step == 0;
}

/** Return the common elements, exactly: two lattices meet in one of step lcm, or nowhere. */
polytile_range pti_range_intersect(polytile_range a, polytile_range b);

/** Return whether there are any. */
static inline bool pti_range_meets(polytile_range a, polytile_range b) {
    if (pti_range_is_empty(a) || pti_range_is_empty(b))
        return false;
    if (pti_range_is_its_ends(a))
        return pti_range_has(b, a.lo) || pti_range_has(b, a.hi);
    if (pti_range_is_its_ends(b))
        return pti_range_has(a, b.lo) || pti_range_has(a, b.hi);
    return !pti_range_is_empty(pti_range_intersect(a, b));
}

/**
 * Return the smallest range that contains both, with the sound stride gcd(a.step, b.step, |a.lo -
 * b.lo|).
 *
 * Source  Torres et al., section III-D, coarse union; its stride max(s, s') loses elements. A range
 *         of one element has no stride of its own and takes the other's where it can.
 */
polytile_range pti_range_coarse_union(polytile_range a, polytile_range b);

#endif
