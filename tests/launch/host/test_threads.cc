#include <cstdlib>
#include <gtest/gtest.h>
#include <omp.h>
#include <string>

extern "C" {
#include "launch/host/host.h"
}

namespace {

/* How many threads OpenMP starts if nobody says it, then if the program does. */
TEST(HostThreads, OnlyADefaultNumberIsLowered) {
    const char *set = std::getenv("OMP_NUM_THREADS");
    const std::string kept = set == nullptr ? "" : set;
    const int before = omp_get_max_threads(), n_procs = omp_get_num_procs();
    unsetenv("OMP_NUM_THREADS");
    omp_set_num_threads(n_procs);
    EXPECT_EQ(pti_host_lower_threads(1), n_procs);
    EXPECT_EQ(omp_get_max_threads(), 1);
    omp_set_num_threads(n_procs + 3);
    EXPECT_EQ(pti_host_lower_threads(1), n_procs + 3);
    EXPECT_EQ(omp_get_max_threads(), n_procs + 3);
    setenv("OMP_NUM_THREADS", "7", 1);
    omp_set_num_threads(n_procs);
    pti_host_lower_threads(1);
    EXPECT_EQ(omp_get_max_threads(), n_procs);
    if (set == nullptr)
        unsetenv("OMP_NUM_THREADS");
    else
        setenv("OMP_NUM_THREADS", kept.c_str(), 1);
    omp_set_num_threads(before);
}

} // namespace
