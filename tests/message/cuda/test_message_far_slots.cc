#include "message/cuda/far_kernels.h"
#include "message/random_messages.h"
#include "support/failing_api.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/message.h>
#include <polytile/polytile.h>

extern "C" {
#include "message/slot_memory.h"
}

#include <algorithm>

/* Slots on a GPU that is not there: the code that nvcc compiles for one, run by threads. */

namespace {

constexpr int64_t n_columns = 2048;

/* One program in two speaks to its slots. */
MessageProgram draw(uint64_t seed, int n_most_slots, int n_events) {
    std::mt19937_64 random(seed);
    MessageDraws draws;
    draws.has_program = seed % 2 == 0;
    draws.has_puts = true;
    return draw_messages(random, 1 + static_cast<int>(random() % n_most_slots), n_events, draws);
}

TEST(MessageFar, SlotsReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(150); seed++) {
        FarWorld world(seed);
        ASSERT_EQ(
            run_messages(draw(seed, 6, 40), "cuda:0", POLYTILE_OK, &far_interpret.implementation),
            "")
            << "seed " << seed;
        EXPECT_EQ(world.cuda.violations(), "") << "seed " << seed;
        EXPECT_EQ(world.cuda.leaks(), "") << "seed " << seed;
    }
}

TEST(MessageFar, ARingOfTwoEntriesIsEnough) {
    pti_slot_memory_set_entries(2);
    for (int64_t seed = 1000; seed < 1000 + scaled(80); seed++) {
        FarWorld world(seed);
        EXPECT_EQ(run_messages(draw(seed, 5, 40), "cuda:0(memory=4MiB)", POLYTILE_OK,
                               &far_interpret.implementation),
                  "")
            << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
}

TEST(MessageFar, ProgramsThatComeToNoEndAreInDeadlock) {
    int n_dead = 0, n_runs = 0;
    const int64_t n_seeds = std::max<int64_t>(scaled(150), 30);
    for (int64_t seed = 2000; seed < 2000 + n_seeds; seed++) {
        FarWorld world(seed);
        std::mt19937_64 random(seed);
        MessageDraws draws;
        draws.has_program = seed % 2 == 0;
        draws.has_puts = true;
        const MessageProgram program =
            draw_spoiled(random, 1 + static_cast<int>(random() % 5), 20, draws);
        const polytile_status expected = interpret_messages(program);
        n_runs++;
        n_dead += expected == POLYTILE_DEADLOCK;
        if (expected != POLYTILE_OK) {
            ASSERT_EQ(run_messages(program, "cuda:0", expected, &far_interpret.implementation), "")
                << "seed " << seed;
        }
    }
    EXPECT_GT(4 * n_dead, n_runs);
}

/* A launch of some slots, on rows of A. */
struct Launch {
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    polytile_domain slots;
    std::vector<int32_t> data;
    polytile_parameter parameters[2];
    polytile_launch_options options = {};

    Launch(const char *declaration, const FarKernel &far, int n_slots)
        : slots(*POLYTILE_EXTENTS(n_slots)), data(static_cast<size_t>(n_slots * n_columns), 1) {
        polytile_context_create(&ctx);
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, &far.implementation, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        wrap();
        options.parameters = parameters;
    }
    ~Launch() { polytile_context_destroy(ctx); }

    /** Make an array of the data that no failed run has written. */
    void wrap() {
        const int64_t extents[] = {static_cast<int64_t>(data.size()) / n_columns, n_columns};
        EXPECT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, extents, data.data(), &array),
                  POLYTILE_OK);
    }

    void give(const char *name, int64_t value) {
        parameters[options.n_parameters++] = polytile_parameter_signed(name, value);
    }

    polytile_status run(const char *device_text) {
        polytile_device *device = nullptr;
        const polytile_status opened = polytile_device_open(ctx, device_text, &device);
        if (opened != POLYTILE_OK)
            return opened;
        const polytile_status status = polytile_run(device, kernel, &slots, 1, &array, &options);
        text = polytile_last_error(ctx);
        polytile_device_close(device);
        return status;
    }

    std::string text;
};

