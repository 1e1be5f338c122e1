#include "message/cuda/far_kernels.h"
#include "message/random_messages.h"
#include "message/team_launch.h"
#include "support/failing_api.h"
#include "support/random.h"
#include "support/scale.h"

#include <cstring>

extern "C" {
#include "message/slot_memory.h"
}

/* Slots of one launch on several devices, of which some are GPUs that are not there, linked or not.
 */

namespace {

/* Lists of devices, with a layout that leaves the slots of each together. */
const struct {
    const char *devices;
    const char *layout;
} lists[] = {{"cuda:0,host", nullptr},
             {"cuda:0,cuda:1", nullptr},
             {"host,cuda:1,cuda:0", "weighted(1,2,2)"},
             {"cuda:1(memory=4MiB),host(memory=64MiB)", "block"},
             {"cuda:0,cuda:1,host", "weighted(1,0,1)"},
             {"cuda:1,cuda:0,cuda:2", nullptr}};
constexpr int64_t n_lists = sizeof lists / sizeof *lists;

/* One program in two speaks to its slots; puts reach all of them where all are on linked GPUs. */
MessageDraws draws_of(int64_t seed) {
    MessageDraws draws;
    draws.has_program = seed % 2 == 0;
    draws.has_puts = seed % 4 != 0 && !strstr(lists[seed % n_lists].devices, "host");
    return draws;
}

TEST(MessageMembers, SlotsReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(150); seed++) {
        FarWorld world(seed, 3, seed % 4 != 0);
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const int n_slots = 1 + static_cast<int>(random() % 7);
        ASSERT_EQ(run_messages(draw_messages(random, n_slots, 40, draws_of(seed)), list.devices,
                               POLYTILE_OK, &far_interpret.implementation, list.layout),
                  "")
            << "seed " << seed;
        EXPECT_EQ(world.cuda.violations(), "") << "seed " << seed;
        EXPECT_EQ(world.cuda.leaks(), "") << "seed " << seed;
    }
}

