#include "access/set/range.h"

#include "base/checked.h"

polytile_range pti_range(int64_t lo, int64_t hi, int64_t step) {
    if (hi < lo)
        return pti_range_empty();
    if (step == 1)
        return (polytile_range){lo, hi, 1};
    int64_t last = hi - (hi - lo) % step;
    return (polytile_range){lo, last, last == lo ? 1 : step};
}

polytile_range pti_range_slice(polytile_range range, int64_t first, int64_t count) {
    int64_t last = pti_min(first + count, pti_range_count(range)) - 1;
    return pti_range(range.lo + first * range.step, range.lo + last * range.step, range.step);
}

polytile_range pti_range_cut(polytile_range range, int64_t n_parts, int64_t part) {
    int64_t count = pti_range_count(range), least = count / n_parts, n_longer = count % n_parts;
    return pti_range_slice(range, part * least + pti_min(part, n_longer),
                           least + (part < n_longer));
}

/* Return the inverse of a modulo m, for gcd(a, m) = 1 and m >= 1. */
static int64_t modular_inverse(int64_t a, int64_t m) {
    int64_t rest = m, next_rest = pti_floor_mod(a, m);
    int64_t factor = 0, next_factor = 1;
    while (next_rest != 0) {
        int64_t quotient = rest / next_rest;
        int64_t new_rest = rest - quotient * next_rest;
        int64_t new_factor = factor - quotient * next_factor;
        rest = next_rest;
        next_rest = new_rest;
        factor = next_factor;
        next_factor = new_factor;
    }
    return pti_floor_mod(factor, m);
}

/* Return the elements of a lattice within lo .. hi, for lo and hi not below its first element. */
static polytile_range lattice_between(__int128 first, __int128 step, int64_t lo, int64_t hi) {
    if (first < lo)
        first += (lo - first + step - 1) / step * step;
    if (first > hi)
        return pti_range_empty();
    if (first + step > hi)
        return pti_range((int64_t)first, (int64_t)first, 1);
    return pti_range((int64_t)first, hi, (int64_t)step);
}

/* Intersect two lattices by Chinese remainders: x = a.lo + a.step * t with t = (b.lo - a.lo) / g *
 * (a.step / g)^-1 modulo b.step / g. */
static polytile_range intersect_lattices(polytile_range a, polytile_range b, int64_t lo,
                                         int64_t hi) {
    int64_t common = pti_gcd(a.step, b.step);
    int64_t distance = b.lo - a.lo;
    if (distance % common != 0)
        return pti_range_empty();
    int64_t modulus = b.step / common;
    __int128 turns = (__int128)pti_floor_mod(distance / common, modulus) *
                     modular_inverse(a.step / common, modulus) % modulus;
    return lattice_between(a.lo + turns * a.step, (__int128)a.step * modulus, lo, hi);
}

/** The ends of a range that another one has. */
static polytile_range intersect_ends(polytile_range ends, polytile_range other) {
    bool has_lo = pti_range_has(other, ends.lo), has_hi = pti_range_has(other, ends.hi);
    if (!has_lo && !has_hi)
        return pti_range_empty();
    return pti_range(has_lo ? ends.lo : ends.hi, has_hi ? ends.hi : ends.lo, ends.step);
}

polytile_range pti_range_intersect(polytile_range a, polytile_range b) {
    int64_t lo = pti_max(a.lo, b.lo), hi = pti_min(a.hi, b.hi);
    if (hi < lo || pti_range_is_empty(a) || pti_range_is_empty(b))
        return pti_range_empty();
    if (a.step == 1 && b.step == 1)
        return (polytile_range){lo, hi, 1};
    if (pti_range_is_its_ends(a))
        return intersect_ends(a, b);
    return pti_range_is_its_ends(b) ? intersect_ends(b, a) : intersect_lattices(a, b, lo, hi);
}

static int64_t own_stride(polytile_range range) {
    return range.lo == range.hi ? 0 : range.step;
}

polytile_range pti_range_coarse_union(polytile_range a, polytile_range b) {
    if (pti_range_is_empty(a))
        return b;
    if (pti_range_is_empty(b))
        return a;
    int64_t stride = own_stride(a), other = own_stride(b);
    if (stride != 1)
        stride = other == 1 ? 1 : pti_gcd(pti_gcd(stride, other), a.lo - b.lo);
    return pti_range(pti_min(a.lo, b.lo), pti_max(a.hi, b.hi), stride == 0 ? 1 : stride);
}
