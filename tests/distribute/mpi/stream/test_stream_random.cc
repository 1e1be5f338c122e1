#include "distribute/mpi/stream/machine.h"
#include "graph/stream/stream_run.h"

#include <polytile/mpi.h>

extern "C" {
#include "graph/read/graph.h"
#include "graph/stream/stream.h"
}

/* Random graphs over ranks give bit for bit what plain loops give, frame by frame, wherever their
 * ports lie. */

namespace {

/** The rank's own ports of a stream, by the names of their arrays. */
std::vector<std::string> ports_here(const polytile_stream *stream, const polytile_graph *graph,
                                    const int *ports, int n_ports) {
    std::vector<std::string> names;
    for (int k = 0; k < n_ports; k++)
        names.push_back(
            graph->array[stream->expansion.buffer[ports[k]].array % graph->n_arrays].name);
    return names;
}

/** All ranks draw the same. Returns whether the stream ran. */
bool run_on_ranks(polytile_context *ctx, Random *random, bool *sends) {
    RandomStream drawn(random, {"a", "b", "c"});
    StreamRun run(ctx, &drawn, random);
    polytile_graph_options options = {};
    static const char *const objectives[] = {"period", "latency", "memory"};
    options.objective = objectives[random->number(0, 2)];
    options.in_turn = random->chance(30);
    run.create = [](const polytile_graph *graph, const polytile_graph_plan *plan,
                    polytile_stream **stream) {
        return polytile_mpi_stream_create(graph, plan, MPI_COMM_WORLD, nullptr, stream);
    };
    if (!run.begin(machine_on_ranks(random->chance(50)), options, {}))
        return false;
    const polytile_stream *stream = run.stream;
    run.keep_ports(ports_here(stream, run.graph(), stream->input, stream->n_inputs),
                   ports_here(stream, run.graph(), stream->output, stream->n_outputs));
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++)
        *sends = *sends || stream->task_ranks[t].from != stream->task_ranks[t].to;
    run.run(random->number(1, 30), random->number(1, polytile_stream_get_depth(stream)));
    return true;
}

TEST(MpiRandomStreams, GiveWhatPlainLoopsGive) {
    Random random(world_seed("MpiRandomStreams.GiveWhatPlainLoopsGive"));
    int n_run = 0;
    bool send = false;
    for (int64_t round = 0; round < scaled(60) && world_most(HasFailure()) == 0; round++) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        n_run += run_on_ranks(ctx, &random, &send);
        polytile_context_destroy(ctx);
    }
    EXPECT_GT(n_run, 0);
    EXPECT_EQ(send, world_size() > 1);
}

} // namespace
