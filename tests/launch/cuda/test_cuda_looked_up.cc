#include <gtest/gtest.h>

#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/scale.h"

namespace {

TEST(FakeCudaLookedUp, EqualsPlainLoopsUnderAnyLimit) {
    const uint64_t seed = test_seed("FakeCudaLookedUp");
    Random random(seed);
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (int64_t round = 0; round < scaled(150) && !HasFailure(); round++) {
        FakeCuda cuda(static_cast<uint64_t>(round));
        for (const auto &of : looked_up::implementations)
            for (const polytile_implementation *implementation : of)
                cuda.add_kernel(reinterpret_cast<const void *>(implementation->host),
                                *implementation);
        looked_up::round_runs_right("cuda:0", &random);
        EXPECT_EQ(cuda.violations(), "");
    }
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
}

} // namespace
