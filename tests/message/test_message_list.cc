#include "message/team_launch.h"
#include "support/environment.h"

#include <polytile/kernel.h>

#include <chrono>
#include <thread>

extern "C" {
#include "distribute/exchange/superstep.h"
}

/* Slots of one launch on several devices, all of which are the host. */

namespace {

POLYTILE_KERNEL(doze, (i), (int32_t, A, 2)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    PT_AT(A, i, 0) += 1;
}

POLYTILE_KERNEL(around, (i), (const int32_t, x, 2), (int32_t, y, 2)) {
    PT_AT(y, i, 0) += PT_AT(x, i > 0 ? i - 1 : i, 0);
}

/* The first slot adds all. */
POLYTILE_TEAM_KERNEL(tally, (s), (const int32_t, A, 2), (int32_t, S, 1)) {
    for (int i = 0; s == 0 && i < pt_ranks(); i++)
        PT_AT(S, 0) += PT_AT(A, i, 0);
}

POLYTILE_KERNEL(add, (i), (int32_t, A, 2)) {
    PT_AT(A, i, 0) += 1;
}

TEST(MessageList, WhatEndsALaunchIsNamed) {
    expect_endings("host,host", near_err, near_meet);
    expect_endings("host,host(memory=1MiB)", near_err, near_meet);
}

TEST(MessageList, SlotsMeetWhateverTheLayout) {
    for (const char *layout : {"block", "cyclic(1)", "cyclic(2)", "weighted(1,2,1)"})
        for (int n_slots : {1, 2, 3, 7}) {
            TeamLaunch team("host,host,host", layout, n_slots);
            ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
            team.expect_meets(near_meet);
            team.expect_meets(near_meet);
        }
}

TEST(MessageList, ThePoliciesThatDealOutRowsLeaveSlotsToTheirOwners) {
    for (const char *devices : {"host,host(memory=1MiB)", "host,host"}) {
        TeamLaunch team(devices, nullptr, 5);
        team.expect_meets(near_meet);
    }
}

TEST(MessageList, SlotsOfTwoIndicesAreAtTheirPlaces) {
    expect_places("host,host", "block", near_place);
    expect_places("host,host,host", "cyclic(1)", near_place);
    expect_places("host,host,host", "cyclic(2)", near_place);
    expect_places("host(memory=1MiB),host", "weighted(3,1)", near_place);
}

TEST(MessageList, ArraysMayLieWithTheDevicesAlone) {
    for (const char *devices : {"host,host", "host(memory=1MiB),host", "host,host(memory=1MiB)"})
        expect_internal_rows(devices, "block", 5, near_meet, near_echo);
    expect_internal_rows("host,host", "block(dim=0)", 3, near_meet, near_echo);
}

TEST(MessageList, OneSlotIsOnOneOfTheDevices) {
    TeamLaunch team("host,host", "block", 1);
    ASSERT_EQ(team.launch("sum[s]: inout A[s, :]", near_sum), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    EXPECT_EQ(team.data[2047], 2047);
}

/* All slots are with the first device, and so are checked against its memory alone. */
TEST(MessageList, SlotsThatReduceNeedRoomWhereTheyRun) {
    const int64_t extents[] = {1};
    TeamLaunch team("host(memory=1MiB),host(memory=16KiB)", "block(dim=0)", 16);
    polytile_array *sum = nullptr;
    ASSERT_EQ(polytile_queue_create_array(team.queue, "S", POLYTILE_I32, 1, extents, &sum),
              POLYTILE_OK);
    ASSERT_EQ(team.launch_on({team.array, sum}, "tally[s]: in A[:, :]; sum S[0]", tally_kernel),
              POLYTILE_OK)
        << polytile_last_error(team.ctx);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
}

TEST(MessageList, SlotsThatLieApartAreRefusedOnADeviceWithMemoryOfItsOwn) {
    TeamLaunch team("host,host(memory=1MiB)", "cyclic(1)", 6);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_UNSUPPORTED);
    EXPECT_NE(team.text.find("meet: the 3 slots of host(memory=1MiB) lie apart, in 3 places"),
              std::string::npos)
        << team.text;
}

TEST(MessageList, TheProgramTakesPart) {
    for (const char *layout : {"block", "cyclic(1)"})
        for (int n : {0, 1, 1000, 1025, 2048}) {
            TeamLaunch team("host,host", layout, 5);
            ASSERT_EQ(team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]", near_echo,
                                  {polytile_parameter_signed("n", n),
                                   polytile_parameter_signed("rounds", 3)}),
                      POLYTILE_OK);
            ASSERT_EQ(team.talk(n, 3), POLYTILE_OK) << team.text;
            EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
            for (size_t k = 0; k < team.data.size(); k++) {
                const int column = static_cast<int>(k % TeamLaunch::n_columns);
                ASSERT_EQ(team.data[k], column < n ? 1 + 3 * (1 + column) : 1) << n << ", " << k;
            }
        }
}

