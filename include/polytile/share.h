#ifndef POLYTILE_SHARE_H
#define POLYTILE_SHARE_H

#include <stdint.h>

/** How the members of a queue, devices or ranks, share arrays and launches. Zeros are the defaults,
 * and so is NULL in place of the whole. */
typedef struct polytile_share_options {
    const char *grid;   /* of members, as "4x2", for arrays of as many dimensions; NULL: of devices
                           balanced; of ranks as MPI_Dims_create() makes it for the dimensions of an
                           array that leave every rank 8 indices or more, short ones whole */
    const char *layout; /* of arrays over the grid: "block" (also NULL), "block(dim=0)",
                           "cyclic(64)", "weighted(3,1)" or "weighted" (by measured speed); of
                           devices also "pool", where a device takes the next chunk of a launch when
                           it is done with one */
    int64_t launches_per_exchange; /* at most, computing borders twice; 0: chosen, 1: never twice */
    int64_t reserved[4];           /* zeros */
} polytile_share_options;

#endif