TEST(MessageFar, WhatEndsALaunchIsNamed) {
    const struct {
        Deed deed;
        polytile_status status;
        const char *texts[3];
    } rows[] = {
        {RECEIVES_FROM_EACH_OTHER,
         POLYTILE_DEADLOCK,
         {"err: DEADLOCK", "slot 0 waits for a message from slot 1, tag 7, since",
          "slot 1 waits for a message from slot 0, tag 7"}},
        {WAITS_FOR_ONE_THAT_RETURNED,
         POLYTILE_DEADLOCK,
         {"slot 0 waits for a message from slot 1, which has returned, any tag", "DEADLOCK", ""}},
        {SENDS_LONG_TO_EACH_OTHER,
         POLYTILE_DEADLOCK,
         {"slot 0 waits until slot 1 receives its 4100 bytes, tag 3", "DEADLOCK", ""}},
        {WAITS_FOR_A_SIGNAL,
         POLYTILE_DEADLOCK,
         {"slot 0 waits for signal 2, given 1 of 5 times", "1 of 2 slots have returned", ""}},
        {MISSES_A_BARRIER,
         POLYTILE_DEADLOCK,
         {"slot 1 waits at a barrier, where 1 of 2 slots are", "1 of 2 slots have returned", ""}},
        {SENDS_TO_NO_RANK, POLYTILE_INVALID, {"err: slot 1", "rank 9, tag 7, 4 bytes", "0 to 1"}},
        {SENDS_LESS_THAN_NOTHING, POLYTILE_INVALID, {"slot 1", "-4 bytes", "negative"}},
        {SENDS_FROM_ELSEWHERE, POLYTILE_INVALID, {"slot 1", "4 bytes", "in no array"}},
        {RECEIVES_TOO_LITTLE,
         POLYTILE_INVALID,
         {"slot 1 receives into 4 bytes a message of 8 bytes from slot 0, tag 7", "", ""}},
        {HAS_TOO_MANY_REQUESTS, POLYTILE_INVALID, {"slot 1", "16 requests", ""}},
        {PUTS_ELSEWHERE, POLYTILE_INVALID, {"slot 1", "a put to rank 0", "in no array"}},
        {GIVES_NO_SIGNAL, POLYTILE_INVALID, {"slot 1", "a signal of rank 0, tag 16", ""}},
        {POLLS_FOR_EVER, POLYTILE_TIMEOUT, {"err: TIMEOUT, nothing went on for 0.3 s", "", ""}},
    };
    for (const auto &row : rows) {
        FarWorld world(row.deed);
        Launch launch("err[s](i32 deed): inout A[s, :]", far_err, 2);
        launch.give("deed", row.deed);
        launch.options.message_timeout_s = row.status == POLYTILE_TIMEOUT ? 0.3 : 0;
        EXPECT_EQ(launch.run("cuda:0"), row.status) << row.deed << ": " << launch.text;
        for (const char *text : row.texts)
            EXPECT_NE(launch.text.find(text), std::string::npos)
                << row.deed << ": " << launch.text << " has not " << text;
        EXPECT_EQ(world.cuda.violations(), "");
        EXPECT_EQ(world.cuda.leaks(), "");
    }
}

TEST(MessageFar, SlotsThatTheGpuDoesNotHoldAreRefusedWithTheNumbers) {
    FarWorld world(1);
    Launch launch("sum[s]: inout A[s, :]", far_sum, 129);
    EXPECT_EQ(launch.run("cuda:0"), POLYTILE_NO_FIT);
    EXPECT_NE(launch.text.find("sum: 129 slots, and cuda:0 holds 128 at once"), std::string::npos)
        << launch.text;
    EXPECT_EQ(world.cuda.leaks(), "");
}

void expect_sums(const Launch &launch, int n_slots) {
    EXPECT_EQ(launch.data[0], n_slots);
    for (int s = 0; s < n_slots; s++) {
        EXPECT_EQ(launch.data[static_cast<size_t>(s * n_columns + 2)], 1);
        EXPECT_EQ(launch.data[static_cast<size_t>(s * n_columns + 2047)], 1000 * s + 2047);
    }
}

TEST(MessageFar, CollectivesAndOneSidedCallsWork) {
    for (int n_slots : {1, 2, 5, 20}) {
        FarWorld world(n_slots);
        Launch launch("sum[s]: inout A[s, :]", far_sum, n_slots);
        ASSERT_EQ(launch.run("cuda:0"), POLYTILE_OK) << launch.text;
        expect_sums(launch, n_slots);
    }
}

polytile_status talk(Launch *launch, polytile_queue *queue, int n_slots, int n, int rounds) {
    std::vector<int32_t> message(static_cast<size_t>(n) + 1);
    for (int k = 0; k < n_slots * rounds; k++) {
        pt_status who;
        const polytile_status got =
            polytile_message_recv(queue, message.data(), 4 * n, PT_ANY, 1, &who);
        if (got != POLYTILE_OK)
            return got;
        EXPECT_EQ(who.n_bytes, 4 * n);
        for (int w = 0; w < n; w++)
            message[static_cast<size_t>(w)] += 1 + w;
        const polytile_status sent =
            polytile_message_send(queue, message.data(), 4 * n, who.source, 2);
        if (sent != POLYTILE_OK)
            return sent;
    }
    (void)launch;
    return POLYTILE_OK;
}

