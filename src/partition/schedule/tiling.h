#ifndef POLYTILE_PARTITION_SCHEDULE_TILING_H
#define POLYTILE_PARTITION_SCHEDULE_TILING_H

#include "access/footprint/instance.h"

/*
 * Several launches that run as one, tile by tile, with threads that are run again.
 *
 * A tile is a box of threads. It loads what it needs into memory of its own, runs its part of every
 * launch there, one after the other, and stores its own threads' elements at the end. Its part of a
 * launch is longer than the tile by a margin, so that it computes the borders that later launches
 * read; neighbours compute these, too. Tiles know nothing of one another, and run in any order or
 * at once.
 *
 * Source  Ding and He, "A ghost cell expansion method for reducing communications", 2001;
 *         Krishnamoorthy et al., "Effective automatic parallelization of stencil computations",
 *         2007 (overlapped tiling).
 */

/** How many threads longer than the tile its part of a launch is, along each index. */
typedef struct pti_margin {
    int64_t before[POLYTILE_MAX_DIMS];
    int64_t after[POLYTILE_MAX_DIMS];
} pti_margin;

typedef struct pti_tiling {
    int n_launches;
    const pti_call *call;    /* in their order, with as many indices each; borrowed */
    int n_arrays;            /* that the calls' lists are about */
    polytile_domain threads; /* around those of all launches, cut into tiles from lo on */
    unsigned rounds;         /* bit k: tiles' parts go round the launches' threads along index k */
    bool is_part; /* these are some of the threads, of which alone it is asked what tiles do */
    int64_t tile[POLYTILE_MAX_DIMS]; /* threads of a tile along each index; the last have fewer */
    pti_margin *margin;              /* of each launch; owned, as all below */
    /** Whether what launches write of each array is stored. What they write of other arrays is
     * lost; the rest of these stays. */
    bool *is_stored;
    bool is_apart; /* what is stored is stored elsewhere than where anything is loaded */
} pti_tiling;

/** The most arrays that tiles store: those whose contents later launches need. */
enum { PTI_TILE_MOST_STORED = 3 };

/** Memory aside in which tiles store an array, laid out as its own. */
typedef struct pti_tile_aside {
    int array;
    int64_t offset_bytes; /* in the arena; negative: there is none at present */
    int64_t placement;    /* of a slab: the schedule's, of this memory */
} pti_tile_aside;

/**
 * Launches of a schedule that a device may run as one, tile by tile, or one after the other.
 *
 * Their operations follow one another, and begin when all that any of them waits for is done. Of
 * the arrays that they write some are stored; of what they write of the others nothing is known
 * after the last of them.
 *
 * One kernel must not store where its tiles load. If an array is both loaded and stored, launches
 * run in two parts, of as many launches each: the first one stores aside, and the second one loads
 * from there and stores where the arrays are. Without memory aside they run one by one.
 *
 * Where launches have fewer threads from one to the next, as those of a member of a group have,
 * tiles store what the last one writes, and the others' elements around that are lost, too.
 *
 * Those of a slab are parts of launches: each slab of these launches has its own, and a device runs
 * all of a schedule or none. As one they store what the last launch has in the slab, and nothing of
 * the other arrays, which stay as they were before the first launch for all later slabs. Where they
 * store an array that they load, groups of launches store aside and where the arrays are in turn.
 */
