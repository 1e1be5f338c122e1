#ifndef POLYTILE_TESTS_GRAPH_MAP_RANDOM_NET_H
#define POLYTILE_TESTS_GRAPH_MAP_RANDOM_NET_H

#include "support/random.h"

extern "C" {
#include "graph/map/net.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

/* Random graphs on random machines, as numbers. */

template <class T> T *list(const std::vector<T> &values) {
    T *copy = static_cast<T *>(std::calloc(values.size() + 1, sizeof(T)));
    std::copy(values.begin(), values.end(), copy);
    return copy;
}

/** A net of its own; host memory is the last one, and all others have links with it. */
class Net {
  public:
    Net(Random &random, int most_actors, int most_units, bool has_delays, bool has_peers) {
        n_actors = static_cast<int>(random.number(1, most_actors));
        const int n_units = static_cast<int>(random.number(1, most_units));
        const int n_memories = n_units + 1;
        std::vector<int64_t> ticks, scratch;
        std::vector<int> fixed, order, unit_memory, host;
        const bool are_alike = random.chance(30);
        for (int a = 0; a < n_actors; a++) {
            const int64_t all = random.number(0, 30);
            for (int u = 0; u < n_units; u++)
                ticks.push_back(are_alike ? all : random.number(0, 30));
            fixed.push_back(random.chance(15) ? static_cast<int>(random.number(0, n_units - 1))
                                              : -1);
            order.push_back(a);
            scratch.push_back(random.chance(10) ? 7 : 0);
        }
        for (int u = 0; u < n_units; u++)
            unit_memory.push_back(u);
        for (int m = 0; m < n_memories; m++)
            host.push_back(n_units);
        std::vector<double> rate(static_cast<size_t>(n_memories * n_memories)), latency(rate);
        for (int f = 0; f < n_memories; f++)
            for (int t = 0; t < n_memories; t++)
                if (f != t && (f == n_units || t == n_units || (has_peers && random.chance(40)))) {
                    rate[static_cast<size_t>(f * n_memories + t)] =
                        static_cast<double>(random.number(1, 4));
                    latency[static_cast<size_t>(f * n_memories + t)] =
                        static_cast<double>(random.number(0, 2));
                }
        std::vector<pti_net_array> arrays;
        std::vector<pti_net_flow> flows;
        const auto add_array = [&](int producer, bool must_flow) {
            pti_net_array array = {};
            array.n_bytes = random.number(1, 20);
            array.producer = producer;
            array.first_flow = static_cast<int>(flows.size());
            for (int a = producer + 1; a < n_actors; a++)
                if (random.chance(30) || (must_flow && a == n_actors - 1 &&
                                          flows.size() == static_cast<size_t>(array.first_flow)))
                    flows.push_back({a, has_delays && random.chance(20) ? 1 : 0});
            for (int a = 0; has_delays && producer >= 0 && a <= producer; a++)
                if (random.chance(10))
                    flows.push_back({a, static_cast<int>(random.number(1, 2))});
            array.n_flows = static_cast<int>(flows.size()) - array.first_flow;
            arrays.push_back(array);
        };
        add_array(-1, true);
        for (int a = 0; a < n_actors; a++)
            add_array(a, false);
        net.n_actors = n_actors;
        net.n_units = n_units;
        net.n_memories = n_memories;
        net.n_arrays = static_cast<int>(arrays.size());
        net.ticks = list(ticks);
        net.fixed = list(fixed);
        net.order = list(order);
        net.scratch_bytes = list(scratch);
        net.array = list(arrays);
        net.flow = list(flows);
        net.unit_memory = list(unit_memory);
        net.host = list(host);
        net.rate = list(rate);
        net.latency = list(latency);
        EXPECT_TRUE(pti_net_index(&net));
    }
    ~Net() { pti_net_free(&net); }
    Net(const Net &) = delete;
    Net &operator=(const Net &) = delete;

    pti_net net = {};
    int n_actors;
};

/** The bound of a mapping by its tasks, which are found apart from scores. */
inline int64_t bound_of(const pti_net &net, const int *unit) {
    pti_expansion expansion;
    pti_period_bound bound;
    EXPECT_TRUE(pti_expand(&net, unit, &expansion));
    EXPECT_TRUE(pti_period_bound_find(&expansion.tasks, &bound));
    pti_expansion_free(&expansion);
    return bound.ticks;
}

#endif
