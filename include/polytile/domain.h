#ifndef POLYTILE_DOMAIN_H
#define POLYTILE_DOMAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most dimensions of an array or a kernel, and the most parameters of a declaration. */
enum { POLYTILE_MAX_DIMS = 8 };

/**
 * A strided interval of integers { lo, lo + step, ..., hi }, both ends included.
 *
 * Shapes  step >= 1; hi - lo is a multiple of step; empty when hi < lo.
 * Source  Torres et al., "Automatic run-time mapping of polyhedral computations", section
 *         III-A, signature (b, e, s).
 */
typedef struct polytile_range {
    int64_t lo;
    int64_t hi;
    int64_t step;
} polytile_range;

/** A box, the product of ranges: of threads, of an array, or of a part of either. */
typedef struct polytile_domain {
    int n_dims;
    polytile_range range[POLYTILE_MAX_DIMS];
} polytile_domain;

/** Return the domain 0 .. extents[d] - 1 in each dimension. Those who use it check it. */
polytile_domain polytile_domain_from_extents(int n_dims, const int64_t *extents);

/** Return the domain lo[d] .. hi[d] in each dimension, both ends included. */
polytile_domain polytile_domain_from_bounds(int n_dims, const int64_t *lo, const int64_t *hi);

/** Return the domain border .. extents[d] - 1 - border in each dimension: all but a border, such as
 * a stencil needs. */
polytile_domain polytile_domain_from_interior(int64_t border, int n_dims, const int64_t *extents);

/** Give a pointer to a domain as an argument: POLYTILE_EXTENTS(8192, 8192) is 0 .. extent - 1 in
 * each dimension, POLYTILE_INTERIOR(1, 8192, 8192) that without a border of one element. The domain
 * lasts as long as the call; in C, as the block. */
#ifdef __cplusplus
#define POLYTILE_EXTENTS(...)                                                                      \
    (&static_cast<const polytile_domain &>(polytile_domain_of_interior(0, __VA_ARGS__)))
#define POLYTILE_INTERIOR(border, ...)                                                             \
    (&static_cast<const polytile_domain &>(polytile_domain_of_interior(border, __VA_ARGS__)))
#else
#define POLYTILE_EXTENTS(...)                                                                      \
    (&(const polytile_domain[]){polytile_domain_from_extents(                                      \
        (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                           \
        (const int64_t[]){__VA_ARGS__})}[0])
#define POLYTILE_INTERIOR(border, ...)                                                             \
    (&(const polytile_domain[]){polytile_domain_from_interior(                                     \
        border, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                   \
        (const int64_t[]){__VA_ARGS__})}[0])
#endif

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
extern "C++" {
/** Return the domain that the macros above point to in C++. */
template <class... Extents>
inline polytile_domain polytile_domain_of_interior(int64_t border, Extents... extent) {
    const int64_t extents[] = {static_cast<int64_t>(extent)...};
    return polytile_domain_from_interior(border, static_cast<int>(sizeof...(extent)), extents);
}
}
#endif

#endif
