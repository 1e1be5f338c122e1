#include "distribute/share/ownership.h"

#include "distribute/share/registered.h"
#include <stddef.h>
#include <string.h>

static const pti_distribution blocks = {.kind = &pti_distribution_block, .only_dim = -1};

static pti_member_grid grid_along(int dim, int n_members, int n_dims) {
    pti_member_grid grid = {.n_dims = n_dims};
    for (int d = 0; d < n_dims; d++)
        grid.extent[d] = d == dim ? n_members : 1;
    return grid;
}

/* Drop or add dimensions of extent 1; false where a dropped one has another extent. */
static bool resize_grid(const pti_member_grid *given, int n_dims, pti_member_grid *grid) {
    *grid = (pti_member_grid){.n_dims = n_dims};
    for (int d = 0; d < n_dims; d++)
        grid->extent[d] = d < given->n_dims ? given->extent[d] : 1;
    return pti_member_grid_count(grid) == pti_member_grid_count(given);
}

static int first_cut(const pti_member_grid *grid) {
    int d = 0;
    while (d + 1 < grid->n_dims && grid->extent[d] == 1)
        d++;
    return d;
}

static pti_member_grid choose_grid(const polytile_domain *domain, int n_members,
                                   const pti_member_grid *given,
                                   const pti_distribution *distribution) {
    pti_member_grid grid;
    int n_dims = domain->n_dims, dim = distribution->only_dim;
    if (dim >= 0)
        return grid_along(dim < n_dims ? dim : n_dims - 1, n_members, n_dims);
    if (given != NULL && resize_grid(given, n_dims, &grid) &&
        pti_member_grid_count(&grid) == n_members)
        return grid;
    if (distribution->kind->is_of_first)
        return grid_along(0, n_members, n_dims);
    return pti_member_grid_for(n_members, domain);
}

polytile_status pti_ownership_check(polytile_context *ctx, int n_members,
                                    const pti_member_grid *given,
                                    const pti_distribution *distribution) {
    int n_given = given == NULL ? n_members : pti_member_grid_count(given);
    int n_parts = given == NULL ? n_members : given->extent[first_cut(given)];
    if (n_given != n_members)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "the grid has %d members, but the queue has %d; give one whose extents "
                        "multiply to %d",
                        n_given, n_members, n_members);
    if (distribution->n_weights != 0 && distribution->n_weights != n_parts)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "weighted: %d weights are given for %d parts; give one for each part",
                        distribution->n_weights, n_parts);
    return POLYTILE_OK;
}

/* An array that the given grid does not cut has a part for each member: those with the same
 * coordinate, which lie side by side, share its weight. */
static pti_distribution share_weights(const pti_distribution *distribution,
                                      const pti_member_grid *grid) {
    pti_distribution shared = *distribution;
    int n_parts = grid->extent[first_cut(grid)];
    if (shared.n_weights > 0 && n_parts % shared.n_weights == 0)
        shared.coordinates_per_weight = n_parts / shared.n_weights;
    return shared;
}

pti_ownership pti_ownership_of(const polytile_domain *domain, int n_members,
                               const pti_member_grid *given, const pti_distribution *distribution) {
    pti_member_grid grid = choose_grid(domain, n_members, given, distribution);
    return (pti_ownership){
        .domain = *domain, .grid = grid, .distribution = share_weights(distribution, &grid)};
}

/* How one dimension is divided. */
static const pti_distribution *distribution_of(const pti_ownership *ownership, int dim) {
    bool is_other = ownership->distribution.kind->is_of_first && dim != first_cut(&ownership->grid);
    return is_other ? &blocks : &ownership->distribution;
}

bool pti_ownership_ask(const pti_ownership *ownership) {
    bool is_dealt = true;
    for (int d = 0; d < ownership->domain.n_dims && is_dealt; d++)
        is_dealt = pti_registered_ask(distribution_of(ownership, d), &ownership->domain.range[d],
                                      ownership->grid.extent[d]);
    return is_dealt;
}

int64_t pti_ownership_count(const pti_ownership *ownership, int dim, int coordinate) {
    const pti_distribution *distribution = distribution_of(ownership, dim);
    return distribution->kind->count(distribution, &ownership->domain.range[dim], coordinate,
                                     ownership->grid.extent[dim]);
}

