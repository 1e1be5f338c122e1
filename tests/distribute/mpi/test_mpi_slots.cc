#include "distribute/mpi/slots.h"
#include "distribute/mpi/world.h"
#include "message/random_messages.h"

extern "C" {
#include "message/processes.h"
}
#include <polytile/mpi.h>
#include <unistd.h>

#include <algorithm>

/* Slots of one launch of a team kernel on several ranks. */

namespace {

const char *const layouts[] = {nullptr, "block", "cyclic(1)", "cyclic(2)"};

/* Each rank gets one part more than the one before it. */
std::string weights() {
    std::string text = "weighted(0";
    for (int r = 1; r < world_size(); r++)
        text += "," + std::to_string(r);
    return world_size() == 1 ? "weighted(1)" : text + ")";
}

/** Launch slots that echo n numbers of the program's so many times. */
polytile_status launch_echo(TeamLaunch &team, int64_t n, int64_t rounds) {
    return team.launch(
        "echo[s](i32 n, i64 rounds): inout A[s, :]", near_echo,
        {polytile_parameter_signed("n", n), polytile_parameter_signed("rounds", rounds)});
}

TEST(MpiSlots, SlotsMeetWhateverTheLayout) {
    const std::string weighted = weights();
    for (const char *layout : {layouts[0], layouts[1], layouts[2], layouts[3], weighted.c_str()})
        for (int n_slots : {1, 2, 7}) {
            TeamLaunch team(on_ranks(), layout, n_slots);
            ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
            team.expect_meets(near_meet);
            team.expect_meets(near_meet);
        }
}

/* What a deed of the kernel `err` comes to where its two slots are on two ranks. */
const Ending endings_on_ranks[] = {
    {RECEIVES_FROM_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"err: DEADLOCK, no slot can go on: rank 0 of MPI: slot 0 waits for a message from slot 1, "
      "tag 7, since",
      "rank 1 of MPI: slot 1 waits for a message from slot 0, tag 7"}},
    {WAITS_FOR_ONE_THAT_RETURNED,
     POLYTILE_DEADLOCK,
     {"slot 0 waits for a message from slot 1, which has returned, any tag", "DEADLOCK"}},
    {SENDS_LONG_TO_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"slot 0 waits until slot 1 receives its 4100 bytes, tag 3", "DEADLOCK"}},
    {WAITS_FOR_A_SIGNAL,
     POLYTILE_DEADLOCK,
     {"slot 0 waits for signal 2, given 1 of 5 times", "DEADLOCK"}},
    {MISSES_A_BARRIER,
     POLYTILE_DEADLOCK,
     {"slot 1 waits at a barrier, where 1 of 2 slots are", "DEADLOCK"}},
    {SENDS_TO_NO_RANK, POLYTILE_INVALID, {"rank 1: err: slot 1", "rank 9, tag 7, 4 bytes"}},
    {SENDS_FROM_ELSEWHERE, POLYTILE_INVALID, {"rank 1: err: slot 1", "in no array"}},
    {RECEIVES_TOO_LITTLE,
     POLYTILE_INVALID,
     {"rank 1: err: slot 1 receives into 4 bytes a message of 8 bytes from slot 0, tag 7", ""}},
    {HAS_TOO_MANY_REQUESTS, POLYTILE_INVALID, {"rank 1: err: slot 1", "16 requests"}},
    {PUTS_TO_THE_OTHER,
     POLYTILE_INVALID,
     {"err: slot 1: a put to rank 0", "a put reaches linked GPUs alone"}},
    {GIVES_NO_SIGNAL, POLYTILE_INVALID, {"slot 1", "a signal of rank 0, tag 16"}},
    {POLLS_FOR_EVER, POLYTILE_TIMEOUT, {"err: TIMEOUT, nothing went on for 0.3 s", ""}},
};

/* All ranks get the same error, and the next launch is well. */
TEST(MpiSlots, WhatEndsALaunchIsNamedOnAllRanks) {
    TeamLaunch team(on_ranks(), "block", 2);
    if (world_size() != 2)
        return;
    ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
    for (const Ending &row : endings_on_ranks) {
        team.attach();
        team.timeout_s = row.status == POLYTILE_TIMEOUT ? 0.3 : 0;
        ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", near_err,
                              {polytile_parameter_signed("deed", row.deed)}),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        EXPECT_EQ(team.wait(), row.status) << row.deed << ": " << team.text;
        for (const char *text : row.texts)
            EXPECT_NE(team.text.find(text), std::string::npos)
                << row.deed << ": " << team.text << " has not " << text;
        EXPECT_FALSE(polytile_array_is_complete(team.array)) << row.deed;
        team.expect_meets(near_meet);
    }
}

