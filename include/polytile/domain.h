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

/** A product of ranges: the index space of threads, of an array, or of a piece of either. */
typedef struct polytile_domain {
    int n_dims;
    polytile_range range[POLYTILE_MAX_DIMS];
} polytile_domain;

/** The domain 0 .. extents[d] - 1 in each dimension; no check is made here, every user of it makes
 * one. */
polytile_domain polytile_domain_from_extents(int n_dims, const int64_t *extents);

/** The domain lo[d] .. hi[d] in each dimension, both ends included. */
polytile_domain polytile_domain_from_bounds(int n_dims, const int64_t *lo, const int64_t *hi);

/** The domain border .. extents[d] - 1 - border in each dimension: all but a border, such as a
 * stencil needs. */
polytile_domain polytile_domain_from_interior(int64_t border, int n_dims, const int64_t *extents);

/** A pointer to a domain 0 .. extent - 1 a dimension, for use as an argument:
 * POLYTILE_EXTENTS(8192, 8192), and to one without a border, for instance of one element:
 * POLYTILE_INTERIOR(1, 8192, 8192). They last as long as the call; in C, as the block. */
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
/** The domain border .. extent - 1 - border a dimension, which the macros point to in C++. */
template <class... Extents>
inline polytile_domain polytile_domain_of_interior(int64_t border, Extents... extent) {
    const int64_t extents[] = {static_cast<int64_t>(extent)...};
    return polytile_domain_from_interior(border, static_cast<int>(sizeof...(extent)), extents);
}
}
#endif

#endif