TEST(MessageMembers, RingsOfTwoEntriesAreEnough) {
    pti_slot_memory_set_entries(2);
    for (int64_t seed = 1000; seed < 1000 + scaled(60); seed++) {
        FarWorld world(seed, 3, seed % 4 != 0);
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        EXPECT_EQ(
            run_messages(draw_messages(random, 2 + static_cast<int>(seed % 5), 40, draws_of(seed)),
                         list.devices, POLYTILE_OK, &far_interpret.implementation, list.layout),
            "")
            << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
}

TEST(MessageMembers, DeadlocksAcrossDevicesAreFound) {
    int n_dead = 0;
    const int64_t n_seeds = std::max<int64_t>(scaled(150), 30);
    for (int64_t seed = 2000; seed < 2000 + n_seeds; seed++) {
        FarWorld world(seed, 3, seed % 4 != 0);
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const MessageProgram program =
            draw_spoiled(random, 1 + static_cast<int>(random() % 5), 20, draws_of(seed));
        const polytile_status expected = interpret_messages(program);
        n_dead += expected == POLYTILE_DEADLOCK;
        if (expected != POLYTILE_OK) {
            ASSERT_EQ(run_messages(program, list.devices, expected, &far_interpret.implementation,
                                   list.layout),
                      "")
                << "seed " << seed;
        }
    }
    EXPECT_GT(n_dead, 0);
}

TEST(MessageMembers, WhatEndsALaunchIsNamed) {
    const struct {
        const char *devices;
        bool are_linked;
    } rows[] = {{"cuda:0,host", true},
                {"host,cuda:0", true},
                {"cuda:0,cuda:1", true},
                {"cuda:0,cuda:1", false}};
    for (const auto &row : rows) {
        const bool do_puts_reach = row.are_linked && std::string(row.devices) == "cuda:0,cuda:1";
        FarWorld world(7, 2, row.are_linked);
        expect_endings(row.devices, far_err.implementation, far_meet.implementation, do_puts_reach);
        EXPECT_EQ(world.cuda.violations(), "");
        EXPECT_EQ(world.cuda.leaks(), "");
    }
}

TEST(MessageMembers, SlotsThatAGpuDoesNotHoldAreRefusedWithTheNumbers) {
    FarWorld world(1, 2);
    TeamLaunch team("host,cuda:1", "weighted(1,129)", 130);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", far_meet.implementation), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_NO_FIT);
    EXPECT_NE(team.text.find("meet: 129 slots, and cuda:1 holds 128 at once"), std::string::npos)
        << team.text;
}

TEST(MessageMembers, AGpuThatIsListedTwiceIsRefusedHoweverItIsNamed) {
    for (const char *devices : {"cuda:0(memory=1MiB),cuda:0", "cuda,cuda:0", "cuda:1, cuda:01",
                                "host, cuda:0 (memory=4MiB) , cuda"}) {
        FarWorld world(1, 2);
        TeamLaunch team(devices, "block", 3);
        ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", far_meet.implementation), POLYTILE_OK);
        EXPECT_EQ(team.wait(), POLYTILE_UNSUPPORTED) << devices << ": " << team.text;
        EXPECT_NE(team.text.find("twice in the list"), std::string::npos) << team.text;
    }
}

TEST(MessageMembers, SlotsOfTwoIndicesAreAtTheirPlaces) {
    for (const auto &list : lists) {
        FarWorld world(2, 3);
        expect_places(list.devices, list.layout, far_place.implementation);
        EXPECT_EQ(world.cuda.violations(), "");
    }
}

TEST(MessageMembers, ArraysMayLieWithTheDevicesAlone) {
    for (const auto &list : lists) {
        FarWorld world(9, 3);
        expect_internal_rows(list.devices, list.layout, 5, far_meet.implementation,
                             far_echo.implementation);
    }
}

TEST(MessageMembers, TheProgramTakesPart) {
    for (const auto &list : lists)
        for (int n : {0, 1, 9, 1000, 1025, 2048}) {
            FarWorld world(static_cast<uint64_t>(n), 3, n != 9);
            TeamLaunch team(list.devices, list.layout, 4);
            ASSERT_EQ(team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]",
                                  far_echo.implementation,
                                  {polytile_parameter_signed("n", n),
                                   polytile_parameter_signed("rounds", 3)}),
                      POLYTILE_OK)
                << polytile_last_error(team.ctx);
            ASSERT_EQ(team.talk(n, 3), POLYTILE_OK) << team.text;
            ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK)
                << polytile_last_error(team.ctx);
            team.array = nullptr;
            for (size_t k = 0; k < team.data.size(); k++) {
                const int column = static_cast<int>(k % TeamLaunch::n_columns);
                ASSERT_EQ(team.data[k], column < n ? 1 + 3 * (1 + column) : 1) << n << ", " << k;
            }
        }
}

/* Puts and signals to the right; slots of GPUs that are linked put to each other, whether or not
 * there is one on the host, too. */
TEST(MessageMembers, PutsReachTheMemoryOfLinkedGpus) {
    const struct {
        const char *devices;
        const char *layout;
        int n_slots;
    } rows[] = {{"cuda:0,cuda:1", nullptr, 2},
                {"cuda:1,cuda:0", "weighted(2,3)", 5},
                {"cuda:0,cuda:1,cuda:2", nullptr, 9},
                {"cuda:2(memory=4MiB),cuda:0", nullptr, 6},
                {"cuda:0,cuda:1,host", "weighted(2,2,0)", 4}};
    for (const auto &row : rows)
        for (uint64_t seed = 0; seed < 4; seed++) {
            FarWorld world(seed, 3);
            TeamLaunch team(row.devices, row.layout, row.n_slots);
            ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
            ASSERT_EQ(team.launch("sum[s]: inout A[s, :]", far_sum.implementation), POLYTILE_OK)
                << polytile_last_error(team.ctx);
            ASSERT_EQ(team.wait(), POLYTILE_OK) << row.devices << ": " << team.text;
            ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK);
            team.array = nullptr;
            EXPECT_EQ(team.data[0], row.n_slots);
            for (size_t s = 0; s < static_cast<size_t>(row.n_slots); s++)
                EXPECT_EQ(team.data[s * TeamLaunch::n_columns + 2], 1) << row.devices << ", " << s;
            EXPECT_EQ(world.cuda.violations(), "");
        }
}

