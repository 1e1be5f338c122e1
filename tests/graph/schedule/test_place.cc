#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "graph/schedule/place.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

/* Tasks that are placed one by one, and buffers that are lowered: against plain search, and how
 * often they look at edges and tasks. */

namespace {

/** Tasks and edges that own their lists. */
struct Drawn {
    std::vector<pti_task> task;
    std::vector<pti_start_edge> edge;
    std::vector<int> order;
    int n_resources = 1;
    int64_t period = 1;
    int64_t n_looks = 0;

    /** Place all; an empty list: the tasks do not all have a place. */
    std::vector<int64_t> place() {
        pti_stream_tasks of = {};
        of.n_tasks = static_cast<int>(task.size());
        of.task = task.data();
        of.n_resources = n_resources;
        pti_start_edges edges = {};
        edges.n_tasks = of.n_tasks;
        edges.n = static_cast<int64_t>(edge.size());
        edges.edge = edge.data();
        pti_placing placing = {};
        placing.of = &of;
        placing.edges = &edges;
        placing.period = period;
        placing.order = order.data();
        std::vector<int64_t> start(task.size());
        const pti_found found = pti_place_early(&placing, start.data());
        EXPECT_NE(found, PTI_FOUND_NO_MEMORY);
        n_looks = placing.n_looks;
        return found == PTI_FOUND ? start : std::vector<int64_t>();
    }

    bool are_apart(size_t a, int64_t at, size_t b, int64_t other_at) const {
        const int64_t since = ((at - other_at) % period + period) % period;
        return task[a].resource < 0 || task[a].resource != task[b].resource ||
               (since >= task[b].ticks && since + task[a].ticks <= period);
    }

    /** The first moment of a task at which nothing that is placed stands in its way; -1: none. */
    int64_t search(size_t a, const std::vector<int64_t> &start) const {
        int64_t earliest = 0, latest = INT64_MAX;
        for (const pti_start_edge &e : edge) {
            const size_t from = static_cast<size_t>(e.from), to = static_cast<size_t>(e.to);
            const int64_t least = e.ticks - e.tokens * period;
            if (to == a && from != a && start[from] >= 0)
                earliest = std::max(earliest, start[from] + least);
            if (from == a && to != a && start[to] >= 0)
                latest = std::min(latest, start[to] - least);
        }
        for (int64_t at = earliest; at < earliest + period && at <= latest; at++) {
            bool is_free = true;
            for (size_t b = 0; b < task.size(); b++)
                is_free = is_free && (start[b] < 0 || are_apart(a, at, b, start[b]));
            if (is_free)
                return at;
        }
        return -1;
    }

    std::vector<int64_t> search_all() const {
        std::vector<int64_t> start(task.size(), -1);
        for (const int each : order) {
            const int64_t at = search(static_cast<size_t>(each), start);
            if (at < 0)
                return {};
            start[static_cast<size_t>(each)] = at;
        }
        return start;
    }
};

Drawn draw(Random &random) {
    Drawn drawn;
    const int n = static_cast<int>(random.number(1, 12));
    drawn.n_resources = static_cast<int>(random.number(1, 2));
    for (int t = 0; t < n; t++) {
        drawn.task.push_back({static_cast<int>(random.number(-1, drawn.n_resources - 1)),
                              random.number(random.chance(25) ? 0 : 1, 4), 0});
        drawn.period += drawn.task.back().ticks;
        drawn.order.insert(drawn.order.begin() + random.number(0, t), t);
    }
    drawn.period = std::max<int64_t>(1, drawn.period * random.number(40, 120) / 100);
    for (int64_t k = random.number(0, 2 * n); k > 0; k--)
        drawn.edge.push_back({static_cast<int>(random.number(0, n - 1)),
                              static_cast<int>(random.number(0, n - 1)), random.number(0, 9),
                              random.number(0, 2)});
    return drawn;
}

TEST(PlacingRandom, StartsEachTaskAsSoonAsThoseBeforeItAllow) {
    Random random(test_seed("PlacingRandom.StartsEachTaskAsSoonAsThoseBeforeItAllow"));
    for (int64_t round = 0; round < scaled(20000); round++) {
        Drawn drawn = draw(random);
        ASSERT_EQ(drawn.place(), drawn.search_all()) << "round " << round;
    }
}

/** Stages of four tasks, each after one of the stage before, on units of eight tasks each. */
Drawn stages(int n_stages) {
    Drawn drawn;
    const int n = 4 * n_stages;
    drawn.n_resources = n / 8;
    drawn.period = 100;
    for (int t = 0; t < n; t++) {
        drawn.task.push_back({t / 8, 5, 0});
        drawn.order.push_back(t);
        if (t >= 4)
            drawn.edge.push_back({t - 4, t, 5, 0});
    }
    return drawn;
}

TEST(Placing, LooksAtTheEdgesOfATaskAndTheTasksOfItsUnit) {
    for (const int n_stages : {100, 1000, 10000}) {
        Drawn drawn = stages(n_stages);
        const int64_t n_edges = static_cast<int64_t>(drawn.edge.size()),
                      n_tasks = static_cast<int64_t>(drawn.task.size());
        ASSERT_FALSE(drawn.place().empty());
        EXPECT_LE(drawn.n_looks, 2 * n_edges + 3 * 8 * n_tasks) << n_stages;
    }
}

/** A chain of tasks, each with a buffer that the next one reads. */
struct Chain {
    explicit Chain(int n) {
        for (int t = 0; t < n; t++) {
            task.push_back({t, 1 + t % 3, 0});
            start.push_back(4 * t);
            buffer.push_back({t, t, t + 1 < n ? 1 : 0, 8, 0});
            if (t + 1 < n)
                reader.push_back({t + 1, 0});
        }
        of.n_tasks = of.n_buffers = of.n_resources = n;
        of.task = task.data();
        of.buffer = buffer.data();
        of.n_readers = n - 1;
        of.reader = reader.data();
        edges.n_tasks = n;
        pti_start_edges_add_buffers(&edges, &of);
    }
    ~Chain() { std::free(edges.edge); }
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;

    std::vector<pti_task> task;
    std::vector<pti_frame_buffer> buffer;
    std::vector<pti_buffer_reader> reader;
    std::vector<int64_t> start;
    pti_stream_tasks of = {};
    pti_start_edges edges = {};
};

TEST(Placing, ABufferIsLoweredWithoutALookAtTheWholeGraph) {
    for (const int n : {100, 1000, 10000}) {
        Chain chain(n);
        ASSERT_EQ(pti_place_tighten(&chain.of, &chain.edges, 6, chain.start.data()), PTI_FOUND);
        EXPECT_GE(chain.edges.n_looks, n / 8) << "some buffers are tried with a frame less";
        EXPECT_LE(chain.edges.n_looks, 16 * n) << n;
    }
}

} // namespace
