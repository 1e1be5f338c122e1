#include "message/random_messages.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "message/slot_memory.h"
}

namespace {

const char *const devices[] = {"host", "host(threads=1)", "host(memory=64MiB)"};

/* One program in two speaks to its slots. */
MessageDraws draws_of(int64_t seed, bool has_puts) {
    MessageDraws draws;
    draws.has_program = seed % 2 == 0;
    draws.has_puts = has_puts;
    return draws;
}

TEST(MessageRandom, SlotsReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 9);
        const MessageProgram program = draw_messages(random, n_slots, 60, draws_of(seed, true));
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
constexpr int64_t n_in_place = 5; /* of them: whatever memory slots take */

TEST(MessageRandom, SlotsOfSeveralDevicesReceiveWhatMpiSays) {
    for (int64_t seed = 0; seed < scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const int n_slots = 1 + static_cast<int>(random() % 9);
        const MessageProgram program = draw_messages(random, n_slots, 60, draws_of(seed, false));
        ASSERT_EQ(run_messages(program, list.devices, POLYTILE_OK, &near_interpret, list.layout),
                  "")
            << "seed " << seed;
    }
}

/* A program that ends, or, if so wanted, one that does not. */
MessageTurn draw_turn(std::mt19937_64 &random, bool fails, bool has_puts) {
    const int n_slots = 1 + static_cast<int>(random() % 6);
    const MessageDraws draws = draws_of(static_cast<int64_t>(random() % 2), has_puts);
    MessageTurn turn = {draw_messages(random, n_slots, 30, draws), POLYTILE_OK};
    while (fails && turn.expected == POLYTILE_OK) {
        turn.program = draw_spoiled(random, n_slots, 20, draws);
        turn.expected = interpret_messages(turn.program);
    }
    return turn;
}

/* Nothing of a launch, also of one that failed, is left to the next one. */
TEST(MessageRandom, LaunchesInTurnReceiveWhatMpiSays) {
    for (int64_t seed = 4000; seed < 4000 + scaled(150); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_lists];
        const bool is_list = random() % 2 == 0;
        std::vector<MessageTurn> turns;
        for (int k = 0; k < 4; k++)
            turns.push_back(draw_turn(random, k == 1, !is_list));
        ASSERT_EQ(run_messages_in_turn(turns, is_list ? list.devices : devices[seed % 3],
                                       &near_interpret, is_list ? list.layout : nullptr),
                  "")
            << "seed " << seed;
    }
}

TEST(MessageRandom, ManySlotsReceiveWhatMpiSays) {
    for (int64_t seed = 5000; seed < 5000 + scaled(12); seed++) {
        std::mt19937_64 random(seed);
        const auto &list = lists[seed % n_in_place];
        const int n_slots = 20 + static_cast<int>(random() % 40);
        const MessageProgram program = draw_messages(random, n_slots, 60, draws_of(seed, false));
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
        const MessageProgram program = draw_messages(random, 2 + static_cast<int>(seed % 7), 60,
                                                     draws_of(random() % 2, false));
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
        const MessageProgram program = draw_spoiled(random, n_slots, 20, draws_of(seed, false));
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
        const MessageProgram program = draw_messages(random, n_slots, 60, draws_of(seed, true));
        EXPECT_EQ(run_messages(program, "host", POLYTILE_OK), "") << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
}

TEST(MessageRandom, ProgramsThatComeToNoEndAreInDeadlock) {
    int n_dead = 0, n_runs = 0;
    for (int64_t seed = 2000; seed < 2000 + scaled(400); seed++) {
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 5);
        const MessageProgram program = draw_spoiled(random, n_slots, 20, draws_of(seed, false));
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
        const MessageProgram program =
            draw_messages(random, 1 + static_cast<int>(seed % 5), 30, draws_of(seed, true));
        for (const bool is_strict : {false, true})
            EXPECT_EQ(interpret_messages(program, is_strict), POLYTILE_OK) << "seed " << seed;
    }
}

} // namespace