/* Launches before and behind one whose slots speak to the program, and two of those. */
TEST(MessageList, MessagesGoToTheNewestLaunch) {
    TeamLaunch team("host,host", "block", 4);
    const char *echo = "echo[s](i32 n, i64 rounds): inout A[s, :]";
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    ASSERT_EQ(
        team.launch(echo, near_echo,
                    {polytile_parameter_signed("n", 1), polytile_parameter_signed("rounds", 2)}),
        POLYTILE_OK);
    ASSERT_EQ(team.talk(1, 2), POLYTILE_OK) << team.text;
    ASSERT_EQ(
        team.launch(echo, near_echo,
                    {polytile_parameter_signed("n", 1), polytile_parameter_signed("rounds", 1)}),
        POLYTILE_OK);
    ASSERT_EQ(team.talk(1, 1), POLYTILE_OK) << team.text;
    ASSERT_EQ(team.launch("sum[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
}

/* A queue that has recorded as many launches as it can runs them. */
TEST(MessageList, TheProgramSpeaksToTheLaunchThatFillsTheList) {
    TeamLaunch team("host,host", "block(dim=0)", 2);
    polytile_kernel *add = nullptr;
    ASSERT_EQ(polytile_kernel_create(team.ctx, "add[i]: inout A[i, :]", &add_kernel, &add),
              POLYTILE_OK);
    for (int k = 1; k < PTI_GROUP_LAUNCHES; k++)
        ASSERT_EQ(polytile_queue_launch(team.queue, add, &team.slots, 1, &team.array, nullptr),
                  POLYTILE_OK);
    for (int k = 0; k < 2; k++) {
        ASSERT_EQ(team.launch(
                      "echo[s](i32 n, i64 rounds): inout A[s, :]", near_echo,
                      {polytile_parameter_signed("n", 1), polytile_parameter_signed("rounds", 1)}),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        ASSERT_EQ(team.talk(1, 1), POLYTILE_OK) << team.text;
    }
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    EXPECT_EQ(team.data[0], PTI_GROUP_LAUNCHES + 2);
}

/* After a failure that is not reported yet launches do not run: the program's calls say so. */
TEST(MessageList, TheProgramSpeaksToNoOlderLaunchThanTheNewest) {
    TeamLaunch team("host,host", "block(dim=0)", 2);
    int32_t number = 5;
    const std::vector<polytile_parameter> once = {polytile_parameter_signed("n", 1),
                                                  polytile_parameter_signed("rounds", 1)};
    const char *echo = "echo[s](i32 n, i64 rounds): inout A[s, :]";
    ASSERT_EQ(team.launch(echo, near_echo, once), POLYTILE_OK);
    ASSERT_EQ(polytile_message_recv(team.queue, &number, 4, PT_ANY, 1, nullptr), POLYTILE_OK);
    ASSERT_EQ(team.launch("last[s](i32 n, i64 rounds): inout A[s, :]", near_echo, once),
              POLYTILE_OK);
    for (int call = 0; call < 2; call++) {
        EXPECT_EQ(call == 0 ? polytile_message_recv(team.queue, &number, 4, PT_ANY, 1, nullptr)
                            : polytile_message_send(team.queue, &number, 4, 0, 2),
                  POLYTILE_INVALID);
        EXPECT_EQ(std::string(polytile_last_error(team.ctx)),
                  "last: the launch did not run; the next wait says why");
    }
    EXPECT_EQ(team.wait(), POLYTILE_DEADLOCK) << team.text;
    EXPECT_EQ(team.text.find("echo: DEADLOCK"), 0U) << team.text;
    team.expect_meets(near_meet);
}

TEST(MessageList, AProgramThatOnlyWaitsIsInTheDeadlock) {
    TeamLaunch team("host,host", "block", 2);
    ASSERT_EQ(
        team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]", near_echo,
                    {polytile_parameter_signed("n", 1), polytile_parameter_signed("rounds", 1)}),
        POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_DEADLOCK) << team.text;
    EXPECT_NE(team.text.find("the program waits for the queue"), std::string::npos) << team.text;
    team.expect_meets(near_meet);
}

TEST(MessageList, AnArrayThatIsAttachedWaitsForSlotsThatRun) {
    TeamLaunch team("host,host", "block", 3);
    ASSERT_EQ(
        team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]", near_echo,
                    {polytile_parameter_signed("n", 1), polytile_parameter_signed("rounds", 1)}),
        POLYTILE_OK);
    ASSERT_EQ(team.talk(1, 1), POLYTILE_OK) << team.text;
    std::vector<int32_t> more(10);
    const int64_t extents[] = {10};
    polytile_array *other = nullptr;
    ASSERT_EQ(polytile_array_wrap(team.ctx, "B", POLYTILE_I32, 1, extents, more.data(), &other),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(team.queue, 1, &other), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    team.expect_meets(near_meet);
}