/* The first slot misses the barrier that all others wait at. */
POLYTILE_TEAM_KERNEL(miss, (s), (int32_t, A, 2)) {
    PT_AT(A, s, 0) = 1;
    (void)(pt_barrier() || (pt_rank() > 0 && pt_barrier()));
}

TEST(MpiSlots, ABarrierThatOneSlotMissesIsNamedWithTheArrivalsOfAllRanks) {
    const int n_slots = 3 * world_size();
    TeamLaunch team(on_ranks(), "block", n_slots);
    ASSERT_EQ(team.launch("miss[s]: inout A[s, :]", miss_kernel), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_DEADLOCK) << team.text;
    EXPECT_NE(team.text.find("slot 1 waits at a barrier, where " + std::to_string(n_slots - 1) +
                             " of " + std::to_string(n_slots) + " slots are"),
              std::string::npos)
        << team.text;
}

/* The program of rank 0 speaks to all slots; the others wait. */

TEST(MpiSlots, TheProgramOfTheFirstRankTakesPart) {
    for (const char *layout : {"block", "cyclic(1)"})
        for (int n : {0, 1, 1000, 1025, 2048}) {
            TeamLaunch team(on_ranks(), layout, 5);
            ASSERT_EQ(launch_echo(team, n, 3), POLYTILE_OK);
            if (world_rank() == 0) {
                ASSERT_EQ(team.talk(n, 3), POLYTILE_OK) << team.text;
            }
            ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK)
                << polytile_last_error(team.ctx);
            team.array = nullptr;
            for (size_t k = 0; k < team.data.size(); k++) {
                const int column = static_cast<int>(k % TeamLaunch::n_columns);
                ASSERT_EQ(team.data[k], column < n ? 1 + 3 * (1 + column) : 1) << n << ", " << k;
            }
        }
}

TEST(MpiSlots, ProgramsOfOtherRanksAreToldToWait) {
    TeamLaunch team(on_ranks(), "block", 3);
    ASSERT_EQ(launch_echo(team, 2, 1), POLYTILE_OK);
    EXPECT_EQ(team.talk(2, 1), world_rank() == 0 ? POLYTILE_OK : POLYTILE_INVALID) << team.text;
    if (world_rank() > 0) {
        EXPECT_NE(
            team.text.find("echo: polytile_message_recv: slots speak to the program of rank 0 "
                           "of MPI, and this one is of rank"),
            std::string::npos)
            << team.text;
    }
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
}

/* The slots wait for a program that waits for the queue. */
TEST(MpiSlots, AProgramThatWaitsForTheQueueIsPartOfADeadlock) {
    TeamLaunch team(on_ranks(), "block", 3);
    ASSERT_EQ(launch_echo(team, 2, 1), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_DEADLOCK) << team.text;
    EXPECT_NE(team.text.find("waits for a message from the program, tag 2"), std::string::npos)
        << team.text;
    team.expect_meets(near_meet);
}

TEST(MpiSlots, AProgramThatWaitsForAMessageInVainIsPartOfADeadlock) {
    TeamLaunch team(on_ranks(), "block", 3);
    int32_t number = 0;
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    ASSERT_EQ(launch_echo(team, 1, 1), POLYTILE_OK);
    if (world_rank() == 0) {
        EXPECT_EQ(polytile_message_recv(team.queue, &number, 4, 2, 77, nullptr), POLYTILE_DEADLOCK);
        EXPECT_NE(std::string(polytile_last_error(team.ctx))
                      .find("the program waits for a message from slot 2, tag 77"),
                  std::string::npos)
            << polytile_last_error(team.ctx);
    }
    EXPECT_EQ(team.wait(), POLYTILE_DEADLOCK) << team.text;
    team.expect_meets(near_meet);
}

