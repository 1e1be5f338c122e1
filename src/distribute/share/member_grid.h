#ifndef POLYTILE_DISTRIBUTE_SHARE_MEMBER_GRID_H
#define POLYTILE_DISTRIBUTE_SHARE_MEMBER_GRID_H

#include <polytile/domain.h>
#include <stdbool.h>

/* The members of a queue (devices of one process, or ranks) as points of a grid, in C order. */

/** A grid by its extents. */
typedef struct pti_member_grid {
    int n_dims;
    int extent[POLYTILE_MAX_DIMS];
} pti_member_grid;

/** The product of the extents. */
int pti_member_grid_count(const pti_member_grid *grid);

/** Where a member stands, one coordinate a dimension. */
void pti_member_grid_locate(const pti_member_grid *grid, int member, int *coordinate);

/** The member at a place. */
int pti_member_grid_at(const pti_member_grid *grid, const int *coordinate);

/** Go on to the next place, in C order, of a box of the grid; after the last one false, at the
 * first again. */
bool pti_member_grid_next(const pti_member_grid *grid, const int *first, const int *last,
                          int *coordinate);

/** Return the grid of n_members members whose extents are as close to each other as can be, the
 * largest first; as MPI_Dims_create() makes it (MPI 4.0, section 8.5.2). */
pti_member_grid pti_member_grid_balanced(int n_members, int n_dims);

/** The balanced grid of the most dimensions of a domain, the longest ones, that leaves every member
 * 8 indices or more along each; of all dimensions if there is none. */
pti_member_grid pti_member_grid_for(int n_members, const polytile_domain *domain);

/** A grid from a text such as "4x2"; false if it is none. */
bool pti_member_grid_parse(const char *text, pti_member_grid *grid);

#endif
