#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

extern "C" {
#include "launch/host/wait/eventcount.h"
}

namespace {

/** Plain numbers, so that a sanitizer sees them unless the count orders who reads and writes. */
TEST(Eventcount, WhoWaitsSeesWhatWasWrittenBefore) {
    constexpr int n_rounds = 2000;
    std::vector<int> written(n_rounds), seen(n_rounds, -1);
    pti_eventcount event;
    pti_eventcount_create(&event, 500);
    std::thread waits([&] {
        for (int round = 0; round < n_rounds; round++) {
            pti_eventcount_await(&event, round + 1);
            seen[static_cast<size_t>(round)] = written[static_cast<size_t>(round)];
        }
    });
    for (int round = 0; round < n_rounds; round++) {
        if (round % 500 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        written[static_cast<size_t>(round)] = round;
        pti_eventcount_advance(&event, round + 1);
    }
    waits.join();
    for (int round = 0; round < n_rounds; round++)
        EXPECT_EQ(seen[static_cast<size_t>(round)], round);
    EXPECT_EQ(pti_eventcount_read(&event), n_rounds);
    pti_eventcount_destroy(&event);
}

double CpuSeconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/** A thread that waits costs other programs next to nothing. */
TEST(Eventcount, WhoWaitsLongLeavesItsCoreToOthers) {
    double waited_s = -1;
    pti_eventcount event;
    pti_eventcount_create(&event, 500);
    std::thread waits([&] {
        const double start_s = CpuSeconds();
        pti_eventcount_await(&event, 1);
        waited_s = CpuSeconds() - start_s;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    pti_eventcount_advance(&event, 1);
    waits.join();
    EXPECT_GE(waited_s, 0);
    EXPECT_LT(waited_s, 0.05);
    pti_eventcount_destroy(&event);
}

TEST(Eventcount, ManyMayWaitForOneNumber) {
    constexpr int n_waiting = 5;
    std::vector<std::thread> threads;
    std::vector<int64_t> seen(n_waiting, 0);
    pti_eventcount event;
    pti_eventcount_create(&event, 500);
    for (int t = 0; t < n_waiting; t++)
        threads.emplace_back([&, t] {
            pti_eventcount_await(&event, t + 1);
            seen[static_cast<size_t>(t)] = pti_eventcount_read(&event);
        });
    for (int t = 0; t < n_waiting; t++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        pti_eventcount_advance(&event, t + 1);
    }
    for (std::thread &thread : threads)
        thread.join();
    for (int t = 0; t < n_waiting; t++)
        EXPECT_GE(seen[static_cast<size_t>(t)], t + 1);
    pti_eventcount_destroy(&event);
}

} // namespace
