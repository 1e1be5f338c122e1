#include <gtest/gtest.h>

#include <thread>
#include <vector>

extern "C" {
#include "base/bell.h"
}

namespace {

TEST(Bell, ARingBeforeTheWaitIsHeard) {
    pti_bell bell;
    pti_bell_create(&bell);
    const int64_t n_before = pti_bell_count(&bell);
    pti_bell_ring(&bell);
    pti_bell_wait(&bell, n_before);
    EXPECT_EQ(pti_bell_count(&bell), n_before + 1);
    pti_bell_destroy(&bell);
}

TEST(Bell, WhoWaitsIsWokenByAnyOfThoseThatRing) {
    constexpr int n_threads = 4, n_each = 200;
    pti_bell bell;
    pti_bell_create(&bell);
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++)
        threads.emplace_back([&bell] {
            for (int k = 0; k < n_each; k++)
                pti_bell_ring(&bell);
        });
    for (int64_t heard = 0; heard < n_threads * n_each; heard = pti_bell_count(&bell))
        pti_bell_wait(&bell, heard);
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(pti_bell_count(&bell), n_threads * n_each);
    pti_bell_destroy(&bell);
}

} // namespace
