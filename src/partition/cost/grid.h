#ifndef POLYTILE_PARTITION_COST_GRID_H
#define POLYTILE_PARTITION_COST_GRID_H

#include "access/footprint/instance.h"

/** The launch domain cut into blocks; those at the upper ends may be clipped. */
typedef struct pti_grid {
    polytile_domain threads;
    int64_t block[POLYTILE_MAX_DIMS];    /* threads */
    int64_t n_blocks[POLYTILE_MAX_DIMS]; /* blocks */
} pti_grid;

/** The shape of one block. */
extern const int64_t pti_one_block[POLYTILE_MAX_DIMS];

pti_grid pti_grid_of(const polytile_domain *threads, const int64_t *block);

/** Return the threads of the box of blocks first .. first + shape - 1, clipped to the domain. */
polytile_domain pti_grid_box(const pti_grid *grid, const int64_t *first, const int64_t *shape);

/** Return the threads along a dimension of the superblock at a position, in superblocks of a shape
 * in blocks. */
polytile_range pti_grid_range(const pti_grid *grid, int64_t shape, int64_t position, int d);

/** Return the threads of the superblock at a position, in superblocks of a shape in blocks. */
polytile_domain pti_grid_superblock(const pti_grid *grid, const int64_t *shape,
                                    const int64_t *position);

/** Return the number of superblocks of a shape along a dimension. */
int64_t pti_grid_quotient(const pti_grid *grid, const int64_t *shape, int d);

/** Return the number of superblocks of a shape; INT64_MAX if it exceeds 64 bits. */
int64_t pti_grid_n_superblocks(const pti_grid *grid, const int64_t *shape);

/** Find the default block: 256 threads, 32 along the last index, clipped to the domain. */
void pti_grid_default_block(const polytile_domain *threads, int64_t *block);

/** Halve the largest extent of a block (the last index last); false if it is one thread. */
bool pti_grid_halve_block(int n_dims, int64_t *block);

#endif
