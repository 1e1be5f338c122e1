#include "distribute/mpi/slots.h"
#include "message/cuda/far_kernels.h"
#include "message/random_messages.h"

extern "C" {
#include "message/processes.h"
#include "message/slot_memory.h"
}

#include <algorithm>

/* Slots on several ranks, of which some are on GPUs that are not there. */

namespace {

/* The devices of even ranks, and of odd ones. */
const struct {
    const char *even, *odd;
    bool is_list;
} places[] = {{"cuda:0", "cuda:0", false},
              {"host", "cuda:0", false},
              {"cuda:0", "host", false},
              {"cuda:0,host", "host,cuda:0", true},
              {"cuda:0,cuda:1", "host,host", true}};
constexpr uint64_t n_places = sizeof places / sizeof *places;

const char *own_devices(uint64_t number) {
    const auto &of = places[number % n_places];
    return world_rank() % 2 == 0 ? of.even : of.odd;
}

uint64_t own_seed(uint64_t seed) {
    return seed * 64 + static_cast<uint64_t>(world_rank());
}

std::string run_on_gpus(const MessageProgram &program, uint64_t seed, polytile_status expected) {
    return run_messages_on(
        program,
        [seed](polytile_context *ctx, polytile_queue **queue) {
            return open_on_ranks(ctx, own_devices(seed), "block", queue);
        },
        expected, &far_interpret.implementation, world_rank() == 0);
}

/* One program in two speaks to its slots. */
MessageDraws draws_of(uint64_t seed) {
    MessageDraws draws;
    draws.has_program = seed % 2 == 0;
    return draws;
}

TEST(MpiFarSlots, SlotsReceiveWhatMpiSays) {
    const uint64_t first = world_seed("MpiFarSlots.SlotsReceiveWhatMpiSays");
    for (uint64_t seed = first; seed < first + static_cast<uint64_t>(scaled(10)); seed++) {
        FarWorld world(own_seed(seed), 2);
        std::mt19937_64 random(seed);
        const int n_slots = 1 + static_cast<int>(random() % 7);
        pti_slot_memory_set_entries(seed % 3 == 0 ? 2 : 0);
        pti_processes_set_piece(seed % 2 == 0 ? 4096 : 1021);
        EXPECT_EQ(
            run_on_gpus(draw_messages(random, n_slots, 40, draws_of(seed)), seed, POLYTILE_OK), "")
            << "seed " << seed;
        EXPECT_EQ(world.cuda.violations(), "") << "seed " << seed;
        EXPECT_EQ(world.cuda.leaks(), "") << "seed " << seed;
    }
    pti_slot_memory_set_entries(0);
    pti_processes_set_piece(0);
}

TEST(MpiFarSlots, DeadlocksAcrossRanksAreFound) {
    const uint64_t first = world_seed("MpiFarSlots.DeadlocksAcrossRanksAreFound");
    for (uint64_t seed = first; seed < first + static_cast<uint64_t>(scaled(10)); seed++) {
        FarWorld world(own_seed(seed), 2);
        std::mt19937_64 random(seed);
        const MessageProgram program =
            draw_spoiled(random, 1 + static_cast<int>(random() % 5), 20, draws_of(seed));
        const polytile_status expected = interpret_messages(program);
        if (expected != POLYTILE_OK) {
            EXPECT_EQ(run_on_gpus(program, seed, expected), "") << "seed " << seed;
        }
    }
}

TEST(MpiFarSlots, SlotsMeetAndTheProgramOfTheFirstRankTakesPart) {
    for (uint64_t number = 0; number < n_places; number++)
        for (int n : {1, 1000, 1025, 2048}) {
            FarWorld world(own_seed(number), 2);
            TeamLaunch team(on_ranks(own_devices(number)), "block", 5);
            ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
            team.expect_meets(far_meet.implementation);
            team.attach();
            ASSERT_EQ(team.launch("echo[s](i32 n, i64 rounds): inout A[s, :]",
                                  far_echo.implementation,
                                  {polytile_parameter_signed("n", n),
                                   polytile_parameter_signed("rounds", 2)}),
                      POLYTILE_OK)
                << polytile_last_error(team.ctx);
            if (world_rank() == 0) {
                EXPECT_EQ(team.talk(n, 2), POLYTILE_OK) << team.text;
            }
            EXPECT_EQ(team.wait(), POLYTILE_OK) << team.text;
        }
}

/* One GPU that fails ends the launch on all ranks. */
TEST(MpiFarSlots, AGpuThatFaultsEndsTheLaunchOnAllRanks) {
    FarWorld world(own_seed(3), 2);
    TeamLaunch team(on_ranks("cuda:0"), "block", 2 * world_size());
    ASSERT_EQ(team.opened, POLYTILE_OK) << polytile_last_error(team.ctx);
    if (world_rank() == world_size() - 1)
        world.cuda.let_kernel_fault(1);
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", far_meet.implementation), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_DEVICE) << team.text;
    EXPECT_EQ(team.text.find("rank " + std::to_string(world_size() - 1) + ": "), 0u) << team.text;
}

TEST(MpiFarSlots, SlotsThatAGpuDoesNotHoldAreRefusedOnAllRanks) {
    FarWorld world(own_seed(4), 2);
    TeamLaunch team(on_ranks("cuda:0"), "block", 129 * world_size());
    ASSERT_EQ(team.launch("meet[s]: inout A[s, :]", far_meet.implementation), POLYTILE_OK);
    EXPECT_EQ(team.wait(), POLYTILE_NO_FIT);
    EXPECT_NE(team.text.find("meet: 129 slots, and cuda:0 holds 128 at once"), std::string::npos)
        << team.text;
}

} // namespace
