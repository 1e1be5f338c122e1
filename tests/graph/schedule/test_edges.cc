#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "graph/schedule/edges.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

/* Edges between tasks, and the list of those of each task. */

namespace {

using Numbers = std::vector<int64_t>;

/** Edges in the order of a list. */
Numbers walk(int64_t first, const int64_t *next) {
    Numbers found;
    for (int64_t k = first; k >= 0; k = next[k])
        found.push_back(k);
    return found;
}

/** The edges of a task that are known, the last one first. */
Numbers enumerate(const pti_start_edges &edges, int task, int pti_start_edge::*end) {
    Numbers found;
    for (int64_t k = edges.n - 1; k >= 0; k--)
        if (edges.edge[k].*end == task)
            found.push_back(k);
    return found;
}

TEST(EdgesRandom, OfATaskAreListedHoweverManyComeAtATime) {
    Random random(test_seed("EdgesRandom.OfATaskAreListedHoweverManyComeAtATime"));
    for (int64_t round = scaled(500); round > 0; round--) {
        pti_start_edges edges = {};
        pti_edge_lists lists;
        edges.n_tasks = static_cast<int>(random.number(1, 8));
        ASSERT_TRUE(pti_edge_lists_begin(&lists, edges.n_tasks));
        for (int64_t portion = random.number(1, 4); portion > 0; portion--) {
            for (int64_t n_new = random.number(0, 9); n_new > 0; n_new--)
                pti_start_edges_add(&edges,
                                    {static_cast<int>(random.number(0, edges.n_tasks - 1)),
                                     static_cast<int>(random.number(0, edges.n_tasks - 1)), 1, 0});
            ASSERT_TRUE(pti_edge_lists_add_new(&lists, &edges));
            for (int t = 0; t < edges.n_tasks; t++) {
                EXPECT_EQ(walk(lists.first_in[t], lists.next_in),
                          enumerate(edges, t, &pti_start_edge::to));
                EXPECT_EQ(walk(lists.first_out[t], lists.next_out),
                          enumerate(edges, t, &pti_start_edge::from));
            }
        }
        pti_edge_lists_free(&lists);
        std::free(edges.edge);
    }
}

TEST(Edges, StartsAreTheEarliestThatSatisfyThem) {
    pti_start_edge list[] = {{0, 1, 3, 0}, {1, 2, 4, 0}, {0, 2, 5, 0}, {2, 0, 2, 1}};
    pti_start_edges edges = {};
    edges.n_tasks = 3;
    edges.n = 4;
    edges.edge = list;
    int64_t start[3] = {};
    int task = -1;
    EXPECT_TRUE(pti_start_edges_solve(&edges, 9, start, &task));
    EXPECT_EQ(Numbers(start, start + 3), (Numbers{0, 3, 7}));
    std::fill(start, start + 3, 0);
    EXPECT_FALSE(pti_start_edges_solve(&edges, 8, start, &task)) << "3 + 4 + 2 ticks a frame";
    EXPECT_TRUE(task >= 0 && task < 3);
}

} // namespace
