#ifndef POLYTILE_DISTRIBUTE_MPI_HOST_SHARE_H
#define POLYTILE_DISTRIBUTE_MPI_HOST_SHARE_H

#include "base/context.h"

#include <mpi.h>

/**
 * How many cores of its machine a rank has for itself: one core that k ranks may run on is 1/k of a
 * core to each of them. At least 1. Collective.
 *
 * Errors  DEVICE, of MPI.
 */
polytile_status pti_mpi_share_cores(polytile_context *ctx, MPI_Comm comm, int *n_cores);

#endif
