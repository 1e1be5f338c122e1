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
                            "cyclic(64)", "weighted(3,1)", "weighted" (by measured speed) or a name
                            of polytile_layout_register(); NULL: as the policy chooses; of devices
                            "pool" is an old name of the policy "guided" */
    const char *policy; /* who runs which rows of a launch: "equal", "equal(node)", "weighted(3,1)",
                           "weighted", "self(4)", "self(4,4,1)", "guided" or a registered one; NULL:
                           owners compute if there is a layout, else "guided" for devices that are
                           different, and "equal" for others. docs/policies.md says when it deals
                           out rows */
    int64_t launches_per_exchange; /* at most, computing borders twice; 0: chosen, 1: never twice */
    int64_t reserved[4];           /* zeros */
} polytile_share_options;

#endif
