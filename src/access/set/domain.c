#include <polytile/domain.h>

#include <stddef.h>

/* Return how many dimensions fit. The domain keeps a wrong number, which its user refuses. */
static int n_stored(int n_dims) {
    return n_dims < POLYTILE_MAX_DIMS ? n_dims : POLYTILE_MAX_DIMS;
}

polytile_domain polytile_domain_from_extents(int n_dims, const int64_t *extents) {
    polytile_domain domain = {.n_dims = extents == NULL ? 0 : n_dims};
    for (int d = 0; d < n_stored(domain.n_dims); d++)
        domain.range[d] = (polytile_range){0, extents[d] < 1 ? -1 : extents[d] - 1, 1};
    return domain;
}

polytile_domain polytile_domain_from_interior(int64_t border, int n_dims, const int64_t *extents) {
    polytile_domain domain = polytile_domain_from_extents(n_dims, extents);
    for (int d = 0; d < n_stored(domain.n_dims); d++) {
        domain.range[d].lo += border;
        domain.range[d].hi -= border;
    }
    return domain;
}

polytile_domain polytile_domain_from_bounds(int n_dims, const int64_t *lo, const int64_t *hi) {
    polytile_domain domain = {.n_dims = lo == NULL || hi == NULL ? 0 : n_dims};
    for (int d = 0; d < n_stored(domain.n_dims); d++)
        domain.range[d] = (polytile_range){lo[d], hi[d], 1};
    return domain;
}
