#ifndef POLYTILE_TESTS_MESSAGE_TEAM_LAUNCH_H
#define POLYTILE_TESTS_MESSAGE_TEAM_LAUNCH_H

#include "message/near_kernels.h"

#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/** Opens a queue that is shared so. */
using QueueOpener = std::function<polytile_status(
    polytile_context *, const polytile_share_options *, polytile_queue **)>;

/** Launches of near_kernels.h's kernels on a queue over a list of devices, or over ranks, on rows
 * of an array. */
class TeamLaunch {
  public:
    static constexpr int64_t n_columns = 2048;

    TeamLaunch(const char *devices, const char *layout, int n_slots)
        : TeamLaunch(
              [devices](polytile_context *on, const polytile_share_options *share,
                        polytile_queue **made) {
                  return polytile_queue_create_shared(on, devices, share, made);
              },
              layout, n_slots) {}
    TeamLaunch(const QueueOpener &open, const char *layout, int n_slots)
        : slots(*POLYTILE_EXTENTS(n_slots)), data(static_cast<size_t>(n_slots * n_columns), 1) {
        polytile_share_options share = {};
        share.layout = layout;
        polytile_context_create(&ctx);
        opened = open(ctx, &share, &queue);
        attach();
    }
    ~TeamLaunch() { polytile_context_destroy(ctx); }

    /** Attach an array of the data, all 1, that no failed run has written. */
    void attach() {
        const int64_t extents[] = {static_cast<int64_t>(data.size()) / n_columns, n_columns};
        std::fill(data.begin(), data.end(), 1);
        if (array != nullptr)
            polytile_queue_detach(queue, 1, &array);
        polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, extents, data.data(), &array);
        if (opened == POLYTILE_OK)
            opened = polytile_queue_attach(queue, 1, &array);
    }

    polytile_status launch(const char *declaration, const polytile_implementation &implementation,
                           std::vector<polytile_parameter> parameters = {}) {
        return launch_on({array}, declaration, implementation, std::move(parameters));
    }

    polytile_status launch_on(std::vector<polytile_array *> arrays, const char *declaration,
                              const polytile_implementation &implementation,
                              std::vector<polytile_parameter> parameters = {}) {
        polytile_kernel *kernel = nullptr;
        polytile_launch_options options = {};
        options.n_parameters = static_cast<int>(parameters.size());
        options.parameters = parameters.data();
        options.message_timeout_s = timeout_s;
        if (polytile_kernel_create(ctx, declaration, &implementation, &kernel) != POLYTILE_OK)
            return POLYTILE_INTERNAL;
        return polytile_queue_launch(queue, kernel, &slots, static_cast<int>(arrays.size()),
                                     arrays.data(), &options);
    }

    polytile_status wait() {
        const polytile_status status = polytile_queue_wait(queue);
        text = polytile_last_error(ctx);
        return status;
    }

    /** Launch `meet` on fresh rows, which must be right. */
    void expect_meets(const polytile_implementation &meet) {
        const int n_slots = static_cast<int>(data.size() / n_columns);
        attach();
        ASSERT_EQ(launch("meet[s]: inout A[s, :]", meet), POLYTILE_OK) << polytile_last_error(ctx);
        ASSERT_EQ(wait(), POLYTILE_OK) << text;
        ASSERT_EQ(polytile_queue_detach(queue, 1, &array), POLYTILE_OK);
        array = nullptr;
        EXPECT_EQ(data[0], n_slots);
        for (int s = 0; s < n_slots; s++) {
            const int left = (s + n_slots - 1) % n_slots;
            const int32_t *row = &data[static_cast<size_t>(s * n_columns)];
            EXPECT_EQ(row[1], 1) << s;
            EXPECT_EQ(row[1023], 1000 * s + 1023) << s;
            EXPECT_EQ(row[1024], 1000 * left + 1024) << s;
            EXPECT_EQ(row[2047], 1000 * left + 2047) << s;
        }
    }

    /** Answer the messages of `echo`, of n numbers each, to which k + 1 is added at k. */
    polytile_status talk(int n, int rounds) {
        const int n_messages = rounds * static_cast<int>(data.size() / n_columns);
        std::vector<int32_t> message(static_cast<size_t>(n) + 1);
        polytile_status status = POLYTILE_OK;
        for (int k = 0; k < n_messages && status == POLYTILE_OK; k++) {
            pt_status who;
            status = polytile_message_recv(queue, message.data(), 4 * n, PT_ANY, 1, &who);
            for (int w = 0; w < n && status == POLYTILE_OK; w++)
                message[static_cast<size_t>(w)] += 1 + w;
            if (status == POLYTILE_OK)
                status = polytile_message_send(queue, message.data(), 4 * n, who.source, 2);
        }
        text = polytile_last_error(ctx);
        return status;
    }

    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_array *array = nullptr;
    polytile_domain slots;
    std::vector<int32_t> data;
    double timeout_s = 0;
    polytile_status opened;
    std::string text;
};

