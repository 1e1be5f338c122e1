#include "graph/map/random_net.h"
#include "graph/schedule/brute_force.h"
#include "support/scale.h"

#include <string>

/* Rounds of several frames, whose turns have units of their own. */

namespace {

/** A net's rounds; all actors are free unless they have state, or are fixed. */
class Round {
  public:
    Round(const pti_net &net, int n_turns, bool is_tied) : n_actors(net.n_actors) {
        EXPECT_TRUE(pti_net_unroll(&net, n_turns, &this->net));
        for (int a = 0; a < this->net.n_actors && !is_tied; a++)
            this->net.is_tied[a] = false;
    }
    ~Round() { pti_net_free(&net); }
    Round(const Round &) = delete;
    Round &operator=(const Round &) = delete;

    pti_net net = {};
    int n_actors;
};

TEST(Turns, ReadOlderFramesFromEarlierTurns) {
    Random random(3);
    const Net drawn(random, 6, 2, true, false);
    for (int n_turns = 2; n_turns < 5; n_turns++) {
        const Round round(drawn.net, n_turns, true);
        for (int a = 0; a < round.net.n_arrays; a++) {
            const pti_net_array &base = drawn.net.array[a % drawn.net.n_arrays];
            const pti_net_array &array = round.net.array[a];
            ASSERT_EQ(array.n_flows, base.n_flows);
            for (int f = 0; f < array.n_flows; f++) {
                const pti_net_flow &was = drawn.net.flow[base.first_flow + f];
                const pti_net_flow &is = round.net.flow[array.first_flow + f];
                EXPECT_EQ(is.actor % drawn.net.n_actors, was.actor);
                EXPECT_EQ(is.delay * n_turns + is.actor / drawn.net.n_actors -
                              a / drawn.net.n_arrays,
                          was.delay);
            }
        }
    }
}

/** The work of each resource with one turn's mapping, without anything of rounds. */
void add_work(const pti_net &net, const int *unit, std::vector<int64_t> *work) {
    pti_expansion expansion;
    ASSERT_TRUE(pti_expand(&net, unit, &expansion));
    work->resize(static_cast<size_t>(expansion.tasks.n_resources));
    for (int t = 0; t < expansion.tasks.n_tasks; t++)
        if (expansion.tasks.task[t].resource >= 0)
            (*work)[static_cast<size_t>(expansion.tasks.task[t].resource)] +=
                expansion.tasks.task[t].ticks;
    pti_expansion_free(&expansion);
}

/** The longest of all turns' work together. */
int64_t work_of_turns(const pti_net &net, int n_turns, const int *unit) {
    std::vector<int64_t> work;
    for (int turn = 0; turn < n_turns; turn++)
        add_work(net, unit + turn * net.n_actors, &work);
    return std::max<int64_t>(1, *std::max_element(work.begin(), work.end()));
}

TEST(TurnsRandom, WithoutStateARoundTakesTheWorkOfItsTurns) {
    Random random(test_seed("TurnsRandom.WithoutStateARoundTakesTheWorkOfItsTurns"));
    for (int64_t k = 0; k < scaled(200); k++) {
        const Net drawn(random, 6, 3, false, random.chance(50));
        const int n_turns = static_cast<int>(random.number(2, 4));
        const Round round(drawn.net, n_turns, false);
        std::vector<int> unit;
        for (int a = 0; a < round.net.n_actors; a++)
            unit.push_back(static_cast<int>(random.number(0, drawn.net.n_units - 1)));
        EXPECT_EQ(bound_of(round.net, unit.data()), work_of_turns(drawn.net, n_turns, unit.data()));
        pti_expansion expansion;
        pti_periodic schedule;
        ASSERT_TRUE(pti_expand(&round.net, unit.data(), &expansion));
        ASSERT_EQ(pti_periodic_find(&expansion.tasks, bound_of(round.net, unit.data()), &schedule),
                  PTI_FOUND);
        EXPECT_EQ(pti_periodic_find_fault(&expansion.tasks, &schedule), nullptr);
        pti_periodic_free(&schedule);
        pti_expansion_free(&expansion);
    }
}

/** The shortest period of all mappings that keep to what is fixed and tied. */
int64_t least_of_mappings(const pti_net &net, int n_base) {
    std::vector<int> unit(static_cast<size_t>(net.n_actors));
    int64_t n_all = 1, least = INT64_MAX;
    for (int a = 0; a < net.n_actors; a++)
        n_all *= net.n_units;
    for (int64_t k = 0; k < n_all; k++) {
        bool is_kept = true;
        int64_t rest = k;
        for (int a = 0; a < net.n_actors; a++, rest /= net.n_units) {
            unit[static_cast<size_t>(a)] = static_cast<int>(rest % net.n_units);
            is_kept = is_kept && (net.fixed[a] < 0 || net.fixed[a] == unit[static_cast<size_t>(a)]);
            is_kept = is_kept && (!net.is_tied[a] || unit[static_cast<size_t>(a)] ==
                                                         unit[static_cast<size_t>(a % n_base)]);
        }
        if (is_kept)
            least = std::min(least, bound_of(net, unit.data()));
    }
    return least;
}

TEST(TurnsRandom, MappingsHaveTheShortestPeriodOfAll) {
    Random random(test_seed("TurnsRandom.MappingsHaveTheShortestPeriodOfAll"));
    for (int64_t k = 0; k < scaled(100); k++) {
        const Net drawn(random, 3, 3, random.chance(30), random.chance(50));
        const Round round(drawn.net, 2, random.chance(30));
        pti_mapping mapping;
        ASSERT_EQ(pti_mapping_find(&round.net, PTI_OBJECTIVE_PERIOD, nullptr, &mapping), PTI_FOUND);
        EXPECT_TRUE(mapping.is_exact);
        EXPECT_EQ(mapping.score.period, bound_of(round.net, mapping.unit));
        EXPECT_EQ(mapping.score.period, least_of_mappings(round.net, round.n_actors));
        std::free(mapping.unit);
    }
}

/** One actor or two in turn on units that compute in host memory. */
pti_stream_tasks expand_small(Random &random, pti_expansion *expansion, std::string *text) {
    pti_net net = {};
    net.n_actors = static_cast<int>(random.number(1, 2));
    net.n_units = 2;
    net.n_memories = 1;
    net.n_arrays = net.n_actors + 1;
    std::vector<int64_t> ticks;
    std::vector<int> order;
    std::vector<pti_net_array> arrays;
    std::vector<pti_net_flow> flows;
    for (int a = 0; a < net.n_actors; a++) {
        order.push_back(a);
        for (int u = 0; u < net.n_units; u++)
            ticks.push_back(random.number(1, 3));
    }
    for (int a = 0; a < net.n_arrays; a++) {
        arrays.push_back({random.number(1, 9), a - 1, a, a < net.n_actors, 0, 0, 0});
        if (a < net.n_actors)
            flows.push_back({a, 0});
    }
    net.ticks = list(ticks);
    net.fixed = list(std::vector<int>(order.size(), -1));
    net.order = list(order);
    net.scratch_bytes = list(std::vector<int64_t>(order.size()));
    net.array = list(arrays);
    net.flow = list(flows);
    net.unit_memory = list(std::vector<int>(2));
    net.host = list(std::vector<int>(1));
    net.rate = list(std::vector<double>(1));
    net.latency = list(std::vector<double>(1));
    EXPECT_TRUE(pti_net_index(&net));
    const Round round(net, 2, false);
    std::vector<int> unit;
    for (int a = 0; a < round.net.n_actors; a++) {
        unit.push_back(static_cast<int>(random.number(0, 1)));
        *text += "actor " + std::to_string(a) + " on " + std::to_string(unit.back()) + ": " +
                 std::to_string(round.net.ticks[a * 2 + unit.back()]) + "\n";
    }
    EXPECT_TRUE(pti_expand(&round.net, unit.data(), expansion));
    pti_net_free(&net);
    return expansion->tasks;
}

TEST(TurnsRandom, BuffersAreLeastAsByBruteForce) {
    Random random(test_seed("TurnsRandom.BuffersAreLeastAsByBruteForce"));
    int64_t n_compared = 0;
    for (int64_t k = 0; k < scaled(30); k++) {
        pti_expansion expansion;
        std::string text;
        const pti_stream_tasks of = expand_small(random, &expansion, &text);
        pti_period_bound bound;
        pti_periodic schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        ASSERT_EQ(pti_periodic_find(&of, bound.ticks, &schedule), PTI_FOUND);
        EXPECT_EQ(pti_periodic_find_fault(&of, &schedule), nullptr);
        const int64_t bytes = bytes_of(of, schedule);
        if (schedule.is_least && bound.ticks < 8) {
            EXPECT_EQ(BruteForce(of, bound.ticks, bytes).best(), bytes) << text;
            n_compared++;
        }
        pti_periodic_free(&schedule);
        pti_expansion_free(&expansion);
    }
    std::printf("%lld compared\n", static_cast<long long>(n_compared));
}

} // namespace
