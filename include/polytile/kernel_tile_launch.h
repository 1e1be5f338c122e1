#ifndef POLYTILE_KERNEL_TILE_LAUNCH_H
#define POLYTILE_KERNEL_TILE_LAUNCH_H

/*
 * What a tile kernel gets, one that POLYTILE_KERNEL makes of a body and that runs several launches
 * as one (kernel_tiles.h). Programs need none of this.
 *
 * Launches have one body. Its views are roles, numbered as the body has them: from launch to
 * launch the arrays change roles, and come back to the first ones after n_phases launches.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Columns of a tile, with its border; the threads of a thread block; how many arrays launches
 * have at most; how many launches there are at most; and the bytes of a launch's parameters. */
enum {
    POLYTILE_TILE_COLUMNS = 128,
    POLYTILE_TILE_THREADS = 512,
    POLYTILE_TILE_ARRAYS = 4,
    POLYTILE_TILE_LAUNCHES = 15,
    POLYTILE_TILE_PARAMETER_BYTES = 64
};

/** Indices from lo to hi, inclusive, of rows and columns. */
typedef struct polytile_tile_box {
    int64_t lo[2], hi[2];
} polytile_tile_box;

/** Element [i, j] is at (char *)origin + i * row_bytes + j times its bytes, modulo 2^64. */
typedef struct polytile_tile_memory {
    void *origin;
    int64_t row_bytes;
} polytile_tile_memory;

/** An array, and what tiles load of it, with their borders, and store. */
typedef struct polytile_tile_array {
    polytile_tile_memory kept;  /* from here they load what no launch writes, */
    polytile_tile_memory begun; /* and from here what launches write, if is_loaded */
    polytile_tile_memory made;  /* here they store what launches wrote, if is_stored */
    polytile_tile_box resident; /* of kept and begun */
    polytile_tile_memory
        beyond; /* from here they load all that is not there, where they go round: */
    polytile_tile_box resident_beyond; /* of it; empty: nothing */
    int32_t is_loaded, is_stored;
} polytile_tile_array;

/** What a view of a body tells of its array. */
typedef struct polytile_tile_role {
    polytile_tile_box resident, whole;
    int32_t array; /* which one has the role */
} polytile_tile_role;

/**
 * Launches that a tile kernel runs as one.
 *
 * Tiles lie side by side from the first thread of `own` on, the last index along x. One has
 * n_launches * (before + after) fewer own rows and columns than it loads. What launches wrote last
 * of an array is stored for the threads in own.
 *
 * Where arrays are periodic, `round` has their indices, and tiles go on beyond these at the other
 * end: threads have no ends there. A tile is no longer than the array.
 */
typedef struct polytile_tiles {
    polytile_tile_box threads; /* of each launch */
    polytile_tile_box own;
    polytile_tile_box round;
    int32_t n_launches; /* at most POLYTILE_TILE_LAUNCHES */
    int32_t n_rows;     /* of a tile with its border */
    int32_t before[2];  /* how many elements before its own a thread reads, along each index */
    int32_t after[2];
    int32_t n_arrays, n_phases; /* at most POLYTILE_TILE_ARRAYS */
    polytile_tile_array array[POLYTILE_TILE_ARRAYS];
    polytile_tile_role role[POLYTILE_TILE_ARRAYS][POLYTILE_TILE_ARRAYS]; /* [phase][view] */
} polytile_tiles;

#ifdef __cplusplus
}
#endif

#endif