polytile_range pti_ownership_range(const pti_ownership *ownership, int dim, int coordinate,
                                   int64_t k) {
    const pti_distribution *distribution = distribution_of(ownership, dim);
    return distribution->kind->get(distribution, &ownership->domain.range[dim], coordinate,
                                   ownership->grid.extent[dim], k);
}

static bool same_distribution(const pti_distribution *a, const pti_distribution *b) {
    size_t weight_bytes = (size_t)a->n_weights * sizeof *a->weight;
    return a->kind == b->kind && a->block == b->block && a->n_weights == b->n_weights &&
           a->coordinates_per_weight == b->coordinates_per_weight &&
           memcmp(a->weight, b->weight, weight_bytes) == 0 && a->registered == b->registered &&
           strcmp(a->arguments, b->arguments) == 0;
}

bool pti_ownership_agrees(const pti_ownership *a, const pti_ownership *b, int dim) {
    return a->grid.extent[dim] == b->grid.extent[dim] &&
           pti_range_equals(a->domain.range[dim], b->domain.range[dim]) &&
           same_distribution(distribution_of(a, dim), distribution_of(b, dim));
}

bool pti_ownership_is_whole(const pti_ownership *ownership) {
    for (int d = 0; d < ownership->domain.n_dims; d++)
        for (int coordinate = 0; coordinate < ownership->grid.extent[d]; coordinate++)
            if (pti_ownership_count(ownership, d, coordinate) > 1)
                return false;
    return true;
}

/* Return the range around what the members with a coordinate own. */
static polytile_range hull_of_coordinate(const pti_ownership *ownership, int dim, int coordinate) {
    int64_t n_ranges = pti_ownership_count(ownership, dim, coordinate);
    if (n_ranges == 0)
        return pti_range_empty();
    return (polytile_range){pti_ownership_range(ownership, dim, coordinate, 0).lo,
                            pti_ownership_range(ownership, dim, coordinate, n_ranges - 1).hi, 1};
}

bool pti_ownership_find_owners(const pti_ownership *ownership, const polytile_domain *box,
                               int *first, int *last) {
    bool is_owned = !pti_box_is_empty(box);
    for (int d = 0; d < box->n_dims && is_owned; d++) {
        first[d] = ownership->grid.extent[d];
        for (int coordinate = 0; coordinate < ownership->grid.extent[d]; coordinate++) {
            polytile_range own = hull_of_coordinate(ownership, d, coordinate);
            if (own.lo > own.hi || own.lo > box->range[d].hi || own.hi < box->range[d].lo)
                continue;
            first[d] = coordinate < first[d] ? coordinate : first[d];
            last[d] = coordinate;
        }
        is_owned = first[d] < ownership->grid.extent[d];
    }
    return is_owned;
}

/* Append the product of the ranges of dimension dim and those after it; box has those before. */
static void append_products(const pti_ownership *ownership, const int *coordinate, int dim,
                            polytile_domain *box, pti_boxes *owned) {
    if (dim == ownership->domain.n_dims) {
        pti_boxes_append(owned, box);
        return;
    }
    int64_t n_ranges = pti_ownership_count(ownership, dim, coordinate[dim]);
    for (int64_t k = 0; k < n_ranges && !owned->failed; k++) {
        box->range[dim] = pti_ownership_range(ownership, dim, coordinate[dim], k);
        append_products(ownership, coordinate, dim + 1, box, owned);
    }
}

void pti_ownership_boxes(const pti_ownership *ownership, int member, pti_boxes *owned) {
    int coordinate[POLYTILE_MAX_DIMS];
    polytile_domain box = {.n_dims = ownership->domain.n_dims};
    pti_member_grid_locate(&ownership->grid, member, coordinate);
    pti_boxes_clear(owned);
    append_products(ownership, coordinate, 0, &box, owned);
}

polytile_domain pti_ownership_hull(const pti_ownership *ownership, int member) {
    int coordinate[POLYTILE_MAX_DIMS];
    polytile_domain hull = {.n_dims = ownership->domain.n_dims};
    pti_member_grid_locate(&ownership->grid, member, coordinate);
    for (int d = 0; d < hull.n_dims; d++) {
        hull.range[d] = hull_of_coordinate(ownership, d, coordinate[d]);
        if (pti_range_is_empty(hull.range[d]))
            return pti_box_empty(hull.n_dims);
    }
    return hull;
}