/* Sections of both arrays begin at row 0 on the first GPU, and apart from one another on the second
 * one, so for some widths their elements with all indices 0 would be at one address there. */
TEST(MessageMembers, PutsReachTheArrayThatTheyName) {
    constexpr int64_t n_slots = 8;
    for (int64_t n_columns = 4; n_columns <= 200; n_columns += 12) {
        FarWorld world(3, 2);
        TeamLaunch team("cuda:0,cuda:1", "block", n_slots);
        std::vector<int32_t> a(static_cast<size_t>(n_slots * n_columns)),
            b(static_cast<size_t>((2 * n_slots + 1) * n_columns), -1);
        for (size_t k = 0; k < a.size(); k++)
            a[k] = 100 + static_cast<int32_t>(k);
        std::vector<int32_t> wanted_a = a, wanted_b = b;
        for (int64_t s = 0; s < n_slots; s++) {
            const int64_t other = (s + n_slots / 2) % n_slots;
            const int32_t put = 100 + static_cast<int32_t>(s * n_columns);
            wanted_a[static_cast<size_t>(other * n_columns + 1)] = put;
            wanted_b[static_cast<size_t>((2 * other + 1) * n_columns)] = put;
        }
        const int64_t of_a[] = {n_slots, n_columns}, of_b[] = {2 * n_slots + 1, n_columns};
        polytile_array *arrays[2];
        polytile_array_wrap(team.ctx, "P", POLYTILE_I32, 2, of_a, a.data(), &arrays[0]);
        polytile_array_wrap(team.ctx, "Q", POLYTILE_I32, 2, of_b, b.data(), &arrays[1]);
        ASSERT_EQ(polytile_queue_attach(team.queue, 2, arrays), POLYTILE_OK);
        ASSERT_EQ(team.launch_on({arrays[0], arrays[1]},
                                 "twin[s]: inout A[s, :], B[2*s+1:2*s+2, :]",
                                 far_twin.implementation),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        ASSERT_EQ(team.wait(), POLYTILE_OK) << n_columns << " columns: " << team.text;
        ASSERT_EQ(polytile_queue_detach(team.queue, 2, arrays), POLYTILE_OK);
        EXPECT_EQ(a, wanted_a) << n_columns << " columns";
        EXPECT_EQ(b, wanted_b) << n_columns << " columns";
        EXPECT_EQ(world.cuda.violations(), "");
    }
}

/* Puts come as soon as slots run, and no upload that is still on its way overwrites them: the first
 * slot's row is late, and the second one puts to it at once. */
TEST(MessageMembers, PutsStayWhereUploadsAreLate) {
    for (uint64_t seed = 0; seed < 24; seed++) {
        FarWorld world(seed, 2, true, 5000);
        TeamLaunch team("cuda:1,cuda:0", "block", 2);
        ASSERT_EQ(team.opened, POLYTILE_OK);
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK);
        team.data[TeamLaunch::n_columns] = 77;
        ASSERT_EQ(polytile_queue_attach(team.queue, 1, &team.array), POLYTILE_OK);
        ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", far_err.implementation,
                              {polytile_parameter_signed("deed", PUTS_TO_THE_OTHER)}),
                  POLYTILE_OK);
        ASSERT_EQ(team.wait(), POLYTILE_OK) << team.text;
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK);
        EXPECT_EQ(team.data[0], 77) << "seed " << seed;
        EXPECT_EQ(world.cuda.violations(), "");
    }
}

/* Signals go through the server then, since a slot of the host gives and gets them, too. */
TEST(MessageMembers, PutsBetweenGpusGoOnBesideSlotsOfTheHost) {
    for (const bool are_linked : {true, false}) {
        FarWorld world(11, 2, are_linked);
        TeamLaunch team("cuda:0,cuda:1,host", "weighted(1,1,1)", 3);
        ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", far_err.implementation,
                              {polytile_parameter_signed("deed", PUTS_TO_THE_OTHER)}),
                  POLYTILE_OK);
        EXPECT_EQ(team.wait(), are_linked ? POLYTILE_OK : POLYTILE_INVALID) << team.text;
        team.expect_meets(far_meet.implementation);
        EXPECT_EQ(world.cuda.violations(), "");
    }
}