/* The program of a rank without slots calls when all others have returned. */
TEST(MpiSlots, AProgramWithoutSlotsIsToldThatTheLaunchIsOver) {
    const std::string weighted = weights();
    TeamLaunch team(on_ranks(), weighted.c_str(), 3);
    std::vector<char> message(8192);
    for (const bool sends : {false, true}) {
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
        if (world_rank() == 0) {
            EXPECT_EQ(sends ? polytile_message_send(team.queue, message.data(), 8192, 2, 77)
                            : polytile_message_recv(team.queue, message.data(), 4, 2, 77, nullptr),
                      POLYTILE_INVALID);
            EXPECT_NE(std::string(polytile_last_error(team.ctx)).find("the launch is over"),
                      std::string::npos)
                << polytile_last_error(team.ctx);
        }
        EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    }
}

/* Rows that slots send to the program last of all: of 64 KiB, which leave in one piece, and of
 * 1 MiB. */

constexpr int64_t n_long = 16384, n_longer = 262144;

/** Launch a kernel on an array of long rows. */
void launch_long(TeamLaunch *team, const char *declaration,
                 const polytile_implementation &implementation, std::vector<int32_t> *rows,
                 polytile_array **array, int64_t n_numbers = n_long) {
    const int64_t n_slots = static_cast<int64_t>(team->data.size()) / TeamLaunch::n_columns;
    const int64_t extents[] = {n_slots, n_numbers};
    rows->assign(static_cast<size_t>(n_slots * n_numbers), -1);
    polytile_array_wrap(team->ctx, "L", POLYTILE_I32, 2, extents, rows->data(), array);
    ASSERT_EQ(polytile_queue_attach(team->queue, 1, array), POLYTILE_OK);
    ASSERT_EQ(team->launch_on({*array}, declaration, implementation), POLYTILE_OK)
        << polytile_last_error(team->ctx);
}

POLYTILE_TEAM_KERNEL(send_last, (s), (int32_t, L, 2)) {
    PT_AT(L, s, 16383) = (int32_t)s;
    if (pt_rank() == pt_ranks() - 1)
        (void)pt_send(&PT_AT(L, s, 0), 65536, PT_PROGRAM, 6);
}

TEST(MpiSlots, TheLastLongMessageToTheProgramArrives) {
    const int n_slots = 2 * world_size();
    std::vector<int32_t> rows, row(n_long);
    TeamLaunch team(on_ranks(), "block", n_slots);
    polytile_array *array = nullptr;
    for (int k = 0; k < 50; k++) {
        launch_long(&team, "send_last[s]: inout L[s, :]", send_last_kernel, &rows, &array);
        if (world_rank() == 0) {
            EXPECT_EQ(polytile_message_recv(team.queue, row.data(), 65536, n_slots - 1, 6, nullptr),
                      POLYTILE_OK)
                << k << ": " << polytile_last_error(team.ctx);
            EXPECT_EQ(row[n_long - 1], n_slots - 1) << k;
        }
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &array), POLYTILE_OK)
            << polytile_last_error(team.ctx);
    }
}

POLYTILE_TEAM_KERNEL(leave_long, (s), (int32_t, L, 2)) {
    PT_AT(L, s, PT_EXTENT(L, 1) - 1) = (int32_t)s;
    (void)pt_sendrecv_replace(&PT_AT(L, s, 0), 4 * PT_EXTENT(L, 1), PT_PROGRAM, PT_PROGRAM, 5,
                              nullptr);
}

/** Have all slots leave a row for the program, which receives some time later each. */
void leave_rows(const char *layout, int64_t n_numbers, useconds_t wait_us) {
    const int n_slots = 2 * world_size();
    const int64_t n_bytes = 4 * n_numbers;
    std::vector<int32_t> rows, row(static_cast<size_t>(n_numbers));
    TeamLaunch team(on_ranks(), layout, n_slots);
    polytile_array *array = nullptr;
    launch_long(&team, "leave_long[s]: inout L[s, :]", leave_long_kernel, &rows, &array, n_numbers);
    for (int s = 0; s < n_slots && world_rank() == 0; s++)
        EXPECT_EQ(polytile_message_send(team.queue, &s, 4, s, 5), POLYTILE_OK)
            << polytile_last_error(team.ctx);
    for (int s = 0; s < n_slots && world_rank() == 0; s++) {
        usleep(wait_us);
        EXPECT_EQ(polytile_message_recv(team.queue, row.data(), n_bytes, s, 5, nullptr),
                  POLYTILE_OK)
            << layout << ", " << n_bytes << " B: " << polytile_last_error(team.ctx);
        EXPECT_EQ(row.back(), s) << layout;
    }
    ASSERT_EQ(polytile_queue_detach(team.queue, 1, &array), POLYTILE_OK)
        << polytile_last_error(team.ctx);
}

