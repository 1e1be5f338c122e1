#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_FAULTS_FAILING_MPI_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_FAULTS_FAILING_MPI_H

#include <cstdint>
#include <string>

/* The functions of MPI that the library calls, in this program's own hands: the n-th call of a
 * rank, or of all, returns an error. What does not is MPI's own, by its PMPI_ names. */

/** Let the n-th call from now on of those that a rank makes for itself fail on the calling rank.
 * Calls that communicate do their work before, since the other side waits for it. */
void mpi_fail_alone(int64_t n);

/** The same, but the call does nothing: what is sent or awaited by it never comes. */
void mpi_lose_alone(int64_t n);

/** Let the n-th call from now on of those that all ranks make together fail on the calling rank,
 * which is to be done on all: none does its work. Nobody could tell the others that such a call
 * failed on one rank alone: after an error MPI does not say what state it is in. */
void mpi_fail_together(int64_t n);

/** The call that failed; "": none yet. */
const char *mpi_get_failed();

/** Let no call fail any more. Returns the call that failed; "": none. */
std::string mpi_stop_failing();

#endif
