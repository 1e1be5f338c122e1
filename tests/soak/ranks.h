#ifndef POLYTILE_TESTS_SOAK_RANKS_H
#define POLYTILE_TESTS_SOAK_RANKS_H

#include <cstdint>

/* The ranks of a soak: one without MPI (hosts.cc), or all of a communicator (mpi.cc), which run the
 * same programs together. */

void ranks_begin(int *n_arguments, char ***arguments);
void ranks_end();
/** The number of this one; 0 reports. */
int ranks_number();
/** The largest of all ranks' values. */
int64_t ranks_most(int64_t value);

#endif
