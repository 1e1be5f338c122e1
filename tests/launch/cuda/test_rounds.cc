#include "launch/cuda/sequences.h"

/* Launchers that are called round by round by the host, on a runtime that needs no GPU. */

namespace {

using namespace sequences;

TEST(CudaRounds, OfAllLanesGoOnSideBySide) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int n_lanes : {2, 3, 4, 8}) {
        FakeWorld world(static_cast<uint64_t>(n_lanes), without_loops());
        Sequences of(&world.cuda, "cuda:0(streams=" + std::to_string(n_lanes) + ")", 23);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_EQ(count_streams(of.launcher), static_cast<size_t>(n_lanes));
        EXPECT_GT(count_changes(of.launcher), 20) << n_lanes;
        world.expect_idle();
    }
}

TEST(CudaRounds, OfADeviceWithoutLanesFollowOneAnother) {
    FakeWorld world(1, without_loops());
    Sequences of(&world.cuda, "cuda:0(streams=1)", 23);
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    of.expect_right();
    EXPECT_EQ(count_streams(of.launcher), 1u);
}

TEST(CudaRounds, RunWithinLittleMemory) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int64_t memory_bytes : {2100, 3000, 4000}) {
        FakeWorld world(static_cast<uint64_t>(memory_bytes), without_loops());
        Sequences of(&world.cuda, "cuda:0(streams=4,memory=" + std::to_string(memory_bytes) + "B)",
                     300);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_GT(count_streams(of.launcher), 1u) << memory_bytes;
        world.expect_idle();
    }
}

/** In a round of the host, in a first one, and in one that is captured. */
TEST(CudaRounds, TellTheSubKernelWhoseLauncherFails) {
    for (const bool has_loops : {false, true})
        for (const int fails_from : {1, 2, 3, 4, 8}) {
            FakeWorld world(1, has_loops ? FakeCuda::Options() : without_loops());
            Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
            of.launcher.fails_from = fails_from;
            EXPECT_EQ(of.run(), POLYTILE_DEVICE);
            EXPECT_NE(of.first_error.find("the launcher returned 7"), std::string::npos)
                << of.first_error;
            of.launcher.fails_from = 0;
            EXPECT_EQ(of.run(), POLYTILE_OK) << of.error();
            of.expect_right();
            world.expect_idle();
        }
}

TEST(CudaRounds, SurviveEveryCallThatFails) {
    expect_every_failing_call_is_survived(without_loops(), scaled(7) == 7 ? 1 : 21);
}

TEST(CudaRounds, OpeningADeviceOfManyStreamsSurvivesEveryCallThatFails) {
    int64_t n = 1;
    for (bool has_failed = true; has_failed; n++) {
        FakeWorld world(static_cast<uint64_t>(n));
        FailingApi failing;
        failing.let_fail(n);
        {
            Session session;
            session.try_to_open("cuda:0(streams=auto)");
            failing.stop();
            EXPECT_EQ(session.status == POLYTILE_OK, session.error().empty());
        }
        world.expect_nothing_taken();
        has_failed = !failing.failed().empty();
    }
    EXPECT_GT(n, 32);
}

TEST(CudaRounds, OfTheHostFollowOneAnother) {
    for (const char *device : {"host(threads=2)", "host(memory=64KiB)"}) {
        Sequences of(nullptr, device, 23);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
    }
}

} // namespace