/* Long messages between GPUs cross their link once, and not the host's memory. */
TEST(MessageMembers, LongMessagesGoOverTheLink) {
    for (const bool are_linked : {true, false}) {
        FarWorld world(12, 2, are_linked);
        TeamLaunch team("cuda:0,cuda:1", nullptr, 2);
        ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", far_err.implementation,
                              {polytile_parameter_signed("deed", SENDS_LONG_TO_THE_RIGHT)}),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        ASSERT_EQ(team.wait(), POLYTILE_OK) << team.text;
        EXPECT_EQ(world.cuda.link_bytes(0, 1), are_linked ? 4100 : 0);
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK);
        team.array = nullptr;
        for (size_t k = 0; k < TeamLaunch::n_columns; k++)
            ASSERT_EQ(team.data[k + TeamLaunch::n_columns], k < 1025 ? 7 : 1) << k;
    }
}

/* Whichever call fails, the launch ends on all devices or goes on without it, and the next one is
 * well. */
TEST(MessageMembers, EachCallMayFail) {
    const int64_t step = scaled(4) < 4 ? 4 : 1;
    const struct {
        const char *devices;
        bool are_linked;
    } rows[] = {{"cuda:0,host", true}, {"cuda:0,cuda:1", true}, {"cuda:0,cuda:1", false}};
    for (const auto &row : rows) {
        int64_t n = static_cast<int64_t>(test_seed("MessageMembers.EachCallMayFail") % 4) - step;
        int64_t n_failed = 0;
        bool fails = true;
        while (fails) {
            FarWorld world(7, 2, row.are_linked);
            FailingApi api;
            TeamLaunch team(row.devices, "block", 3);
            ASSERT_EQ(team.opened, POLYTILE_OK);
            api.let_fail((n += step) + 1);
            polytile_status status = team.launch("meet[s]: inout A[s, :]", far_meet.implementation);
            if (status == POLYTILE_OK)
                status = team.wait();
            n_failed += status != POLYTILE_OK;
            fails = api.n_left() == 0;
            api.stop();
            team.expect_meets(far_meet.implementation);
            ASSERT_FALSE(testing::Test::HasFailure())
                << row.devices << ", " << n << ": " << api.failed() << ": " << team.text;
        }
        EXPECT_GT(n_failed * step, 12);
    }
}

/* The slots go on until they are told. */
TEST(MessageMembers, AKernelOfWhichNothingIsKnownEndsTheSlotsOfAllDevices) {
    for (const char *call : {"cudaEventQuery", "cudaEventRecord"})
        for (int64_t n = 1; n <= 4; n++) {
            FarWorld world(static_cast<uint64_t>(n), 2);
            FailingApi api;
            TeamLaunch team("cuda:0,cuda:1", "block", 2);
            ASSERT_EQ(team.opened, POLYTILE_OK);
            team.timeout_s = 2;
            ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", far_err.implementation,
                                  {polytile_parameter_signed("deed", SIGNALS_FOR_EVER)}),
                      POLYTILE_OK);
            api.let_fail(n, call, cudaErrorUnknown);
            EXPECT_EQ(team.wait(), POLYTILE_DEVICE) << call << " " << n << ": " << team.text;
            EXPECT_EQ(api.failed(), call);
            api.stop();
            team.expect_meets(far_meet.implementation);
            EXPECT_EQ(world.cuda.violations(), "");
        }
}

TEST(MessageMembers, AKernelThatFaultsEndsTheSlotsOfAllDevices) {
    for (int64_t n : {1, 2}) {
        FarWorld world(3, 2);
        TeamLaunch team("cuda:0,cuda:1", "block", 4);
        world.cuda.let_kernel_fault(n);
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", far_meet.implementation), POLYTILE_OK);
        EXPECT_EQ(team.wait(), POLYTILE_DEVICE) << team.text;
    }
}

} // namespace
