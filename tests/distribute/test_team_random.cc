#include "queue/program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <ostream>

namespace {

struct RandomTeam {
    const char *devices;
    int64_t n_rounds;
};

void PrintTo(const RandomTeam &of, std::ostream *out) {
    *out << of.devices;
}

class TeamRandom : public testing::TestWithParam<RandomTeam> {};

INSTANTIATE_TEST_SUITE_P(
    Devices, TeamRandom,
    testing::Values(RandomTeam{"host,host", 40},
                    RandomTeam{"host(threads=1),host,host(threads=2)", 40},
                    RandomTeam{"host(memory=1MiB),host(memory=1MiB)", 60},
                    RandomTeam{"host(memory=6KiB),host(memory=14KiB)", 60},
                    RandomTeam{"host(memory=9KiB),host(memory=9KiB),host(memory=1MiB)", 60},
                    RandomTeam{"host,host(memory=6KiB)", 60}));

/** Run random programs on all devices together; with a proof of every schedule. */
TEST_P(TeamRandom, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("TeamRandom"));
    int64_t n_launched = 0;
    for (int64_t round = 0; round < scaled(GetParam().n_rounds) && !HasFailure(); round++) {
        const Program::Options options = Program::Options::draw(&random);
        Program program(GetParam().devices, options, &random);
        program.run();
        n_launched += program.n_launched();
    }
    EXPECT_GT(n_launched, 0);
}

} // namespace
