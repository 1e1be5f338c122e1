#ifndef POLYTILE_DISTRIBUTE_MPI_HOST_CORES_H
#define POLYTILE_DISTRIBUTE_MPI_HOST_CORES_H

#include "base/context.h"

#include <mpi.h>

/**
 * Find a rank's share of its machine's cores: of a core for k ranks each has 1/k. At least 1.
 * Collective.
 *
 * Errors  DEVICE, of MPI.
 */
polytile_status pti_mpi_share_cores(polytile_context *ctx, MPI_Comm comm, int *n_cores);

#endif
