#include "graph/stream/stream_run.h"
#include "support/fake_cuda.h"
#include "support/scale.h"

/* Streams over GPUs, on a runtime that needs none, give what plain loops give. */

namespace {

struct Machine {
    const char *text;
    std::vector<std::string> units;
};

const Machine machines[] = {
    {"digraph { a [device=\"cuda:0\"] }", {"a"}},
    {"digraph { a [device=\"cuda:0(memory=64MiB)\"]; b [device=\"host(threads=1)\"] }", {"a", "b"}},
    {"digraph { a [device=\"cuda:0\"]; b [device=\"cuda:1\"]; c [device=\"host(threads=1)\"]; "
     "a -> b [bandwidth=\"300GB/s\", latency=\"5us\"] }",
     {"a", "b", "c"}},
    {"digraph { a [device=\"cuda:0\"]; b [device=\"host(memory=1MiB,threads=1)\"] }", {"a", "b"}},
};

TEST(CudaStreams, GiveWhatPlainLoopsGive) {
    static const char symbols[8] = {};
    const uint64_t seed = test_seed("CudaStreams.GiveWhatPlainLoopsGive");
    Random random(seed);
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        const Machine &machine = machines[random.number(0, 3)];
        FakeCuda::Options options;
        options.n_devices = 2;
        FakeCuda cuda(seed + static_cast<uint64_t>(round), options);
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomStream drawn(&random, machine.units);
            std::vector<const void *> of_actors;
            for (size_t k = 0; k < drawn.n_actors(); k++) {
                of_actors.push_back(&symbols[k]);
                cuda.add_kernel(&symbols[k], drawn.implementation(k));
            }
            StreamRun run(ctx, &drawn, &random);
            if (run.begin(machine.text, "period", of_actors))
                run.run(random.number(1, 20),
                        random.number(1, polytile_stream_get_depth(run.stream)));
        }
        polytile_context_destroy(ctx);
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
        EXPECT_EQ(cuda.n_pageable_copies(), 0);
    }
}

} // namespace
