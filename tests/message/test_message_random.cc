#include "message/random_messages.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "message/slot_memory.h"
}

#include <algorithm>

namespace {

const char *const devices[] = {"host", "host(threads=1)", "host(memory=64MiB)"};

/* Without slots that receive from anyone, whose messages depend on the order. */
MessageProgram draw_fixed(std::mt19937_64 &random, int n_slots, int n_events) {
    MessageProgram program = draw_messages(random, n_slots, n_events);
    while (std::count(program.takes_any.begin(), program.takes_any.end(), true) > 0)
        program = draw_messages(random, n_slots, n_events);
    return program;
}

TEST(MessageRandom, SlotsReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 9);
        const MessageProgram program = draw_messages(random, n_slots, 60);
        ASSERT_EQ(run_messages(program, devices[seed % 3], POLYTILE_OK), "") << "seed " << seed;
    }
}

/* Where the slots of one launch run on several devices, and by which layout. */
const struct {
    const char *devices;
    const char *layout;
} lists[] = {{"host,host", nullptr},
             {"host,host", "cyclic(1)"},
             {"host,host,host", nullptr},
             {"host,host,host", "cyclic(2)"},
             {"host,host", "weighted(1,3)"},
             {"host(memory=64MiB),host", nullptr},
             {"host,host(memory=64MiB),host", "weighted(2,1,0)"}};
constexpr int64_t n_lists = sizeof lists / sizeof *lists;

TEST(MessageRandom, SlotsOfSeveralDevicesReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const int n_slots = 1 + static_cast<int>(random() % 9);
        const MessageProgram program = draw_messages(random, n_slots, 60);
        ASSERT_EQ(run_messages(program, list.devices, POLYTILE_OK, &near_interpret, list.layout),
                  "")
            << "seed " << seed;
    }
}

TEST(MessageRandom, RingsOfTwoEntriesAreEnoughForSeveralDevices) {
    pti_slot_memory_set_entries(2);
    for (int64_t seed = 1000; seed < 1000 + scaled(100); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const MessageProgram program = draw_messages(random, 2 + static_cast<int>(seed % 7), 60);
        EXPECT_EQ(run_messages(program, list.devices, POLYTILE_OK, &near_interpret, list.layout),
                  "")
            << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
}

TEST(MessageRandom, DeadlocksAcrossDevicesAreFound) {
    int n_dead = 0;
    for (int64_t seed = 2000; seed < 2000 + scaled(300); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const int n_slots = 1 + static_cast<int>(random() % 5);
        const MessageProgram program = spoil_messages(random, draw_fixed(random, n_slots, 20));
        const polytile_status expected = interpret_messages(program);
        n_dead += expected == POLYTILE_DEADLOCK;
        if (expected != POLYTILE_OK) {
            ASSERT_EQ(run_messages(program, list.devices, expected, &near_interpret, list.layout),
                      "")
                << "seed " << seed;
        }
    }
    EXPECT_GT(n_dead, 0);
}

TEST(MessageRandom, ARingOfTwoEntriesIsEnough) {
    pti_slot_memory_set_entries(2);
    for (int64_t seed = 1000; seed < 1000 + scaled(200); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 9);
        const MessageProgram program = draw_messages(random, n_slots, 60);
        EXPECT_EQ(run_messages(program, "host", POLYTILE_OK), "") << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
}

TEST(MessageRandom, ProgramsThatComeToNoEndAreInDeadlock) {
    int n_dead = 0, n_runs = 0;
    for (int64_t seed = 2000; seed < 2000 + scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 5);
        const MessageProgram program = spoil_messages(random, draw_fixed(random, n_slots, 20));
        const polytile_status expected = interpret_messages(program);
        n_runs++;
        n_dead += expected == POLYTILE_DEADLOCK;
        if (expected != POLYTILE_OK) {
            ASSERT_EQ(run_messages(program, devices[seed % 3], expected), "") << "seed " << seed;
        }
    }
    EXPECT_GT(3 * n_dead, n_runs);
}

TEST(MessageRandom, TheInterpreterEndsRightPrograms) {
    for (int64_t seed = 3000; seed < 3000 + scaled(200); seed++) {
        std::mt19937_64 random(seed);
        EXPECT_EQ(interpret_messages(draw_fixed(random, 1 + static_cast<int>(seed % 5), 30)),
                  POLYTILE_OK)
            << "seed " << seed;
    }
}

} // namespace