/* The slots have returned before the program receives, long before, or with pieces under way. */
TEST(MpiSlots, LongMessagesThatAreKeptForTheProgramOutliveTheirSlots) {
    const std::string weighted = weights();
    for (const char *layout : {"block", weighted.c_str()}) {
        leave_rows(layout, n_long, 50000);
        for (int k = 0; k < 10; k++)
            leave_rows(layout, n_longer, k % 2 == 0 ? 0 : 5000);
    }
}

/* The first half of a row goes to the second half of a row of the slots that other ranks have. */
POLYTILE_TEAM_KERNEL(swap_halves, (s), (int32_t, L, 2)) {
    const int n = pt_ranks(), other = (pt_rank() + n / 2) % n;
    const int64_t half = PT_EXTENT(L, 1) / 2;
    int32_t n_wrong = 0;
    for (int64_t k = 0; k < half; k++)
        PT_AT(L, s, k) = (int32_t)(s * 1000003 + k);
    pt_request request;
    if (pt_irecv(&PT_AT(L, s, half), 4 * half, other, 3, &request) ||
        pt_send(&PT_AT(L, s, 0), 4 * half, other, 3) || pt_wait(&request, 0))
        return;
    for (int64_t k = 0; k < half; k++)
        n_wrong += PT_AT(L, s, half + k) != (int32_t)(other * 1000003 + k);
    PT_AT(L, s, 0) = n_wrong;
    (void)pt_send(&PT_AT(L, s, 0), 4, PT_PROGRAM, 4);
}

/* Rows begin anywhere in their pages: so data go straight from one to another, or in packets. */
TEST(MpiSlots, LongMessagesBetweenHostsArriveWhole) {
    const int n_slots = 2 * world_size();
    for (const int64_t n_numbers : {4098, 32772, 32775, 524288, 524294, 524303}) {
        std::vector<int32_t> rows;
        TeamLaunch team(on_ranks(), "block", n_slots);
        polytile_array *array = nullptr;
        launch_long(&team, "swap_halves[s]: inout L[s, :]", swap_halves_kernel, &rows, &array,
                    n_numbers);
        for (int s = 0; s < n_slots && world_rank() == 0; s++) {
            int32_t n_wrong = -1;
            EXPECT_EQ(polytile_message_recv(team.queue, &n_wrong, 4, s, 4, nullptr), POLYTILE_OK)
                << polytile_last_error(team.ctx);
            EXPECT_EQ(n_wrong, 0) << s << ", of " << n_numbers / 2;
        }
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &array), POLYTILE_OK)
            << polytile_last_error(team.ctx);
    }
}

enum { N_AT_ONCE = 6, N_SWAPPED = 1100, N_PART = 1200 };

/* Each slot sends a part of its row to each of six others, and receives six more, at once. */
POLYTILE_TEAM_KERNEL(swap_many, (s), (int32_t, L, 2)) {
    const int n = pt_ranks(), me = pt_rank();
    int32_t n_wrong = 0;
    for (int round = 0; round < 8; round++) {
        pt_request request[2 * N_AT_ONCE];
        for (int k = 0; k < N_AT_ONCE; k++) {
            const int64_t n_bytes = 4 * (N_SWAPPED - 10 * k);
            const int by = 1 + (7 * k + round) % n;
            int32_t *out = &PT_AT(L, s, k * N_PART), *in = &PT_AT(L, s, (N_AT_ONCE + k) * N_PART);
            for (int j = 0; j < n_bytes / 4; j++)
                out[j] = me * 1000003 + round * 1009 + k * 31 + j;
            if (pt_irecv(in, n_bytes, (me + n - by % n) % n, k, &request[k]) ||
                pt_isend(out, n_bytes, (me + by) % n, k, &request[N_AT_ONCE + k]))
                return;
        }
        for (int k = 0; k < 2 * N_AT_ONCE; k++)
            if (pt_wait(&request[k], 0))
                return;
        for (int k = 0; k < N_AT_ONCE; k++) {
            const int from = (me + n - (1 + (7 * k + round) % n) % n) % n;
            for (int j = 0; j < N_SWAPPED - 10 * k; j++)
                n_wrong += PT_AT(L, s, (N_AT_ONCE + k) * N_PART + j) !=
                           from * 1000003 + round * 1009 + k * 31 + j;
        }
    }
    PT_AT(L, s, 0) = n_wrong;
    (void)pt_send(&PT_AT(L, s, 0), 4, PT_PROGRAM, 4);
}

