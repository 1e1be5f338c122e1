#include "distribute/mpi/world.h"
#include "queue/program.h"
#include "support/environment.h"

#include <polytile/mpi.h>

/* Random programs on all ranks together: each rank has all of every attached array. */

namespace {

const polytile_mpi_options *chosen_options = nullptr;
const char *const layouts[] = {"block", "block(dim=0)", "cyclic(3)"};

polytile_status create_queue(polytile_context *ctx, const char *device_text,
                             polytile_queue **queue) {
    return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device_text, chosen_options, queue);
}

void run_programs(const char *name, const char *device, int64_t n_rounds) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(world_seed(name));
    for (int64_t round = 0;
         round < scaled(n_rounds) && world_most(testing::Test::HasFailure()) == 0; round++) {
        const polytile_mpi_options options = {nullptr, layouts[random.number(0, 2)],
                                              random.one_of({0, 1, 3})};
        chosen_options = &options;
        Program::Options of;
        of.n = random.one_of({5, 16, 24});
        of.n_steps = static_cast<int>(random.one_of({5, 30}));
        of.create_queue = create_queue;
        Program program(device, of, &random);
        program.run();
    }
}

TEST(MpiTeam, RandomProgramsInPlaceGiveWhatOneProcessGives) {
    run_programs("MpiTeamInPlace", "host(threads=1)", 12);
}

TEST(MpiTeam, RandomProgramsWithinALimitGiveWhatOneProcessGives) {
    run_programs("MpiTeamLimited", "host(memory=9KiB,threads=1)", 12);
}

} // namespace
