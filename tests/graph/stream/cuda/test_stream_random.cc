#include "graph/stream/stream_run.h"
#include "launch/kernels.h"
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

/** splits: domains are split over units. */
void compare_random_streams(uint64_t seed, bool splits) {
    static const char symbols[8] = {};
    Random random(seed);
    for (int64_t round = 0; round < scaled(60) && !testing::Test::HasFailure(); round++) {
        const Machine &machine = machines[random.number(0, 3)];
        FakeCuda::Options options;
        options.n_devices = 2;
        FakeCuda cuda(seed + static_cast<uint64_t>(round), options);
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomStream drawn(&random, machine.units, splits);
            std::vector<const void *> of_actors;
            for (size_t k = 0; k < drawn.n_actors(); k++) {
                of_actors.push_back(&symbols[k]);
                cuda.add_kernel(&symbols[k], drawn.implementation(k));
            }
            StreamRun run(ctx, &drawn, &random);
            polytile_graph_options how = {};
            how.no_overlap = random.chance(20);
            if (run.begin(machine.text, how, of_actors))
                run.run(random.number(1, 20),
                        random.number(1, polytile_stream_get_depth(run.stream)));
        }
        polytile_context_destroy(ctx);
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
    }
}

TEST(CudaStreams, GiveWhatPlainLoopsGive) {
    compare_random_streams(test_seed("CudaStreams.GiveWhatPlainLoopsGive"), false);
}

TEST(CudaStreams, GiveWhatPlainLoopsGiveWhereDomainsAreSplit) {
    compare_random_streams(test_seed("CudaStreams.GiveWhatPlainLoopsGiveWhereDomainsAreSplit"),
                           true);
}

/** Add lines of so many numbers on a GPU; returns the copies of pageable memory. */
int64_t add_lines(size_t n, const char *machine_text, const polytile_graph_options &options) {
    FakeCuda cuda(1);
    polytile_implementation add = add_kernel;
    polytile_context *ctx = nullptr;
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    add.cuda = reinterpret_cast<const void *>(add.host);
    cuda.add_kernel(add.cuda, add);
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_graph_parse(ctx,
                                   ("digraph { { node [type=f32, extents=" + std::to_string(n) +
                                    "]; x; y; z } add "
                                    "[kernel=\"add[i]: in x[i], y[i]; out z[i]\"]; x -> add "
                                    "[as=x]; y -> add [as=y]; add -> z [as=z] }")
                                       .c_str(),
                                   &graph),
              POLYTILE_OK);
    EXPECT_EQ(polytile_graph_bind(graph, "add", &add), POLYTILE_OK);
    EXPECT_EQ(polytile_machine_parse(ctx, machine_text, &machine), POLYTILE_OK);
    EXPECT_EQ(polytile_graph_plan_create(graph, machine, &options, &plan), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_stream_create(graph, plan, nullptr, &stream), POLYTILE_OK)
        << polytile_last_error(ctx);
    if (testing::Test::HasFailure())
        return -1;
    std::vector<float> memory[3] = {std::vector<float>(n, 3), std::vector<float>(n, 4),
                                    std::vector<float>(n)};
    const int64_t extent = static_cast<int64_t>(n), before = cuda.n_pageable_copies();
    polytile_array *port[3] = {};
    for (int p = 0; p < 3; p++)
        EXPECT_EQ(
            polytile_array_wrap(ctx, "port", POLYTILE_F32, 1, &extent, memory[p].data(), &port[p]),
            POLYTILE_OK);
    for (int f = 0; f < 3; f++) {
        EXPECT_EQ(polytile_stream_push(stream, 2, port, nullptr), POLYTILE_OK);
        EXPECT_EQ(polytile_stream_pull(stream, 1, &port[2], nullptr), POLYTILE_OK);
    }
    EXPECT_EQ(memory[2], std::vector<float>(n, 7));
    const int64_t n_pageable = cuda.n_pageable_copies() - before;
    polytile_context_destroy(ctx);
    EXPECT_EQ(cuda.violations() + cuda.leaks(), "");
    return n_pageable;
}

TEST(CudaStreams, CopyFramesFromAndToPinnedMemory) {
    EXPECT_EQ(add_lines(5000, "digraph { a [device=\"cuda:0\"] }", {}), 0);
}

TEST(CudaStreams, RunSuperblocksOfFramesThatDoNotFit) {
    polytile_graph_options options = {};
    options.in_superblocks = true;
    EXPECT_EQ(add_lines(700000, "digraph { a [device=\"cuda:0(memory=6MiB)\"] }", options), 0);
    EXPECT_EQ(add_lines(700000,
                        "digraph { a [device=\"cuda:0(memory=6MiB)\"]; "
                        "b [device=\"cuda:0(memory=7MiB)\"] }",
                        options),
              0);
}

} // namespace