/* So many are under way that MPI is done with data before it is asked for the packet in front. */
TEST(MpiSlots, ManyLongMessagesAtOnceArriveWhole) {
    const int n_slots = 32 * world_size();
    for (int k = 0; k < 3; k++) {
        std::vector<int32_t> rows;
        TeamLaunch team(on_ranks(), "block", n_slots);
        polytile_array *array = nullptr;
        launch_long(&team, "swap_many[s]: inout L[s, :]", swap_many_kernel, &rows, &array,
                    2 * N_AT_ONCE * N_PART);
        for (int s = 0; s < n_slots && world_rank() == 0; s++) {
            int32_t n_wrong = -1;
            EXPECT_EQ(polytile_message_recv(team.queue, &n_wrong, 4, s, 4, nullptr), POLYTILE_OK)
                << polytile_last_error(team.ctx);
            EXPECT_EQ(n_wrong, 0) << s;
        }
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &array), POLYTILE_OK)
            << polytile_last_error(team.ctx);
    }
}

/* One rank cannot run its slots: none of its memory, a launch that is cancelled there. */

TEST(MpiSlots, ARankWithTooLittleMemoryEndsTheLaunchOnAll) {
    const bool is_last = world_rank() == world_size() - 1;
    TeamLaunch team(on_ranks(is_last ? "host(memory=4KiB)" : "host"), "block", 2 * world_size());
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_NO_FIT) << team.text;
    EXPECT_EQ(team.text.find("rank " + std::to_string(world_size() - 1) + ": "), 0u) << team.text;
}

TEST(MpiSlots, ARankThatCancelsEndsTheLaunchOnAll) {
    TeamLaunch team(on_ranks(), "block", 4);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    if (world_rank() == world_size() - 1)
        polytile_queue_cancel(team.queue);
    EXPECT_EQ(team.wait(), POLYTILE_CANCELLED) << team.text;
    team.expect_meets(near_meet);
}

/* The first rank has begun the launch for its program when all hear that another one cancels. */
TEST(MpiSlots, ARankThatCancelsEndsTheLaunchThatAProgramSpeaksTo) {
    TeamLaunch team(on_ranks(), "block", 4);
    int32_t number = 0;
    if (world_size() == 1)
        return;
    ASSERT_EQ(launch_echo(team, 1, 1), POLYTILE_OK);
    if (world_rank() == world_size() - 1)
        polytile_queue_cancel(team.queue);
    if (world_rank() == 0) {
        EXPECT_NE(polytile_message_recv(team.queue, &number, 4, 0, 1, nullptr), POLYTILE_OK);
    }
    EXPECT_EQ(team.wait(), POLYTILE_CANCELLED) << team.text;
    team.expect_meets(near_meet);
}

TEST(MpiSlots, SlotsOfTwoLaunchesFollowOneAnother) {
    TeamLaunch team(on_ranks(), "block", 5);
    for (int k = 0; k < 20; k++)
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    team.expect_meets(near_meet);
}

TEST(MpiSlots, EachRankMayHaveSeveralDevices) {
    for (const char *devices : {"host,host", "host(memory=1MiB),host"})
        for (int n_slots : {1, 4, 9}) {
            TeamLaunch team(on_ranks(devices), "block(dim=0)", n_slots);
            ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
            team.expect_meets(near_meet);
        }
}

/* Collectives, and arrays that no rank has as a whole. */

/* Row s: the sum and the most of all ranks, at slot 1; what slot 2 has; what slot 0 scatters; then
 * what each slot has for s, then at slot 1 what each slot has. */
