#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "base/crash.h"
}

namespace {

/* Handlers as a program without any has them, whatever the sanitizers set before main(). */
void install_anew() {
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        std::signal(number, SIG_DFL);
    pti_crash_install();
}

/** A place that may not be written: sanitizers look at NULL themselves. */
volatile int *closed_page() {
    return static_cast<volatile int *>(
        mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/** A body that ends as its user says. */
void wild(const polytile_domain *, const polytile_view *, void *user) {
    const int number = *static_cast<int *>(user);
    if (number == SIGSEGV)
        *closed_page() = 1;
    else
        raise(-number);
}

void run_wild(int number, bool own_handler) {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    polytile_device *device = nullptr;
    std::vector<float> memory(100);
    const int64_t extent = 100;
    const polytile_domain domain = polytile_domain_from_extents(1, &extent);
    polytile_implementation body = {};
    body.host = wild;
    body.user = &number;
    install_anew();
    if (own_handler)
        std::signal(SIGSEGV, [](int) { _exit(7); });
    if (polytile_context_create(&ctx) == POLYTILE_OK &&
        polytile_kernel_create(ctx, "wild[i]: inout x[i]", &body, &kernel) == POLYTILE_OK &&
        polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &extent, memory.data(), &array) ==
            POLYTILE_OK &&
        polytile_device_open(ctx, "host(threads=2)", &device) == POLYTILE_OK)
        polytile_run(device, kernel, &domain, polytile_kernel_get_n_arrays(kernel), &array,
                     nullptr);
    std::fprintf(stderr, "%s\n", polytile_last_error(ctx));
    std::_Exit(0);
}

class CrashDeathTest : public testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CrashDeathTest, OfAKernelsBodySaysWhatMayBeWrong) {
    EXPECT_EXIT(run_wild(SIGSEGV, false), testing::KilledBySignal(SIGSEGV),
                "^polytile: wild: ended by SIGSEGV: was something touched that is not declared\\? "
                "POLYTILE_CHECK=access finds it\n$");
}

TEST_F(CrashDeathTest, ThatSomebodyElseRaisedIsNotCommentedOn) {
    EXPECT_EXIT(run_wild(-SIGSEGV, false), testing::KilledBySignal(SIGSEGV), "^$");
    EXPECT_EXIT(run_wild(-SIGFPE, false), testing::KilledBySignal(SIGFPE), "^$");
}

TEST_F(CrashDeathTest, IsLeftToAHandlerOfTheProgram) {
    EXPECT_EXIT(run_wild(SIGSEGV, true), testing::ExitedWithCode(7), "^$");
}

/** Outside of bodies. */
TEST_F(CrashDeathTest, OfTheProgramItselfIsNotCommentedOn) {
    EXPECT_EXIT(
        {
            install_anew();
            *closed_page() = 1;
        },
        testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(Crash, HandlersOfTheProgramAndIgnoredSignalsStand) {
    struct sigaction before = {}, now = {};
    for (auto *handler : {SIG_IGN, +[](int) {}}) {
        struct sigaction own = {};
        own.sa_handler = handler;
        ASSERT_EQ(sigaction(SIGFPE, &own, &before), 0);
        pti_crash_install();
        EXPECT_EQ(sigaction(SIGFPE, &before, &now), 0);
        EXPECT_EQ(now.sa_handler, handler);
    }
}

TEST(Crash, NotesAreOfTheThreadAndNest) {
    const pti_crash_note outer = {"outer", "a"}, inner = {"inner", "b"};
    EXPECT_EQ(pti_crash_enter(&outer), nullptr);
    EXPECT_EQ(pti_crash_enter(&inner), &outer);
    EXPECT_EQ(pti_crash_enter(&outer), &inner);
    EXPECT_EQ(pti_crash_enter(nullptr), &outer);
}

} // namespace
