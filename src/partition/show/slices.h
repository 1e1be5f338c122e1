#ifndef POLYTILE_PARTITION_SHOW_SLICES_H
#define POLYTILE_PARTITION_SHOW_SLICES_H

#include "partition/schedule/schedule.h"

/* A launch domain of any number of dimensions as planar slices. */

enum { PTI_MOST_SLICES = 9 };

/**
 * Which two dimensions are drawn, and where the others are cut.
 *
 * Space   row_dim and col_dim are drawn whole (row_dim -1 when there is one dimension). Slice k
 *         shows the superblocks that contain at[k] in slice_dim (-1: one slice) and fixed[d] in the
 *         other dimensions.
 */
typedef struct pti_slices {
    int row_dim;
    int col_dim;
    int slice_dim;
    int n_slices;
    int64_t n_cuts[POLYTILE_MAX_DIMS]; /* distinct starts of superblocks a dimension */
    int64_t n_layers;                  /* starts along slice_dim, of which n_slices are drawn */
    polytile_range at[PTI_MOST_SLICES];
    polytile_range fixed[POLYTILE_MAX_DIMS];
} pti_slices;

/** Choose slices that show the chosen superblock. False when memory runs out. */
bool pti_slices_choose(const pti_schedule *schedule, int64_t chosen, pti_slices *slices);

/** Whether a superblock is drawn in a slice. */
bool pti_slices_have(const pti_slices *slices, int slice, const polytile_domain *superblock);

#endif