/** Slots of two indices, from some lower bounds on: each is at its place, whatever device it is on,
 * and no other element is touched. */
inline void expect_places(const char *devices, const char *layout,
                          const polytile_implementation &place) {
    const polytile_domain slots = {2, {{2, 6, 1}, {1, 3, 1}}};
    const int64_t extents[] = {8, 5, 2};
    std::vector<int32_t> data(80, -7);
    polytile_share_options share = {};
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_array *array = nullptr;
    polytile_kernel *kernel = nullptr;
    share.layout = layout;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_queue_create_shared(ctx, devices, &share, &queue), POLYTILE_OK);
    ASSERT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_I32, 3, extents, data.data(), &array),
              POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "place[i, j]: inout A[i, j, :]", &place, &kernel),
              POLYTILE_OK);
    ASSERT_EQ(polytile_queue_attach(queue, 1, &array), POLYTILE_OK);
    ASSERT_EQ(polytile_queue_launch(queue, kernel, &slots, 1, &array, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_queue_detach(queue, 1, &array), POLYTILE_OK) << polytile_last_error(ctx);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 5; j++) {
            const bool is_slot = i >= 2 && i <= 6 && j >= 1 && j <= 3;
            const int rank = (i - 2) * 3 + j - 1, left = (rank + 14) % 15;
            const int32_t *of = &data[static_cast<size_t>((i * 5 + j) * 2)];
            EXPECT_EQ(of[0], is_slot ? rank : -7) << devices << ", " << i << ", " << j;
            EXPECT_EQ(of[1], is_slot ? 100 * (2 + left / 3) + 1 + left % 3 : -7)
                << devices << ", " << i << ", " << j;
        }
    polytile_context_destroy(ctx);
}

/** An array that is only with the devices, whose rows the slots then send to the program. */
inline void expect_internal_rows(const char *devices, const char *layout, int n_slots,
                                 const polytile_implementation &meet,
                                 const polytile_implementation &echo) {
    TeamLaunch team(devices, layout, n_slots);
    const int64_t extents[] = {n_slots, TeamLaunch::n_columns};
    std::vector<int32_t> row(TeamLaunch::n_columns);
    ASSERT_EQ(team.opened, POLYTILE_OK);
    ASSERT_EQ(polytile_queue_detach(team.queue, 1, &team.array), POLYTILE_OK);
    ASSERT_EQ(polytile_queue_create_array(team.queue, "Z", POLYTILE_I32, 2, extents, &team.array),
              POLYTILE_OK);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", meet), POLYTILE_OK);
    ASSERT_EQ(
        team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]", echo,
                    {polytile_parameter_signed("n", 2048), polytile_parameter_signed("rounds", 1)}),
        POLYTILE_OK);
    for (int k = 0; k < n_slots; k++) {
        pt_status who;
        ASSERT_EQ(polytile_message_recv(team.queue, row.data(), 8192, PT_ANY, 1, &who), POLYTILE_OK)
            << polytile_last_error(team.ctx);
        EXPECT_EQ(row[1023], 1000 * who.source + 1023);
        EXPECT_EQ(row[2047], 1000 * ((who.source + n_slots - 1) % n_slots) + 2047);
        ASSERT_EQ(polytile_message_send(team.queue, row.data(), 8192, who.source, 2), POLYTILE_OK);
    }
    EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
    polytile_array_destroy(team.array);
    team.array = nullptr;
}

