#include "distribute/mpi/stream/machine.h"
#include "distribute/mpi/stream/ports.h"
#include "graph/stream/stream_run.h"

#include <polytile/mpi.h>

#include <algorithm>
#include <deque>
#include <random>

/* Random graphs over ranks give bit for bit what plain loops give, frame by frame, wherever their
 * ports lie. */

namespace {

/** A body that fails now and then, by chance on each rank. */
struct Failing {
    polytile_implementation of;
    std::minstd_rand draw;
};

int fail_by_chance(const polytile_sub_kernel *launch) {
    auto *failing = static_cast<Failing *>(launch->user);
    if (failing->draw() % 100 < 8)
        return 9;
    failing->of.host(launch->threads, launch->views, failing->of.user);
    return 0;
}

void bind_failing(const RandomStream &drawn, std::deque<Failing> *bodies, polytile_graph *graph) {
    for (size_t k = 0; k < drawn.n_actors(); k++) {
        polytile_implementation made = {};
        bodies->push_back({drawn.implementation(k), std::minstd_rand(std::random_device{}())});
        made.host_launcher = fail_by_chance;
        made.user = &bodies->back();
        EXPECT_EQ(polytile_graph_bind(graph, ("actor" + std::to_string(k)).c_str(), &made),
                  POLYTILE_OK);
    }
}

/** What streams over ranks did. */
struct Done {
    int n_run = 0, n_sending = 0, n_split = 0; /* graphs */
    int64_t n_failed = 0;                      /* frames */
    int64_t n_compared = 0;                    /* outputs of frames, of this rank */
};

/** What is drawn: any graphs, those whose domains are split over units, and those with parts or not
 * of which some bodies fail. */
enum What { ANY, IS_SPLIT, FAILS };

/** All ranks draw the same. */
void run_on_ranks(polytile_context *ctx, Random *random, What what, Done *done) {
    const bool fail = what == FAILS;
    const bool splits = what == IS_SPLIT || (fail && random->chance(67)); /* few have state */
    RandomStream drawn(random, {"a", "b", "c"}, splits, what == IS_SPLIT && random->chance(50));
    std::deque<Failing> bodies;
    StreamRun run(ctx, &drawn, random);
    if (fail)
        run.bind_anew = [&](polytile_graph *graph) { bind_failing(drawn, &bodies, graph); };
    polytile_graph_options options = {};
    static const char *const objectives[] = {"period", "latency", "memory"};
    options.objective = objectives[random->number(0, 2)];
    options.no_overlap = random->chance(30);
    options.in_turn = !options.no_overlap && !fail && random->chance(30);
    run.create = [](const polytile_graph *graph, const polytile_graph_plan *plan,
                    polytile_stream **stream) {
        return polytile_mpi_stream_create(graph, plan, MPI_COMM_WORLD, nullptr, stream);
    };
    if (!run.begin(machine_on_ranks(random->chance(50)), options, {}))
        return;
    const polytile_stream *stream = run.stream;
    run.keep_ports(ports_here(stream, run.graph(), stream->input, stream->n_inputs),
                   ports_here(stream, run.graph(), stream->output, stream->n_outputs));
    done->n_sending +=
        std::any_of(stream->task_ranks, stream->task_ranks + stream->expansion.tasks.n_tasks,
                    [](const auto &ranks) { return ranks.from != ranks.to; });
    run.run(random->number(1, 30), random->number(1, polytile_stream_get_depth(stream)));
    done->n_run++;
    done->n_split += splits && drawn.n_split() > 0;
    done->n_failed += run.n_failed;
    done->n_compared += run.n_compared;
    polytile_stream_destroy(run.stream);
    run.stream = nullptr;
}

/** Rounds go on until something is compared, of what is drawn. */
Done run_many(const char *test, What what) {
    Random random(world_seed(test));
    Done done;
    const int64_t n_rounds = std::max<int64_t>(scaled(60), 10); /* some graphs are refused */
    const auto goes_on = [&](int64_t round) {
        const bool is_compared =
            world_most(done.n_compared > 0) > 0 && (what != IS_SPLIT || done.n_split > 0);
        return world_most(testing::Test::HasFailure()) == 0 &&
               (round < n_rounds || (!is_compared && round < 8 * n_rounds));
    };
    int64_t round = 0;
    for (; goes_on(round); round++) {
        polytile_context *ctx = nullptr;
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        run_on_ranks(ctx, &random, what, &done);
        polytile_context_destroy(ctx);
    }
    std::printf("%d of %lld graphs ran, %d sent, %d with parts: %lld frames failed, %lld outputs "
                "were compared\n",
                done.n_run, static_cast<long long>(round), done.n_sending, done.n_split,
                static_cast<long long>(done.n_failed), static_cast<long long>(done.n_compared));
    EXPECT_GE(done.n_run, least_count(round, 0.12));
    EXPECT_GE(world_most(static_cast<int>(done.n_compared)), least_count(round, 0.1));
    return done;
}

TEST(MpiRandomStreams, GiveWhatPlainLoopsGive) {
    const Done done = run_many("MpiRandomStreams.GiveWhatPlainLoopsGive", ANY);
    if (world_size() == 1)
        EXPECT_EQ(done.n_sending, 0);
    else
        EXPECT_GE(done.n_sending, least_count(done.n_run, 0.25));
}

TEST(MpiRandomStreams, GiveWhatPlainLoopsGiveWhereDomainsAreSplit) {
    const Done done =
        run_many("MpiRandomStreams.GiveWhatPlainLoopsGiveWhereDomainsAreSplit", IS_SPLIT);
    EXPECT_GT(done.n_split, 0);
}

TEST(MpiRandomStreams, GoOnWhateverFails) {
    const Done done = run_many("MpiRandomStreams.GoOnWhateverFails", FAILS);
    EXPECT_GE(world_most(static_cast<int>(done.n_failed)), least_count(done.n_run, 0.5));
}

} // namespace
