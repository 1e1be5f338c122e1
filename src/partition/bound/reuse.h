#ifndef POLYTILE_PARTITION_BOUND_REUSE_H
#define POLYTILE_PARTITION_BOUND_REUSE_H

#include "access/footprint/instance.h"

/* Launches that use elements many times: how much of that reuse one memory can serve. */

/** A section as a projection: threads that differ in a named index touch different elements. */
typedef struct pti_projection {
    int operand;
    unsigned indices; /* bit k: names index k; indices of one value are left out */
    double n_hidden;  /* elements of one thread, in dimensions that no index moves */
    double n_threads; /* values of the named indices */
    double element_bytes;
    bool starts; /* may start on the device, without an upload */
} pti_projection;

enum { PTI_MAX_PROJECTIONS = 64 };

/** Find the sections that are projections, up to the maximum. Returns their number. */
int pti_projections_find(const pti_instance *instance, pti_projection *projections);

/** A formula's answer: uploads of the operands, together with started_bytes, are at least this. */
typedef struct pti_reuse {
    int n_operands; /* 0: not recognised */
    int operand[3];
    double bytes;
    double started_bytes;
} pti_reuse;

/**
 * Bound three arrays that each name all but one of three index sets.
 *
 * Source  Loomis and Whitney 1949; Irony, Toledo and Tiskin 2004; Smith et al. 2019.
 */
pti_reuse pti_reuse_of_triple(const pti_instance *instance, const pti_projection *const *projection,
                              double limit_bytes);

/** Bound two arrays of which each element meets all of the other's. */
pti_reuse pti_reuse_of_pair(const pti_instance *instance, const pti_projection *const *projection,
                            double limit_bytes);

#endif
