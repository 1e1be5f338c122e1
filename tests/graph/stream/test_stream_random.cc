#include "graph/stream/stream_run.h"
#include "support/scale.h"

/* Streams give bit for bit what plain loops give, frame by frame. */

namespace {

struct Machine {
    const char *text;
    std::vector<std::string> units;
};

const Machine machines[] = {
    {"digraph { a [device=\"host(threads=1)\"] }", {"a"}},
    {"digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"] }", {"a", "b"}},
    {"digraph { a [device=\"host(threads=1)\"]; b [device=\"host(memory=1MiB,threads=1)\"]; "
     "a -> b [bandwidth=\"1GB/s\", latency=\"20us\"] }",
     {"a", "b"}},
    {"digraph { a [device=\"host(memory=3MiB,threads=1)\"]; "
     "b [device=\"host(memory=1MiB,threads=1)\"]; c [device=\"host(memory=2MiB,threads=1)\"]; "
     "a -> b [bandwidth=\"10GB/s\", latency=\"5us\"] }",
     {"a", "b", "c"}},
};

/** Frames do not fit it, and run in superblocks. */
const Machine small = {"digraph { a [device=\"host(memory=2KiB,threads=1)\"]; "
                       "b [device=\"host(memory=1KiB,threads=1)\"] }",
                       {"a", "b"}};

TEST(RandomStreams, GiveWhatPlainLoopsGive) {
    const uint64_t seed = test_seed("RandomStreams.GiveWhatPlainLoopsGive");
    Random random(seed);
    static const char *const objectives[] = {"period", "latency", "memory"};
    for (int64_t round = 0; round < scaled(150) && !HasFailure(); round++) {
        const Machine &machine = machines[random.number(0, 3)];
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomStream drawn(&random, machine.units);
            StreamRun run(ctx, &drawn, &random);
            polytile_graph_options options = {};
            options.objective = objectives[random.number(0, 2)];
            options.no_overlap = random.chance(30);
            options.in_turn = !options.no_overlap && random.chance(30);
            if (run.begin(machine.text, options, {}))
                run.run(random.number(1, 30),
                        random.number(1, polytile_stream_get_depth(run.stream)));
        }
        polytile_context_destroy(ctx);
    }
}

/** Run graphs whose domains are split, those of an actor or more in most rounds. */
void run_split(Random *drawn_from, bool asks_ends) {
    Random &random = *drawn_from;
    const int64_t n_rounds = scaled(150);
    int64_t n_split = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const bool is_small = random.chance(25);
        const Machine &machine = is_small ? small : machines[random.number(1, 3)];
        polytile_context *ctx = nullptr;
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomStream drawn(&random, machine.units, true, asks_ends);
            StreamRun run(ctx, &drawn, &random);
            polytile_graph_options options = {};
            options.no_overlap = random.chance(20);
            options.in_superblocks = is_small;
            if (run.begin(machine.text, options, {}))
                run.run(random.number(1, 30),
                        random.number(1, polytile_stream_get_depth(run.stream)));
            n_split += drawn.n_split() > 0;
        }
        polytile_context_destroy(ctx);
    }
    EXPECT_GE(n_split, least_count(n_rounds, 0.45));
}

TEST(RandomStreams, GiveWhatPlainLoopsGiveWhereDomainsAreSplit) {
    Random random(test_seed("RandomStreams.GiveWhatPlainLoopsGiveWhereDomainsAreSplit"));
    run_split(&random, false);
}

TEST(RandomStreams, GiveWhatPlainLoopsGiveWherePartsAskForTheEndsOfArrays) {
    Random random(test_seed("RandomStreams.GiveWhatPlainLoopsGiveWherePartsAskForTheEndsOfArrays"));
    run_split(&random, true);
}

} // namespace
