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

/* OpenMP's own number is an int, which larger ones are cut to. */
TEST(HostThreads, ANumberTooLargeForAnIntIsKnownAsItWasGiven) {
    const char *set = std::getenv("OMP_NUM_THREADS");
    const std::string kept = set == nullptr ? "" : set;
    const int before = omp_get_max_threads();
    setenv("OMP_NUM_THREADS", "99999999999", 1);
    omp_set_num_threads(static_cast<int>(99999999999 % 4294967296));
    EXPECT_EQ(pti_host_wanted_threads(), 99999999999);
    EXPECT_EQ(pti_host_default_threads(), 1024);
    setenv("OMP_NUM_THREADS", "4294967299", 1);
    omp_set_num_threads(3);
    EXPECT_EQ(pti_host_wanted_threads(), 4294967299);
    omp_set_num_threads(2);
    EXPECT_EQ(pti_host_wanted_threads(), 2) << "the program said so";
    if (set == nullptr)
        unsetenv("OMP_NUM_THREADS");
    else
        setenv("OMP_NUM_THREADS", kept.c_str(), 1);
    omp_set_num_threads(before);
}

} // namespace
