#include <polytile/domain.h>

#include "support/c_test.h"

/* Whether a dimension is lo .. hi with steps of 1. */
static bool is_range(const polytile_domain *domain, int dim, int64_t lo, int64_t hi) {
    const polytile_range *range = &domain->range[dim];
    return CHECK_EQUAL(range->lo, lo) && CHECK_EQUAL(range->hi, hi) && CHECK_EQUAL(range->step, 1);
}

TEST_CASE(ApiDomain, OfExtentsBeginsAtZero) {
    const polytile_domain domain = polytile_domain_from_extents(2, (int64_t[]){4, 5});
    CHECK_EQUAL(domain.n_dims, 2);
    is_range(&domain, 0, 0, 3);
    is_range(&domain, 1, 0, 4);
}

TEST_CASE(ApiDomain, OfBoundsHasBothEnds) {
    const polytile_domain domain =
        polytile_domain_from_bounds(2, (int64_t[]){-1, 2}, (int64_t[]){7, 2});
    CHECK_EQUAL(domain.n_dims, 2);
    is_range(&domain, 0, -1, 7);
    is_range(&domain, 1, 2, 2);
}

TEST_CASE(ApiDomain, OfAnInteriorLacksABorder) {
    const polytile_domain domain = polytile_domain_from_interior(2, 2, (int64_t[]){8, 9});
    CHECK_EQUAL(domain.n_dims, 2);
    is_range(&domain, 0, 2, 5);
    is_range(&domain, 1, 2, 6);
}

TEST_CASE(ApiDomain, ThatIsEmptyEndsBeforeItBegins) {
    const polytile_domain extents = polytile_domain_from_extents(1, (int64_t[]){0});
    const polytile_domain interior = polytile_domain_from_interior(3, 1, (int64_t[]){4});
    is_range(&extents, 0, 0, -1);
    is_range(&interior, 0, 3, 0);
}

static int64_t n_points(const polytile_domain *domain) {
    int64_t n = 1;
    for (int d = 0; d < domain->n_dims; d++)
        n *= domain->range[d].hi - domain->range[d].lo + 1;
    return n;
}

TEST_CASE(ApiDomain, IsWrittenWhereItIsUsed) {
    CHECK_EQUAL(n_points(POLYTILE_EXTENTS(3)), 3);
    CHECK_EQUAL(n_points(POLYTILE_EXTENTS(3, 4, 5)), 60);
    CHECK_EQUAL(n_points(POLYTILE_INTERIOR(1, 3, 4)), 2);
    CHECK_EQUAL(n_points(POLYTILE_EXTENTS(1, 1, 1, 1, 1, 1, 1, 9)), 9);
}

TEST_CASE(ApiDomain, WrittenWhereItIsUsedLastsAsLongAsTheBlock) {
    const polytile_domain *interior = POLYTILE_INTERIOR(1, 10, 20);
    CHECK_EQUAL(interior->n_dims, 2);
    is_range(interior, 0, 1, 8);
    is_range(interior, 1, 1, 18);
}
