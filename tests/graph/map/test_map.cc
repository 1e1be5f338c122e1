#include "graph/map/random_net.h"
#include "support/scale.h"

#include <algorithm>
#include <string>
#include <vector>

/* Mappings against all of them, and what a mapping expands to. */

namespace {

int64_t bytes_of(const pti_net &net, const int *unit) {
    pti_expansion expansion;
    int64_t bytes = 0;
    EXPECT_TRUE(pti_expand(&net, unit, &expansion));
    for (int b = 0; b < expansion.tasks.n_buffers; b++)
        bytes += expansion.tasks.buffer[b].frame_bytes;
    pti_expansion_free(&expansion);
    return bytes;
}

/** The least of a measure over all mappings. */
template <class Measure> int64_t least_of_all(const pti_net &net, const Measure &measure) {
    std::vector<int> unit(static_cast<size_t>(net.n_actors));
    int64_t least = INT64_MAX, n_all = 1;
    for (int a = 0; a < net.n_actors; a++)
        n_all *= net.n_units;
    for (int64_t k = 0; k < n_all; k++) {
        bool is_kept = true;
        int64_t rest = k;
        for (int a = 0; a < net.n_actors; a++, rest /= net.n_units) {
            unit[static_cast<size_t>(a)] = static_cast<int>(rest % net.n_units);
            is_kept = is_kept && (net.fixed[a] < 0 || net.fixed[a] == unit[static_cast<size_t>(a)]);
        }
        if (is_kept)
            least = std::min(least, measure(net, unit.data()));
    }
    return least;
}

TEST(MappingRandom, HasTheShortestPeriodOfAllMappings) {
    Random random(test_seed("MappingRandom.HasTheShortestPeriodOfAllMappings"));
    for (int64_t round = 0; round < scaled(1000); round++) {
        const Net drawn(random, 8, 3, random.chance(30), random.chance(50));
        pti_mapping mapping;
        ASSERT_EQ(pti_mapping_find(&drawn.net, PTI_OBJECTIVE_PERIOD, nullptr, &mapping), PTI_FOUND);
        EXPECT_TRUE(mapping.is_exact);
        EXPECT_EQ(mapping.score.period, bound_of(drawn.net, mapping.unit));
        EXPECT_EQ(mapping.score.period, least_of_all(drawn.net, bound_of));
        std::free(mapping.unit);
    }
}

TEST(MappingRandom, HasTheFewestBytesOfAllMappings) {
    Random random(test_seed("MappingRandom.HasTheFewestBytesOfAllMappings"));
    for (int64_t round = 0; round < scaled(100); round++) {
        const Net drawn(random, 6, 3, random.chance(30), random.chance(50));
        pti_mapping mapping;
        ASSERT_EQ(pti_mapping_find(&drawn.net, PTI_OBJECTIVE_MEMORY, nullptr, &mapping), PTI_FOUND);
        EXPECT_EQ(mapping.score.n_bytes, bytes_of(drawn.net, mapping.unit));
        EXPECT_EQ(mapping.score.n_bytes, least_of_all(drawn.net, bytes_of));
        std::free(mapping.unit);
    }
}

TEST(MappingRandom, OfManyActorsIsAsTheScoreSays) {
    Random random(test_seed("MappingRandom.OfManyActorsIsAsTheScoreSays"));
    for (int64_t round = 0; round < scaled(20); round++) {
        const Net drawn(random, 60, 4, random.chance(30), random.chance(50));
        pti_mapping mapping;
        ASSERT_EQ(pti_mapping_find(&drawn.net, PTI_OBJECTIVE_PERIOD, nullptr, &mapping), PTI_FOUND);
        EXPECT_EQ(mapping.score.period, bound_of(drawn.net, mapping.unit));
        for (int a = 0; a < drawn.n_actors; a++)
            EXPECT_TRUE(drawn.net.fixed[a] < 0 || drawn.net.fixed[a] == mapping.unit[a]);
        std::free(mapping.unit);
    }
}

TEST(Mapping, NobodyRunsWhereHeIsNotAllowed) {
    Random random(7);
    const Net drawn(random, 5, 3, false, false);
    const std::vector<char> nowhere(static_cast<size_t>(drawn.net.n_actors * drawn.net.n_units));
    pti_mapping mapping;
    EXPECT_EQ(pti_mapping_find(&drawn.net, PTI_OBJECTIVE_PERIOD,
                               reinterpret_cast<const bool *>(nowhere.data()), &mapping),
              PTI_NONE_FOUND);
}

/** How many tasks the program's taking of a frame does not wait for, directly or not. */
int count_left(const pti_stream_tasks &tasks, int take) {
    std::vector<bool> is_before(static_cast<size_t>(tasks.n_tasks));
    is_before[static_cast<size_t>(take)] = true;
    for (int round = 0; round < tasks.n_tasks; round++)
        for (int b = 0; b < tasks.n_buffers; b++)
            for (int r = 0; r < tasks.buffer[b].n_readers; r++) {
                const pti_buffer_reader &reader = tasks.reader[tasks.buffer[b].first_reader + r];
                if (reader.delay == 0 && is_before[static_cast<size_t>(reader.task)])
                    is_before[static_cast<size_t>(tasks.buffer[b].producer)] = true;
            }
    return static_cast<int>(std::count(is_before.begin(), is_before.end(), false));
}

/* The program takes a frame once, after all of its tasks, and feeds it once. */
TEST(ExpansionRandom, FramesAreTakenBehindAllTheirTasks) {
    Random random(test_seed("ExpansionRandom.FramesAreTakenBehindAllTheirTasks"));
    for (int64_t round = 0; round < scaled(100); round++) {
        const Net drawn(random, 8, 3, true, true);
        std::vector<int> unit;
        for (int a = 0; a < drawn.net.n_actors; a++)
            unit.push_back(static_cast<int>(random.number(0, drawn.net.n_units - 1)));
        pti_expansion expansion;
        ASSERT_TRUE(pti_expand(&drawn.net, unit.data(), &expansion));
        int n_fed = 0, n_taken = 0, take = 0;
        for (int t = 0; t < expansion.tasks.n_tasks; t++) {
            n_fed += expansion.task[t].kind == PTI_TASK_FEED;
            n_taken += expansion.task[t].kind == PTI_TASK_TAKE;
            take = expansion.task[t].kind == PTI_TASK_TAKE ? t : take;
        }
        EXPECT_LE(n_fed, 1);
        EXPECT_EQ(n_taken, 1);
        EXPECT_EQ(count_left(expansion.tasks, take), 0);
        pti_expansion_free(&expansion);
    }
}

/* Every firing reads what lies in the memory of its unit, and every transfer goes over a link. */
TEST(ExpansionRandom, MovesFramesOverLinksToWhereTheyAreRead) {
    Random random(test_seed("ExpansionRandom.MovesFramesOverLinksToWhereTheyAreRead"));
    for (int64_t round = 0; round < scaled(100); round++) {
        const Net drawn(random, 8, 3, true, true);
        const pti_net &net = drawn.net;
        std::vector<int> unit;
        for (int a = 0; a < net.n_actors; a++)
            unit.push_back(static_cast<int>(random.number(0, net.n_units - 1)));
        pti_expansion expansion;
        ASSERT_TRUE(pti_expand(&net, unit.data(), &expansion));
        int64_t n_read = 0, n_flows = 0;
        for (int b = 0; b < expansion.tasks.n_buffers; b++) {
            const pti_frame_buffer &held = expansion.tasks.buffer[b];
            const pti_buffer_note &note = expansion.buffer[b];
            for (int r = held.first_reader; r < held.first_reader + held.n_readers; r++) {
                const pti_buffer_reader &reader = expansion.tasks.reader[r];
                const pti_task_note &task = expansion.task[reader.task];
                EXPECT_TRUE(reader.delay > 0 || reader.task > held.producer);
                if (task.kind == PTI_TASK_FIRE) {
                    EXPECT_EQ(net.unit_memory[unit[static_cast<size_t>(task.actor)]], note.memory);
                    n_read++;
                } else if (task.kind == PTI_TASK_MOVE) {
                    EXPECT_EQ(task.from, note.memory);
                    EXPECT_EQ(task.array, note.array);
                    EXPECT_GT(net.rate[task.from * net.n_memories + task.to], 0);
                }
            }
        }
        for (int a = 0; a < net.n_arrays; a++)
            n_flows += net.array[a].n_flows;
        EXPECT_EQ(n_read, n_flows);
        pti_expansion_free(&expansion);
    }
}

/** A port in many pieces, and actors on one unit that read some of them each. */
struct Pieces {
    Pieces(int n_actors, int n_pieces, int n_read) {
        net.n_actors = n_actors;
        net.n_units = 1;
        net.n_memories = 2;
        net.n_arrays = n_pieces + n_actors;
        std::vector<int> order;
        std::vector<pti_net_array> arrays;
        std::vector<pti_net_flow> flows;
        for (int p = 0; p < n_pieces; p++) {
            const int first = static_cast<int>(flows.size());
            for (int k = 0; k < n_read; k++)
                flows.push_back({(p + k) % n_actors, 0});
            arrays.push_back({8, -1, first, n_read, 0, p, 8 * p});
        }
        for (int a = 0; a < n_actors; a++) {
            order.push_back(a);
            arrays.push_back({8, a, static_cast<int>(flows.size()), 0, 0, 0, 0});
        }
        net.ticks = list(std::vector<int64_t>(order.size(), 1));
        net.fixed = list(std::vector<int>(order.size(), 0));
        net.order = list(order);
        net.scratch_bytes = list(std::vector<int64_t>(order.size(), 0));
        net.array = list(arrays);
        net.flow = list(flows);
        net.unit_memory = list(std::vector<int>{0});
        net.host = list(std::vector<int>{1, 1});
        net.rate = list(std::vector<double>{0, 1, 1, 0});
        net.latency = list(std::vector<double>(4, 0));
        EXPECT_TRUE(pti_net_index(&net));
    }
    ~Pieces() { pti_net_free(&net); }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;

    pti_net net = {};
};

TEST(Expansion, LooksAtEachReaderAFewTimes) {
    for (const int n : {20, 200, 1000}) {
        const Pieces many(n, 4 * n, 10);
        pti_expansion expansion;
        ASSERT_TRUE(pti_expand(&many.net, many.net.fixed, &expansion));
        const int64_t n_whole = 2 + n + n + 4 * n, n_readers = 4 * n * 10 + 4 * n + 2 * n;
        EXPECT_GE(expansion.tasks.n_buffers, 2) << "two memories have all pieces each";
        EXPECT_LE(expansion.n_looks, 8 * (n_whole + n_readers)) << n;
        pti_expansion_free(&expansion);
    }
}

} // namespace
