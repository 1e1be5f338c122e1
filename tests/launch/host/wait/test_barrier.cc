#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

extern "C" {
#include "launch/host/wait/barrier.h"
}

namespace {

using Barrier = std::unique_ptr<pti_barrier, decltype(&pti_barrier_destroy)>;

/** What each of n_threads threads does, which share a barrier. */
template <typename Body> void OnThreads(int n_threads, const Body &body) {
    Barrier barrier(pti_barrier_create(n_threads % 2 == 0), pti_barrier_destroy);
    ASSERT_NE(barrier, nullptr);
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++)
        threads.emplace_back([&, t] { body(t, barrier.get()); });
    for (std::thread &thread : threads)
        thread.join();
}

/** Plain numbers, so that a sanitizer sees them unless the barrier orders who reads and writes. */
TEST(Barrier, WhatThreadsWroteBeforeItAllReadBehindIt) {
    constexpr int n_rounds = 300;
    for (int n_threads = 1; n_threads <= 5; n_threads++) {
        std::vector<int> written(static_cast<size_t>(n_threads), -1);
        std::vector<int> n_stale(static_cast<size_t>(n_threads), 0);
        OnThreads(n_threads, [&](int thread, pti_barrier *barrier) {
            for (int round = 0; round < n_rounds; round++) {
                written[static_cast<size_t>(thread)] = round;
                pti_barrier_wait(barrier, n_threads);
                for (int seen : written)
                    n_stale[static_cast<size_t>(thread)] += seen != round;
                pti_barrier_wait(barrier, n_threads);
            }
        });
        EXPECT_EQ(n_stale, std::vector<int>(static_cast<size_t>(n_threads), 0));
    }
}

TEST(Barrier, ThreadsThatFellAsleepGoOnWhenTheLastOneComes) {
    constexpr int n_threads = 3;
    int written = 0;
    std::vector<int> seen(n_threads, -1);
    OnThreads(n_threads, [&](int thread, pti_barrier *barrier) {
        for (int round = 0; round < 3; round++) {
            if (thread == round) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                written = round + 1;
            }
            pti_barrier_wait(barrier, n_threads);
            seen[static_cast<size_t>(thread)] = written;
            pti_barrier_wait(barrier, n_threads);
        }
    });
    EXPECT_EQ(seen, std::vector<int>(n_threads, 3));
}

} // namespace
