#ifndef POLYTILE_DISTRIBUTE_MPI_CALLS_H
#define POLYTILE_DISTRIBUTE_MPI_CALLS_H

#include "base/context.h"

#include <mpi.h>

/* Calls of MPI: failures as errors of the library, and waiting. */

/** A text of MPI, by value. */
typedef struct pti_mpi_text {
    char text[MPI_MAX_ERROR_STRING + 1];
} pti_mpi_text;

/** MPI's text of an error; empty if it has none. */
pti_mpi_text pti_mpi_text_of(int code);

/** Return whether MPI is up; after MPI_Finalize() communicators and windows are gone. */
bool pti_mpi_is_up(void);

/** Check that MPI and a communicator can be used for what has threads of its own, "a queue".
 * Errors: INVALID. */
polytile_status pti_mpi_check_use(polytile_context *ctx, MPI_Comm comm, const char *what);

/** Check a call of MPI. Errors: DEVICE, with the call and MPI's text. */
polytile_status pti_mpi_check(polytile_context *ctx, const char *call, int code);

/** Go to the function's `done:` label if a call of MPI fails. */
#define PTI_MPI_TRY(ctx, call) PTI_TRY(pti_mpi_check(ctx, #call, call))

/**
 * Wait for started requests; inactive ones are done.
 *
 * The thread sleeps between looks, so that others compute: there may be more ranks than cores.
 */
polytile_status pti_mpi_wait(polytile_context *ctx, int n_requests, MPI_Request *requests);

#endif
