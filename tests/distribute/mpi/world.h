#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_WORLD_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_WORLD_H

#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

/* What tests on several ranks share. */

/* Of the leak sanitizer, where there is one. */
extern "C" {
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));
}

/** Start MPI, whose plug-ins leak; that is not looked for. Where TEST_MPI_LEVEL is
 * serialized, slots call it, too. */
inline void world_begin(int *argc, char ***argv) {
    const char *asked = std::getenv("TEST_MPI_LEVEL");
    const bool is_serialized = asked != nullptr && std::string(asked) == "serialized";
    int level = MPI_THREAD_SINGLE;
    if (__lsan_disable != nullptr)
        __lsan_disable();
    MPI_Init_thread(argc, argv, is_serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED,
                    &level);
    if (__lsan_enable != nullptr)
        __lsan_enable();
}

inline int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/** Wait without taking a core from the other ranks. */
inline void world_wait(MPI_Request *request) {
    for (int is_done = 0; !is_done; usleep(20))
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
}

/** The largest of all ranks' values; nobody returns before all have called. */
inline int world_most(int value) {
    int most = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    world_wait(&request);
    return most;
}

/** The seed of rank 0's, so that all ranks draw the same. */
inline uint64_t world_seed(const char *test) {
    uint64_t seed = world_rank() == 0 ? test_seed(test) : 0;
    MPI_Request request;
    MPI_Ibcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    world_wait(&request);
    return seed;
}

#endif
