#ifndef POLYTILE_DISTRIBUTE_MPI_CALLS_H
#define POLYTILE_DISTRIBUTE_MPI_CALLS_H

#include "base/context.h"

#include <mpi.h>

/* Calls of MPI: what failed as an error of the library, and waiting. */

/** Errors: DEVICE, with the call and MPI's text. */
polytile_status pti_mpi_check(polytile_context *ctx, const char *call, int code);

/** Leave the current function through its `done:` label when a call of MPI fails. */
#define PTI_MPI_TRY(ctx, call) PTI_TRY(pti_mpi_check(ctx, #call, call))

/**
 * Wait for requests that have been started; those that are not active are done.
 *
 * The thread sleeps between looks, so that others compute meanwhile: ranks may be more than cores.
 */
polytile_status pti_mpi_wait(polytile_context *ctx, int n_requests, MPI_Request *requests);

#endif
