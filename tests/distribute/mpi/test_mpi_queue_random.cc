#include "distribute/mpi/world.h"
#include "queue/program.h"
#include "queue/small_program.h"
#include "support/environment.h"

#include <algorithm>

#include <polytile/mpi.h>

namespace {

struct RandomRanks {
    const char *device;
    const char *layout;
    int64_t launches_per_exchange;
    const char *policy = nullptr;
};

void PrintTo(const RandomRanks &of, std::ostream *out) {
    *out << of.device << " " << of.layout << " " << of.launches_per_exchange << " "
         << (of.policy == nullptr ? "" : of.policy);
}

class MpiQueueRandom : public testing::TestWithParam<RandomRanks> {};

INSTANTIATE_TEST_SUITE_P(
    Devices, MpiQueueRandom,
    testing::Values(RandomRanks{"host", "block", 0}, RandomRanks{"host", "block", 1},
                    RandomRanks{"host", "block(dim=0)", 0}, RandomRanks{"host", "cyclic(3)", 0},
                    RandomRanks{"host", "weighted", 0}, RandomRanks{"host", "weighted(1,2,...)", 0},
                    RandomRanks{"host(memory=6KiB)", "block", 0},
                    RandomRanks{"host(memory=1MiB)", "block", 4},
                    RandomRanks{"host,host", "block", 0}, RandomRanks{"host+host", "cyclic(3)", 2},
                    RandomRanks{"host,host", "weighted(1,2,...)", 0},
                    RandomRanks{"host(memory=6KiB),host(memory=1MiB)", "block", 0},
                    RandomRanks{"host(memory=1MiB),host,host(memory=1MiB)", "weighted", 4},
                    RandomRanks{"host", nullptr, 0, "self(2)"},
                    RandomRanks{"host", "cyclic(3)", 0, "guided"},
                    RandomRanks{"host(memory=6KiB)", nullptr, 0, "self(1)"},
                    RandomRanks{"host(memory=6KiB),host(memory=1MiB)", "block", 0, "self(5)"}));

/** "weighted(1,2,...)" has a weight for each device of each rank. */
std::string layout_of(const RandomRanks &of) {
    const std::string layout = of.layout == nullptr ? "block" : of.layout, device = of.device;
    const size_t dots = layout.find(",2,...");
    if (dots == std::string::npos)
        return layout;
    const auto n_devices = 1 + std::count(device.begin(), device.end(), ',');
    std::string weights = layout.substr(0, dots);
    for (int member = 1; member < world_size() * static_cast<int>(n_devices); member++)
        weights += "," + std::to_string(member + 1);
    return weights + ")";
}

/** Devices that hold a small program: "host(memory=6KiB)" becomes one of a mebibyte. */
std::string roomy(std::string device) {
    for (size_t at = device.find("6KiB"); at != std::string::npos; at = device.find("6KiB"))
        device.replace(at, 4, "1MiB");
    return device;
}

/** How many programs of n: more ranks than four take long, as they wait for the cores, and share as
 * few do. */
int64_t draws(int64_t n) {
    return scaled(world_size() > 4 ? n / 3 : n);
}

/** Every rank compares all arrays with those of the same program in its own memory. */
TEST_P(MpiQueueRandom, ResultsAreThoseOfOneProcess) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(world_seed("MpiQueueRandom"));
    polytile_share_options shared = {};
    const std::string layout = layout_of(GetParam());
    shared.layout = layout.c_str();
    shared.launches_per_exchange = GetParam().launches_per_exchange;
    shared.policy = GetParam().policy;
    for (int64_t round = draws(3); round > 0 && world_most(HasFailure()) == 0; round--) {
        Program::Options options = Program::Options::draw(&random, 60);
        options.create_queue = [&](polytile_context *ctx, const char *device,
                                   polytile_queue **queue) {
            return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, &shared, queue);
        };
        Program program(GetParam().device, options, &random);
        program.run();
    }
}

/** Small arrays, which ranks seldom share evenly, or at all. */
TEST_P(MpiQueueRandom, SmallArraysAreThoseOfOneProcess) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(world_seed("MpiQueueRandom"));
    polytile_share_options shared = {};
    const std::string layout = layout_of(GetParam());
    const std::string device = roomy(GetParam().device);
    shared.layout = layout.c_str();
    shared.launches_per_exchange = GetParam().launches_per_exchange;
    shared.policy = GetParam().policy;
    for (int64_t round = draws(6); round > 0 && world_most(HasFailure()) == 0; round--) {
        TwinPlace place;
        place.create_queue = [&](polytile_context *ctx, const char *text, polytile_queue **queue) {
            return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, text, &shared, queue);
        };
        SmallProgram program(&random);
        program.run(device, place);
    }
}

} // namespace