typedef struct pti_tiles {
    int64_t first_op; /* of the schedule */
    int64_t n_ops;
    int first_launch;
    int n_launches; /* that follow one another, each with all of its superblocks, or with one */
    int64_t tile[POLYTILE_MAX_DIMS];
    pti_margin margin_per_launch; /* how much longer a launch's margin is than the next one's; the
                                     last has none */
    unsigned rounds; /* bit d: arrays are periodic along dimension d, and tiles go round them; a
                        tile with its border is no longer than they are */
    int n_stored;
    int stored[PTI_TILE_MOST_STORED];           /* the arrays that are stored */
    int n_aside;                                /* 0: all launches are one part; so they are where
                                                   tiles go round */
    pti_tile_aside aside[PTI_TILE_MOST_STORED]; /* what the first of two parts stores; of a slab,
                                                   which is one part: what it stores there, or */
    bool is_from_aside; /* what it loads from there, and stores where the arrays are */
    bool is_of_slab;
    polytile_domain
        own; /* threads of the last launch, whose elements are stored, cut into tiles from lo
                            on; of a slab perhaps empty: nothing is run */
    bool is_of_ring; /* the slab has threads in both halves of a ring, and own are the lower ones */
    polytile_domain opposite; /* the upper ones, cut into tiles in the same way */
} pti_tiles;

/** The arrays of launches that alternate between two, and touch no others. */
enum { PTI_TILE_IMAGES = 2 };

/** The tiles that a device runs. */
typedef struct pti_tile_room {
    int64_t image_bytes; /* for a tile of one array with its border, if there are PTI_TILE_IMAGES
                            arrays; 0: it runs none */
    int64_t n_columns;   /* of a tile with its border */
    int64_t n_tiles;     /* that fill the device */
} pti_tile_room;

/** Return whether indices of a set, bit k for index k, have one. */
static inline bool pti_goes_round(unsigned rounds, int index) {
    return (rounds >> index & 1) != 0;
}

/** Return how many kernels run the launches, of as many launches each. */
static inline int pti_tiles_n_parts(const pti_tiles *tiles) {
    return tiles->n_aside > 0 && !tiles->is_of_slab ? 2 : 1;
}

/** Return whether the memory aside that the launches need is there. */
bool pti_tiles_are_placed(const pti_tiles *tiles);

/** Return whether an array is stored where it is. */
bool pti_tiles_store(const pti_tiles *tiles, int array);

/** Return the memory aside of an array; NULL: it has none. */
const pti_tile_aside *pti_tiles_find_aside(const pti_tiles *tiles, int array);

/** Return how many tiles there are along an index. */
int64_t pti_tiling_count(const pti_tiling *tiling, int dim);

/** Return the threads of a tile. Shapes  position: along each index, from 0. */
polytile_domain pti_tiling_own(const pti_tiling *tiling, const int64_t *position);

/** Whether a launch's kernel runs in tiles: in none, in those within the ends of arrays, or also in
 * those that go round periodic ones. */
typedef enum pti_tile_kernel {
    PTI_TILES_NONE,
    PTI_TILES_WITHIN,
    PTI_TILES_ROUND,
} pti_tile_kernel;

/** Tiles go round along two indices at most. */
enum { PTI_TILING_ROUNDS = 2, PTI_TILING_PARTS = 4 };

/** Find a tile's part of a launch: disjoint boxes of threads, one unless tiles go round; none if it
 * is empty. Returns how many they are. */
int pti_tiling_parts(const pti_tiling *tiling, const int64_t *position, int launch,
                     polytile_domain parts[PTI_TILING_PARTS]);

/** Find the threads around a box of them that are longer by a margin, as parts of all, round which
 * they may go. Returns how many parts they are. */
int pti_parts_around(const polytile_domain *box, const pti_margin *margin,
                     const polytile_domain *all, unsigned rounds,
                     polytile_domain parts[PTI_TILING_PARTS]);

/** Return the threads that are stored on one side of a ring, or all of them as the first side. */
static inline const polytile_domain *pti_tiles_own(const pti_tiles *tiles, int side) {
    return side == 0 ? &tiles->own : &tiles->opposite;
}

/** Return how many sides tiles have. */
static inline int pti_tiles_n_sides(const pti_tiles *tiles) {
    return tiles->is_of_ring ? 2 : 1;
}

/** Return the multiple of a periodic array's extent that lies next to the middle of an interval of
 * offsets: without it they are those of the neighbours that they stand for. */
int64_t pti_wrap_offset(int64_t lo, int64_t hi, int64_t extent);

void pti_tiling_free(pti_tiling *tiling);

#endif
