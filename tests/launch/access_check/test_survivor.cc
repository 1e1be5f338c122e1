#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "launch/access_check/survivor.h"
}

namespace {

/** What a body does. */
using Deed = void();

void run_deed(const polytile_domain *, const polytile_view *, void *user) {
    reinterpret_cast<Deed *>(user)();
}

void touch_nothing() {}
void touch_closed_page() {
    static volatile char *const page = static_cast<volatile char *>(
        mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    page[0] = 1;
}
void trap() {
    raise(SIGABRT);
}
void loop() {
    static volatile bool goes_on = true;
    while (goes_on) {
    }
}

/** A body that is run on values of the program, and then on others. */
class Survivor : public testing::Test {
  protected:
    void TearDown() override { pti_survivor_close(&of); }

    void open(Deed *deed) {
        original.host = run_deed;
        original.user = reinterpret_cast<void *>(deed);
        pti_survivor_open(&original, &of);
    }
    bool ends(Deed *deed) {
        open(deed);
        of.is_strange = true;
        of.implementation.host(&threads, nullptr, of.implementation.user);
        const bool has_ended = of.has_ended;
        pti_survivor_close(&of);
        return has_ended;
    }

    polytile_implementation original = {};
    polytile_domain threads = {};
    pti_survivor of = {};
};

TEST_F(Survivor, TellsWhatHasEndedBeforeItReturned) {
    EXPECT_FALSE(ends(touch_nothing));
    for (int t = 0; t < 3; t++) {
        EXPECT_TRUE(ends(touch_closed_page));
        EXPECT_TRUE(ends(trap));
        EXPECT_TRUE(ends(loop));
        EXPECT_FALSE(ends(touch_nothing));
    }
}

TEST_F(Survivor, LeavesHandlersAndMasksAsTheyWere) {
    struct sigaction before = {}, now = {};
    sigset_t mask, mask_now;
    sigaction(SIGSEGV, nullptr, &before);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    ends(touch_closed_page);
    sigaction(SIGSEGV, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_now);
    EXPECT_EQ(now.sa_handler, before.sa_handler);
    EXPECT_EQ(sigismember(&mask_now, SIGSEGV), sigismember(&mask, SIGSEGV));
    EXPECT_EQ(sigismember(&mask_now, SIGXCPU), sigismember(&mask, SIGXCPU));
}

TEST_F(Survivor, WorksWhereTheTimersSignalIsBlocked) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    EXPECT_TRUE(ends(loop));
    EXPECT_TRUE(ends(touch_closed_page));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

class SurvivorDeathTest : public Survivor {};

TEST_F(SurvivorDeathTest, IsNoneOnTheProgramsOwnValues) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            std::signal(SIGSEGV, SIG_DFL);
            open(touch_closed_page);
            of.implementation.host(&threads, nullptr, of.implementation.user);
        },
        testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(
        {
            std::signal(SIGSEGV, [](int) { _exit(7); });
            open(touch_closed_page);
            of.implementation.host(&threads, nullptr, of.implementation.user);
        },
        testing::ExitedWithCode(7), "");
}

} // namespace
