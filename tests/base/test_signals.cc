#include <gtest/gtest.h>

#include <pthread.h>

extern "C" {
#include "base/signals.h"
}

namespace {

bool is_blocked(int number) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, number) == 1;
}

TEST(Signals, AreBlockedButForThoseThatAThreadRaisesItself) {
    sigset_t before;
    ASSERT_FALSE(is_blocked(SIGUSR1));
    pti_signals_block(&before);
    for (int number : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF})
        EXPECT_TRUE(is_blocked(number)) << number;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        EXPECT_FALSE(is_blocked(number)) << number;
    pti_signals_restore(&before);
    EXPECT_FALSE(is_blocked(SIGUSR1));
}

/** What the program has blocked stays so. */
TEST(Signals, AreRestoredAsTheyWere) {
    sigset_t own, former, before;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &own, &former);
    pti_signals_block(&before);
    pti_signals_restore(&before);
    EXPECT_TRUE(is_blocked(SIGUSR2));
    EXPECT_FALSE(is_blocked(SIGUSR1));
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

} // namespace