TEST(MessageFar, TheProgramTakesPart) {
    for (int n : {0, 1, 6, 7, 8, 9, 1000, 1024, 1025, 2048}) {
        FarWorld world(static_cast<uint64_t>(n));
        Launch launch("echo[s](i32 n, i64 rounds): inout A[s, :]", far_echo, 3);
        polytile_queue *queue = nullptr;
        launch.give("n", n);
        launch.give("rounds", 4);
        ASSERT_EQ(polytile_queue_create(launch.ctx, "cuda:0", &queue), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, 1, &launch.array), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_launch(queue, launch.kernel, &launch.slots, 1, &launch.array,
                                        &launch.options),
                  POLYTILE_OK)
            << polytile_last_error(launch.ctx);
        EXPECT_EQ(talk(&launch, queue, 3, n, 4), POLYTILE_OK) << polytile_last_error(launch.ctx);
        ASSERT_EQ(polytile_queue_detach(queue, 1, &launch.array), POLYTILE_OK)
            << polytile_last_error(launch.ctx);
        for (size_t k = 0; k < launch.data.size(); k++) {
            const int column = static_cast<int>(k % n_columns);
            ASSERT_EQ(launch.data[k], column < n ? 1 + 4 * (1 + column) : 1) << n << ", " << k;
        }
    }
}

/* After a launch that failed a queue goes on; what it wrote is incomplete until it is written
 * anew. */
TEST(MessageFar, AQueueGoesOnBehindADeadlock) {
    FarWorld world(5);
    Launch launch("err[s](i32 deed): inout A[s, :]", far_err, 2);
    polytile_queue *queue = nullptr;
    polytile_kernel *sum = nullptr;
    launch.give("deed", MISSES_A_BARRIER);
    ASSERT_EQ(
        polytile_kernel_create(launch.ctx, "sum[s]: inout A[s, :]", &far_sum.implementation, &sum),
        POLYTILE_OK);
    ASSERT_EQ(polytile_queue_create(launch.ctx, "cuda:0(memory=4MiB)", &queue), POLYTILE_OK);
    for (bool fails : {false, true, false}) {
        std::fill(launch.data.begin(), launch.data.end(), 1);
        launch.wrap();
        ASSERT_EQ(polytile_queue_attach(queue, 1, &launch.array), POLYTILE_OK);
        ASSERT_EQ(polytile_queue_launch(queue, fails ? launch.kernel : sum, &launch.slots, 1,
                                        &launch.array, fails ? &launch.options : nullptr),
                  POLYTILE_OK)
            << polytile_last_error(launch.ctx);
        EXPECT_EQ(polytile_queue_wait(queue), fails ? POLYTILE_DEADLOCK : POLYTILE_OK);
        EXPECT_EQ(polytile_array_is_complete(launch.array), !fails);
        ASSERT_EQ(polytile_queue_detach(queue, 1, &launch.array), POLYTILE_OK)
            << polytile_last_error(launch.ctx);
        if (!fails)
            expect_sums(launch, 2);
    }
}

/* Whichever call fails, the launch ends or goes on without it, and the next one is well. */
TEST(MessageFar, EachCallMayFail) {
    int64_t n = 0, n_failed = 0;
    bool fails = true;
    while (fails) {
        FarWorld world(7);
        FailingApi api;
        Launch launch("sum[s]: inout A[s, :]", far_sum, 3);
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(launch.ctx, "cuda:0", &device), POLYTILE_OK);
        api.let_fail(++n);
        polytile_status status =
            polytile_run(device, launch.kernel, &launch.slots, 1, &launch.array, &launch.options);
        fails = api.n_left() == 0;
        api.stop();
        if (status != POLYTILE_OK) {
            n_failed++;
            std::fill(launch.data.begin(), launch.data.end(), 1);
            launch.wrap();
            status = polytile_run(device, launch.kernel, &launch.slots, 1, &launch.array,
                                  &launch.options);
        }
        ASSERT_EQ(status, POLYTILE_OK)
            << n << ": " << api.failed() << ": " << polytile_last_error(launch.ctx);
        expect_sums(launch, 3);
    }
    EXPECT_GT(n_failed, 20);
}

TEST(MessageFar, AKernelThatFaultsIsTold) {
    FarWorld world(3);
    Launch launch("sum[s]: inout A[s, :]", far_sum, 3);
    world.cuda.let_kernel_fault(1);
    EXPECT_EQ(launch.run("cuda:0"), POLYTILE_DEVICE) << launch.text;
    EXPECT_NE(launch.text.find("sum"), std::string::npos) << launch.text;
}

} // namespace