POLYTILE_TEAM_KERNEL(collect, (s), (int32_t, A, 2)) {
    const int n = pt_ranks();
    int32_t *row = &PT_AT(A, s, 0);
    row[0] = pt_rank() + 1;
    row[3] = pt_rank() == 2 % n ? 77 : 0;
    for (int k = 0; k < n; k++)
        row[100 + k] = 1000 * pt_rank() + k;
    (void)(pt_reduce(&row[0], &row[1], 1, POLYTILE_SUM, 1 % n) ||
           pt_reduce(&row[0], &row[2], 1, POLYTILE_MAX, 1 % n) || pt_bcast(&row[3], 4, 2 % n) ||
           pt_scatter(&row[100], 4, &row[4], 0) || pt_alltoall(&row[100], 4, &row[200]) ||
           pt_gather(&row[0], 4, &row[300], 1 % n) || pt_barrier());
}

TEST(MpiSlots, CollectivesSpanRanks) {
    for (int n : {1, 2, 3, 5, 8}) {
        TeamLaunch team(on_ranks(), n % 2 == 0 ? "cyclic(1)" : "block", n);
        ASSERT_EQ(team.launch("collect[s]: inout A[s, :]", collect_kernel), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK)
            << polytile_last_error(team.ctx);
        team.array = nullptr;
        for (int s = 0; s < n; s++) {
            const int32_t *row = &team.data[static_cast<size_t>(s * TeamLaunch::n_columns)];
            EXPECT_EQ(row[1], s == 1 % n ? n * (n + 1) / 2 : 1) << n << ", " << s;
            EXPECT_EQ(row[2], s == 1 % n ? n : 1) << n << ", " << s;
            EXPECT_EQ(row[3], 77) << n << ", " << s;
            EXPECT_EQ(row[4], s) << n << ", " << s;
            for (int k = 0; k < n; k++) {
                EXPECT_EQ(row[200 + k], 1000 * k + s) << n << ", " << s;
                EXPECT_EQ(row[300 + k], s == 1 % n ? k + 1 : 1) << n << ", " << s;
            }
        }
    }
}

TEST(MpiSlots, ArraysMayBeSpreadOverRanks) {
    const int64_t extents[] = {6, TeamLaunch::n_columns};
    TeamLaunch team(on_ranks(), "block(dim=0)", 6);
    polytile_array *spread = nullptr;
    ASSERT_EQ(
        polytile_mpi_array_create(team.queue, "Z", POLYTILE_I32, 2, extents, nullptr, &spread),
        POLYTILE_OK)
        << polytile_last_error(team.ctx);
    ASSERT_EQ(team.launch_on({spread}, "collect[s]: inout A[s, :]", collect_kernel), POLYTILE_OK);
    std::vector<int32_t> all(team.data.size());
    ASSERT_EQ(polytile_mpi_array_gather(spread, 0, all.data()), POLYTILE_OK)
        << polytile_last_error(team.ctx);
    for (int s = 0; s < 6 && world_rank() == 0; s++)
        EXPECT_EQ(all[static_cast<size_t>(s * TeamLaunch::n_columns + 205)], 5000 + s);
}

POLYTILE_KERNEL(number, (i), (int32_t, B, 1)) {
    PT_AT(B, i) = (int32_t)i;
}

POLYTILE_TEAM_KERNEL(gather_all, (s), (int32_t, B, 1), (int32_t, A, 2)) {
    for (int k = 0; k < 64; k++)
        PT_AT(A, s, 1) += PT_AT(B, k);
}

/* All ranks send what the slots read, also those that have none. */
TEST(MpiSlots, RanksWithoutSlotsSendWhatSlotsRead) {
    for (int n_slots : {1, 2}) {
        std::vector<int32_t> numbers(64);
        TeamLaunch team(on_ranks(), "block", n_slots);
        const int64_t extents[] = {64};
        const polytile_domain slots = team.slots;
        polytile_array *all = nullptr;
        polytile_array_wrap(team.ctx, "B", POLYTILE_I32, 1, extents, numbers.data(), &all);
        ASSERT_EQ(polytile_queue_attach(team.queue, 1, &all), POLYTILE_OK);
        team.slots = *POLYTILE_EXTENTS(64);
        ASSERT_EQ(team.launch_on({all}, "number[i]: out B[i]", number_kernel), POLYTILE_OK)
            << polytile_last_error(team.ctx);
        team.slots = slots;
        ASSERT_EQ(team.launch_on({all, team.array}, "gather_all[s]: in B[:]; inout A[s, :]",
                                 gather_all_kernel),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK)
            << polytile_last_error(team.ctx);
        team.array = nullptr;
        for (int s = 0; s < n_slots; s++)
            EXPECT_EQ(team.data[static_cast<size_t>(s * TeamLaunch::n_columns + 1)], 1 + 2016) << s;
    }
}

