#ifndef POLYTILE_PARTITION_BOUND_REUSE_H
#define POLYTILE_PARTITION_BOUND_REUSE_H

#include "access/footprint/instance.h"

/* Launches whose elements are used many times: how large a share of that one memory can serve. */

/** A section as a projection: threads that differ in a named index touch different elements, of
 * which each thread touches so many at once. */
typedef struct pti_projection {
    int operand;
    unsigned indices; /* bit k: names index k; indices of one value are left out */
    double n_hidden;  /* elements of one thread, in dimensions that no index moves */
    double n_threads; /* values of the named indices */
    double element_bytes;
    bool starts; /* may start on the device, without an upload */
} pti_projection;

enum { PTI_MAX_PROJECTIONS = 64 };

/** The sections that are projections; others, and those beyond the maximum, are left out. */
int pti_projections_find(const pti_instance *instance, pti_projection *projections);

/** A formula's answer: together with started_bytes, uploads of the operands are at least so much.
 */
typedef struct pti_reuse {
    int n_operands; /* 0: not recognised */
    int operand[3];
    double bytes;
    double started_bytes;
} pti_reuse;

/**
 * Three arrays that each name all but one of three groups of indices.
 *
 * Source  Loomis and Whitney 1949; Irony, Toledo and Tiskin 2004; Smith et al. 2019.
 */
pti_reuse pti_reuse_of_triple(const pti_instance *instance, const pti_projection *const *of,
                              double limit_bytes);

/** Two arrays of which every part meets every part. */
pti_reuse pti_reuse_of_pair(const pti_instance *instance, const pti_projection *const *of,
                            double limit_bytes);

#endif