/** How a deed of `err` ends, and what the text has. */
struct Ending {
    Deed deed;
    polytile_status status;
    const char *texts[2];
};

/** As on one device, but for the put to a slot of another one. */
const Ending endings[] = {
    {RECEIVES_FROM_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"err: DEADLOCK, no slot can go on: slot 0 waits for a message from slot 1, tag 7, since",
      "slot 1 waits for a message from slot 0, tag 7"}},
    {WAITS_FOR_ONE_THAT_RETURNED,
     POLYTILE_DEADLOCK,
     {"slot 0 waits for a message from slot 1, which has returned, any tag", "DEADLOCK"}},
    {SENDS_LONG_TO_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"slot 0 waits until slot 1 receives its 4100 bytes, tag 3", "DEADLOCK"}},
    {WAITS_FOR_A_SIGNAL,
     POLYTILE_DEADLOCK,
     {"slot 0 waits for signal 2, given 1 of 5 times", "1 of 2 slots have returned"}},
    {MISSES_A_BARRIER,
     POLYTILE_DEADLOCK,
     {"slot 1 waits at a barrier, where 1 of 2 slots are", "1 of 2 slots have returned"}},
    {SENDS_TO_NO_RANK, POLYTILE_INVALID, {"err: slot 1", "rank 9, tag 7, 4 bytes"}},
    {SENDS_LESS_THAN_NOTHING, POLYTILE_INVALID, {"slot 1", "negative"}},
    {SENDS_FROM_ELSEWHERE, POLYTILE_INVALID, {"slot 1", "in no array"}},
    {RECEIVES_TOO_LITTLE,
     POLYTILE_INVALID,
     {"slot 1 receives into 4 bytes a message of 8 bytes from slot 0, tag 7", ""}},
    {HAS_TOO_MANY_REQUESTS, POLYTILE_INVALID, {"slot 1", "16 requests"}},
    {PUTS_TO_THE_OTHER,
     POLYTILE_INVALID,
     {"err: slot 1: a put to rank 0", "different devices, and a put reaches linked GPUs alone"}},
    {GIVES_NO_SIGNAL, POLYTILE_INVALID, {"slot 1", "a signal of rank 0, tag 16"}},
    {POLLS_FOR_EVER, POLYTILE_TIMEOUT, {"err: TIMEOUT, nothing went on for 0.3 s", ""}},
};

/** Each deed ends a launch of two slots with its text, and the next launch is well. Where puts
 * reach other devices, that deed is left out. */
inline void expect_endings(const char *devices, const polytile_implementation &err,
                           const polytile_implementation &meet, bool do_puts_reach = false) {
    TeamLaunch team(devices, "block", 2);
    ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
    for (const Ending &row : endings) {
        if (do_puts_reach && row.deed == PUTS_TO_THE_OTHER)
            continue;
        team.attach();
        team.timeout_s = row.status == POLYTILE_TIMEOUT ? 0.3 : 0;
        ASSERT_EQ(team.launch("err[s](i32 deed): inout A[s, :]", err,
                              {polytile_parameter_signed("deed", row.deed)}),
                  POLYTILE_OK)
            << polytile_last_error(team.ctx);
        EXPECT_EQ(team.wait(), row.status) << devices << ", " << row.deed << ": " << team.text;
        for (const char *text : row.texts)
            EXPECT_NE(team.text.find(text), std::string::npos)
                << devices << ", " << row.deed << ": " << team.text << " has not " << text;
        EXPECT_EQ(team.text.find("(null)"), std::string::npos) << devices << ": " << team.text;
        EXPECT_FALSE(polytile_array_is_complete(team.array)) << devices << ", " << row.deed;
        team.expect_meets(meet);
    }
}

#endif
