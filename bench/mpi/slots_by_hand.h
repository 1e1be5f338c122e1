#ifndef BENCH_MPI_SLOTS_BY_HAND_H
#define BENCH_MPI_SLOTS_BY_HAND_H

#include <polytile/implementation.h>

/** What runs on each rank between two messages of MPI. */
#define SLOTS_COPY_DECLARATION "copy[i]: in A[i]; out B[i]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *slots_copy_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
