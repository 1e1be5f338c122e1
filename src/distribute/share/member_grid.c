#include "distribute/share/member_grid.h"

#include "access/set/range.h"

#include <limits.h>
#include <stddef.h>

int pti_member_grid_count(const pti_member_grid *grid) {
    int count = 1;
    for (int d = 0; d < grid->n_dims; d++)
        count *= grid->extent[d];
    return count;
}

void pti_member_grid_locate(const pti_member_grid *grid, int member, int *coordinate) {
    for (int d = grid->n_dims - 1; d >= 0; d--) {
        coordinate[d] = member % grid->extent[d];
        member /= grid->extent[d];
    }
}

int pti_member_grid_at(const pti_member_grid *grid, const int *coordinate) {
    int member = 0;
    for (int d = 0; d < grid->n_dims; d++)
        member = member * grid->extent[d] + coordinate[d];
    return member;
}

bool pti_member_grid_next(const pti_member_grid *grid, const int *first, const int *last,
                          int *coordinate) {
    for (int d = grid->n_dims - 1; d >= 0; d--) {
        if (++coordinate[d] <= last[d])
            return true;
        coordinate[d] = first[d];
    }
    return false;
}

/** Return whether n_dims equal extents hold all members. */
static bool holds_members(int extent, int n_dims, int n_members) {
    int64_t product = 1;
    for (int d = 0; d < n_dims && product < n_members; d++)
        product *= extent;
    return product >= n_members;
}

/* Find the extents of n_dims dimensions, none above `most`, that come first in the order of words:
 * the largest is as small as can be, then the second. False if there are none. */
static bool balance_extents(int n_members, int n_dims, int most, int *extent) {
    if (n_dims == 0)
        return n_members == 1;
    for (int largest = 1; largest <= most && largest <= n_members; largest++) {
        if (n_members % largest != 0 || !holds_members(largest, n_dims, n_members))
            continue;
        *extent = largest;
        if (balance_extents(n_members / largest, n_dims - 1, largest, extent + 1))
            return true;
    }
    return false;
}

pti_member_grid pti_member_grid_balanced(int n_members, int n_dims) {
    pti_member_grid grid = {.n_dims = n_dims};
    balance_extents(n_members, n_dims, n_members, grid.extent);
    return grid;
}

/* A dimension is cut only where each part gets this many indices: not the three of a point in
 * space. */
enum { LEAST_INDICES = 8 };

static bool has_long_parts(const pti_member_grid *grid, const polytile_domain *domain) {
    for (int d = 0; d < grid->n_dims; d++)
        if (grid->extent[d] > 1 &&
            pti_range_count(domain->range[d]) / grid->extent[d] < LEAST_INDICES)
            return false;
    return true;
}

/* Find the dimension with the fewest indices, the last of several, among those still cut. */
static int find_shortest(const polytile_domain *domain, const bool *is_cut) {
    int shortest = -1;
    for (int d = 0; d < domain->n_dims; d++)
        if (is_cut[d] && (shortest < 0 || pti_range_count(domain->range[d]) <=
                                              pti_range_count(domain->range[shortest])))
            shortest = d;
    return shortest;
}

/* Return a grid's extents along the dimensions that are cut, 1 along the others. */
static pti_member_grid spread_extents(const pti_member_grid *grid, int n_dims, const bool *is_cut) {
    pti_member_grid laid = {.n_dims = n_dims};
    const int *next = grid->extent;
    for (int d = 0; d < n_dims; d++)
        laid.extent[d] = is_cut[d] ? *next++ : 1;
    return laid;
}

pti_member_grid pti_member_grid_for(int n_members, const polytile_domain *domain) {
    bool is_cut[POLYTILE_MAX_DIMS];
    for (int d = 0; d < domain->n_dims; d++)
        is_cut[d] = true;
    for (int n_cut = domain->n_dims; n_cut > 0; n_cut--) {
        pti_member_grid balanced = pti_member_grid_balanced(n_members, n_cut);
        pti_member_grid grid = spread_extents(&balanced, domain->n_dims, is_cut);
        if (has_long_parts(&grid, domain))
            return grid;
        is_cut[find_shortest(domain, is_cut)] = false;
    }
    return pti_member_grid_balanced(n_members, domain->n_dims);
}

/* One extent, and the text after it; NULL: there is none. */
static const char *read_extent(const char *text, int *extent) {
    int64_t value = 0;
    const char *digit = text;
    for (; *digit >= '0' && *digit <= '9' && value <= INT_MAX; digit++)
        value = 10 * value + (*digit - '0');
    *extent = (int)value;
    return digit == text || value < 1 || value > INT_MAX ? NULL : digit;
}

bool pti_member_grid_parse(const char *text, pti_member_grid *grid) {
    pti_member_grid read = {0};
    int64_t n_members = 1;
    do {
        if (read.n_dims == POLYTILE_MAX_DIMS)
            return false;
        int *extent = &read.extent[read.n_dims++];
        text = read_extent(text, extent);
        n_members *= text == NULL ? 0 : *extent;
        if (n_members < 1 || n_members > INT_MAX)
            return false;
    } while (*text++ == 'x');
    if (text[-1] != '\0')
        return false;
    *grid = read;
    return true;
}