/* Time. */

/* The last two slots send each other a number, slowly; all others wait for them. */
POLYTILE_TEAM_KERNEL(chat, (s), (int32_t, A, 2)) {
    const int n = pt_ranks(), last = n - 1, other = pt_rank() == last ? last - 1 : last;
    for (int k = 0; k < 20 && pt_rank() >= last - 1; k++) {
        usleep(50000);
        if (pt_sendrecv_replace(&PT_AT(A, s, 0), 4, other, other, 3, nullptr))
            return;
    }
    (void)pt_barrier();
}

TEST(MpiSlots, WhatGoesOnOnOneRankHoldsBackTheTimeLimitOfOthers) {
    TeamLaunch team(on_ranks(), "block", 2 * world_size());
    team.timeout_s = 0.5;
    ASSERT_EQ(team.launch("chat[s]: inout A[s, :]", chat_kernel), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
}

/* Ranks that do not launch the same. */

TEST(MpiSlots, ARankThatLaunchesMoreWhileAnotherSpeaksIsNamed) {
    TeamLaunch team(on_ranks(), "block", 3);
    int32_t number = 0;
    if (world_size() == 1)
        return;
    ASSERT_EQ(launch_echo(team, 1, 1), POLYTILE_OK);
    if (world_rank() == 0) {
        EXPECT_EQ(polytile_message_recv(team.queue, &number, 4, 0, 1, nullptr), POLYTILE_INVALID);
    } else {
        ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", near_meet), POLYTILE_OK);
    }
    EXPECT_EQ(team.wait(), POLYTILE_INVALID) << team.text;
    EXPECT_NE(team.text.find("rank 1: 2 launches; rank 0: 1 launch"), std::string::npos)
        << team.text;
    team.expect_meets(near_meet);
}

TEST(MpiSlots, ARankThatEndsItsQueueWhileSlotsWaitIsNamed) {
    TeamLaunch team(on_ranks(), "block", 3);
    int32_t number = 0;
    if (world_size() == 1)
        return;
    ASSERT_EQ(launch_echo(team, 1, 1), POLYTILE_OK);
    if (world_rank() > 0) {
        polytile_queue_destroy(team.queue);
        return;
    }
    EXPECT_EQ(polytile_message_recv(team.queue, &number, 4, 0, 1, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(team.wait(), POLYTILE_INVALID) << team.text;
}

/* Random programs: all ranks draw the same. */

/* One program in two speaks to its slots. */
MessageDraws draws_of(uint64_t seed) {
    MessageDraws draws;
    draws.has_program = seed % 2 == 0;
    return draws;
}

std::string run_on_ranks(const MessageProgram &program, const char *layout,
                         polytile_status expected) {
    return run_messages_on(
        program,
        [layout](polytile_context *ctx, polytile_queue **queue) {
            return open_on_ranks(ctx, "host", layout, queue);
        },
        expected, &near_interpret, world_rank() == 0);
}

TEST(MpiSlots, RandomProgramsReceiveWhatMpiSays) {
    const uint64_t first = world_seed("MpiSlots.RandomProgramsReceiveWhatMpiSays");
    for (uint64_t seed = first; seed < first + static_cast<uint64_t>(scaled(60)); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 7);
        const MessageProgram program = draw_messages(random, n_slots, 40, draws_of(seed));
        pti_processes_set_piece(seed % 3 == 0 ? 0 : 1021);
        ASSERT_EQ(run_on_ranks(program, layouts[seed % 4], POLYTILE_OK), "") << "seed " << seed;
    }
    pti_processes_set_piece(0);
}

TEST(MpiSlots, RandomProgramsThatComeToNoEndAreInDeadlock) {
    const uint64_t first = world_seed("MpiSlots.RandomProgramsThatComeToNoEndAreInDeadlock");
    for (uint64_t seed = first; seed < first + static_cast<uint64_t>(scaled(60)); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 5);
        const MessageProgram program = draw_spoiled(random, n_slots, 20, draws_of(seed));
        const polytile_status expected = interpret_messages(program);
        if (expected != POLYTILE_OK) {
            ASSERT_EQ(run_on_ranks(program, layouts[seed % 4], expected), "") << "seed " << seed;
        }
    }
}

} // namespace
