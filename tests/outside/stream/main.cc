/*
 * Random graphs from outside, whose streams are compared with plain loops; docs/testing.md says
 * what is drawn.
 */
#include "outside/stream/graph.h"
#include "outside/watch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace outside;

static std::string describe(const Graph &graph) {
    return graph_text(graph) + machine_text(graph) + std::to_string(graph.n_frames) + " frames" +
           (graph.objective.empty() ? "" : ", objective " + graph.objective) +
           (graph.has_no_overlap ? ", no overlap" : "") +
           (graph.looks_for_turns ? ", looks for turns" : "") + "\n";
}

static bool has_no_overlap;

static Graph drawn(uint64_t seed) {
    Graph graph = draw_graph(seed);
    graph.has_no_overlap = has_no_overlap || mix(seed, 31) % 4 == 0;
    for (Actor &actor : graph.actors)
        if (graph.has_no_overlap)
            actor.unit = actor.unit.substr(0, actor.unit.find('|'));
    graph.looks_for_turns = !graph.has_no_overlap && mix(seed, 37) % 4 == 0;
    return graph;
}

/** Whether the arguments after the numbers have an option. */
static bool has_option(int argc, char **argv, const char *option) {
    for (int k = 2; k < argc; k++)
        if (!strcmp(argv[k], option))
            return true;
    return false;
}

int main(int argc, char **argv) {
    has_no_overlap = has_option(argc, argv, "--no-overlap");
    std::map<std::string, std::pair<int, uint64_t>> refusals;
    int n_failed = 0, n_equal = 0;
    Batch batch;
    batch.n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 0;
    batch.first = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
    batch.run = [](uint64_t seed) { return run_graph(drawn(seed)); };
    if (batch.n == 0) {
        fputs("usage: polytile_outside_streams N [SEED] [--no-overlap] [--print | --shrink]\n",
              stderr);
        return 2;
    }
    if (has_option(argc, argv, "--print")) {
        for (uint64_t k = 0; k < batch.n; k++)
            printf("seed %llu:\n%s", static_cast<unsigned long long>(batch.first + k),
                   describe(drawn(batch.first + k)).c_str());
        return 0;
    }
    setenv("OMP_WAIT_POLICY", "passive", 1);
    if (has_option(argc, argv, "--shrink")) {
        const Graph graph = shrink_graph(drawn(batch.first));
        printf("%s\n%s", run_graph(graph).failure.c_str(), describe(graph).c_str());
        return 1;
    }
    watch(batch, [&](uint64_t seed, const Outcome &outcome) {
        for (const std::string &refusal : outcome.refusals) {
            auto &entry = refusals[refusal.substr(0, 110)];
            entry.second = entry.first++ ? entry.second : seed;
        }
        n_equal += outcome.failure.empty() && outcome.refusals.empty();
        n_failed += !outcome.failure.empty();
        if (!outcome.failure.empty())
            printf("FAILED: seed %llu: %s\n%s", static_cast<unsigned long long>(seed),
                   outcome.failure.c_str(), describe(drawn(seed)).c_str());
        fflush(stdout);
    });
    printf("%d equal, %d FAILED\n", n_equal, n_failed);
    for (const auto &entry : refusals)
        printf("%7d  %s  (seed %llu)\n", entry.second.first, entry.first.c_str(),
               static_cast<unsigned long long>(entry.second.second));
    return n_failed ? 1 : 0;
}
