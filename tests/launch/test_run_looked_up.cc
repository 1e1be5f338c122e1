#include <gtest/gtest.h>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/scale.h"

namespace {

TEST(RunLookedUp, EqualsPlainLoopsOnHostsUnderAnyLimit) {
    const uint64_t seed = test_seed("RunLookedUp");
    Random random(seed);
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    int64_t n_run = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++)
        n_run += looked_up::round_runs_right("host", &random);
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
    if (scaled(400) >= 400) {
        EXPECT_GT(n_run, scaled(400) / 4) << "seed " << seed;
    }
}

} // namespace
