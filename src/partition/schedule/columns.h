#ifndef POLYTILE_PARTITION_SCHEDULE_COLUMNS_H
#define POLYTILE_PARTITION_SCHEDULE_COLUMNS_H

#include "access/footprint/instance.h"

/*
 * A second cut of launches that are interleaved in place, across their slabs.
 *
 * A thread of a launch has a coordinate, its index plus the launch's offset; column c has those
 * with
 *
 *     begin + c * width  <=  index + offset(launch)  <  begin + (c + 1) * width
 *
 * The part of a slab that lies in one column is a tile. It runs its operations in their order, and
 * after the tiles before it: of the slab before in its own column, and of its own slab in the
 * column before. So columns run at once, each a little behind the one before.
 *
 * The result is that of the operations in order if, of two threads that conflict, the earlier
 * launch's is in the same column or an earlier one: prove/column_program.h.
 *
 * Source  Wolfe, "More iteration space tiling", 1989; Wonnacott, "Using time skewing to eliminate
 *         idle time due to memory bandwidth and network limitations", 2000.
 */
typedef struct pti_columns {
    int64_t n; /* 0: launches are not cut a second time */
    int64_t width;
    int64_t begin;   /* the least coordinate of a thread */
    int *index;      /* of each launch, along which it is cut; owned, as below */
    int64_t *offset; /* of each launch */
} pti_columns;

/** Find the threads of a box of a launch that are in a column; false if there are none. */
bool pti_columns_threads(const pti_columns *columns, int launch, int64_t column,
                         const polytile_domain *box, polytile_domain *threads);

/** Return how many operations of a slab are a tile at most, where n_workers workers take columns. A
 * column has about two tiles for each of them if there are as many operations: no more columns than
 * a column has tiles run at once. */
int64_t pti_columns_tile_ops(int64_t n_ops, int64_t n_workers);

/** Make columns of n_launches launches; false when memory runs out. pti_columns_free() frees them
 * in both cases. */
bool pti_columns_make(int n_launches, pti_columns *columns);

/** Copy columns of n_launches launches; false when memory runs out. pti_columns_free() frees the
 * copy in both cases. */
bool pti_columns_copy(const pti_columns *from, int n_launches, pti_columns *to);

void pti_columns_free(pti_columns *columns);

#endif