/* A member fetches an array that it needs more of, while launches before wait: it runs those of
 * team kernels in the order in which the other member does. */
TEST(MessageList, MembersRunTeamKernelsInTheSameOrder) {
    const int64_t extents[] = {12, TeamLaunch::n_columns};
    TeamLaunch team("host,host", "block(dim=0)", 12);
    polytile_array *array[3];
    for (polytile_array *&made : array)
        ASSERT_EQ(polytile_queue_create_array(team.queue, "X", POLYTILE_I32, 2, extents, &made),
                  POLYTILE_OK);
    for (polytile_array *of : array)
        ASSERT_EQ(team.launch_on({of}, "add[i]: inout A[i, :]", add_kernel), POLYTILE_OK);
    ASSERT_EQ(team.wait(), POLYTILE_OK) << team.text;
    ASSERT_EQ(team.launch_on({array[0]}, "doze[i]: inout A[i, :]", doze_kernel), POLYTILE_OK);
    for (int k : {1, 2})
        ASSERT_EQ(team.launch_on({array[k]}, "meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    ASSERT_EQ(team.launch_on({array[2], array[0]}, "around[i]: in x[i-4:i+4, :]; inout y[i, :]",
                             around_kernel),
              POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
}

/* Rows come from the other member; an ordinary launch would begin with the others meanwhile. */
TEST(MessageList, ThePlanOfSlotsThatReceiveRowsHolds) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const char *devices : {"host,host", "host(memory=1MiB),host"}) {
        TeamLaunch team(devices, "block(dim=0)", 16);
        ASSERT_EQ(team.launch("add[i]: inout A[i, :]", add_kernel), POLYTILE_OK);
        team.slots = *POLYTILE_EXTENTS(10);
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
        EXPECT_EQ(team.wait(), POLYTILE_OK) << devices << ": " << team.text;
    }
}

TEST(MessageList, ACancelledLaunchEndsOnAllDevices) {
    TeamLaunch team("host,host", "block", 2);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    polytile_queue_cancel(team.queue);
    EXPECT_EQ(team.wait(), POLYTILE_CANCELLED) << team.text;
    team.expect_meets(near_meet);
}

} // namespace
