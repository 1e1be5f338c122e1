#include "graph/plan/graph_planned.h"
#include "support/random.h"
#include "support/scale.h"
#include "support/xml.h"

#include <jansson.h>

#include <cstdlib>
#include <string>
#include <vector>

/* Plans of actors whose domains are split over units. */

namespace {

class GraphParts : public GraphPlanned {};

/** One actor with its arrays; more: attributes of the actor. */
std::string one(const std::string &kernel, const std::string &more,
                const std::string &extents = "64x64") {
    return "digraph { { node [type=f32, extents=\"" + extents + "\"]; x; y } k [kernel=\"" +
           kernel + "\", " + more + "]; x -> k [as=p]; k -> y [as=q] }";
}

TEST_F(GraphParts, DivideTheWorkOfOneActor) {
    const struct {
        const char *on;
        int n_parts;
        double period_ms;
    } cases[] = {
        {"gpu0", 1, 6},           {"gpu0+gpu1", 2, 3},           {"gpu0 + gpu1", 2, 3},
        {"gpu0+gpu0+gpu1", 2, 4}, {"gpu0+gpu1+gpu0+gpu1", 4, 3}, {"gpu1+gpu1", 1, 6},
    };
    for (const auto &of : cases) {
        const polytile_graph_plan *made =
            plan(one("k[i,j]: in p[i,j]; out q[i,j]",
                     std::string("seconds=0.006, on=\"") + of.on + "\"", "60x60"));
        ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
        EXPECT_EQ(made->n_actors, of.n_parts) << of.on;
        EXPECT_NEAR(1e3 * made->period_s, of.period_ms, 1e-3) << of.on;
        EXPECT_LT(made->latency_s, .0075) << "a frame takes the time of a part";
    }
}

/** The bytes that go to the units are those of the rows that parts need, each once a memory. */
TEST_F(GraphParts, MoveTheRowsThatPartsNeed) {
    const uint64_t seed = test_seed("GraphParts.MoveTheRowsThatPartsNeed");
    Random random(seed);
    for (int64_t round = 0; round < scaled(200); round++) {
        const int64_t n = random.number(8, 60), before = random.number(0, 3),
                      after = random.number(0, 3), n_units = random.number(2, 3);
        const int64_t first = before, last = n - 1 - after;
        std::string on;
        for (int64_t u = 0; u < n_units; u++)
            on += (u == 0 ? "gpu" : "+gpu") + std::to_string(u);
        const polytile_graph_plan *made =
            plan(one("k[i,j]: in p[i-" + std::to_string(before) + ":i+" + std::to_string(after) +
                         ",j]; out q[i,j]",
                     "seconds=0.006, domain=\"" + std::to_string(first) + ":" +
                         std::to_string(last) + ",0:2\", on=\"" + on + "\"",
                     std::to_string(n) + "x3"));
        ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
        int64_t needed = 0;
        std::vector<bool> is_written(static_cast<size_t>(n));
        for (int p = 0; p < made->n_parts; p++) {
            const polytile_range &rows = made->part[p].threads.range[0];
            needed += rows.hi + after - (rows.lo - before) + 1;
            for (int64_t row = rows.lo; row <= rows.hi; row++) {
                EXPECT_FALSE(is_written[static_cast<size_t>(row)]);
                is_written[static_cast<size_t>(row)] = true;
            }
        }
        for (int64_t row = 0; row < n; row++)
            EXPECT_EQ(is_written[static_cast<size_t>(row)], row >= first && row <= last);
        polytile_graph_summary summary;
        polytile_graph_plan_get_summary(made, &summary);
        EXPECT_EQ(summary.h2d_bytes, needed * 12);
        EXPECT_EQ(summary.d2h_bytes, n * 12) << "each row once";
    }
}

TEST_F(GraphParts, AreListedAndDrawn) {
    const polytile_graph_plan *made =
        plan(one("k[i,j]: in p[i,j]; out q[i,j]", "seconds=0.006, on=\"gpu0+gpu1\""));
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    char *json = nullptr, *text = nullptr, *svg = nullptr, *dot = nullptr;
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_JSON, &json), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_TEXT, &text), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_SVG, &svg), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_dot(made, &dot), POLYTILE_OK);
    json_t *whole = json_loads(json, 0, nullptr);
    const json_t *actors = json_object_get(whole, "actors");
    ASSERT_EQ(json_array_size(actors), 2u) << "an actor that is split is listed once a part";
    for (size_t k = 0; k < 2; k++) {
        EXPECT_STREQ(json_string_value(json_object_get(json_array_get(actors, k), "name")), "k");
        EXPECT_NEAR(json_number_value(json_object_get(json_array_get(actors, k), "seconds")), .003,
                    1e-9);
    }
    size_t n_channels = json_array_size(json_object_get(whole, "channels"));
    EXPECT_EQ(n_channels, 6u) << "x and y, on the host and on two units each";
    EXPECT_NE(std::string(text).find("on gpu1, part 2 of 2"), std::string::npos) << text;
    EXPECT_NE(std::string(dot).find("on=\"gpu0+gpu1\""), std::string::npos) << dot;
    json_decref(whole);
    for (char *each : {json, text, svg, dot})
        free(each);
}

TEST_F(GraphParts, WhatCannotBeSplitIsTold) {
    const struct {
        const char *kernel, *more, *message;
    } cases[] = {
        {"k[i,j]: in p[i,j]; out sum q[i,j]", "", "its threads combine values in q"},
        {"k[i,j]: in p[i-1:i+1,j]; out q[i,j]", ", domain=\"1:62,0:63\", repeat=2",
         "runs of repeat= read what all parts left"},
        {"k[i,j]: in p[i,j]; out q[0,j]", ", domain=\"0:0,0:63\"",
         "its parts would write the same rows of q"},
        {"k[i,j]: in p[i,j]; out q[i,j]", ", domain=\"0:0,0:0\"",
         "no dimension of its domain has an index for each"},
    };
    for (const auto &of : cases) {
        EXPECT_EQ(plan(one(of.kernel, std::string("seconds=0.006, on=\"gpu0+gpu1\"") + of.more)),
                  nullptr);
        EXPECT_EQ(status, POLYTILE_DECLARATION);
        EXPECT_TRUE(says(of.message)) << polytile_last_error(ctx);
    }
    const char state[] =
        "digraph { { node [type=f32, extents=8]; x; s } k [kernel=\"k[i]: in p[i]; inout q[i]\", "
        "on=\"gpu0+gpu1\"]; x -> k [as=p]; s -> k [as=q, delay=1]; k -> s [as=q] }";
    EXPECT_EQ(plan(state), nullptr);
    EXPECT_TRUE(says("what goes with delay= from frame to frame is its q"))
        << polytile_last_error(ctx);
    EXPECT_EQ(plan(one("k[i,j]: in p[i,j]; out q[i,j]", "on=\"gpu0+gpu7\"")), nullptr);
    EXPECT_TRUE(says("actor k is on gpu7, which is no unit")) << polytile_last_error(ctx);
    EXPECT_EQ(plan(one("k[i,j]: in p[i,j]; out q[i,j]", "on=\"gpu0+gpu1|gpu2\"")), nullptr);
    EXPECT_TRUE(says("takes frames in turn and is split; do either")) << polytile_last_error(ctx);
    polytile_graph_options options = {};
    options.strategy = "paper";
    EXPECT_EQ(plan(one("k[i,j]: in p[i,j]; out q[i,j]", "on=\"gpu0+gpu1\""), options), nullptr);
    EXPECT_EQ(status, POLYTILE_UNSUPPORTED);
}

TEST_F(GraphParts, ADimensionIsCutWhosePartsLeaveOtherRows) {
    const polytile_graph_plan *made =
        plan(one("k[i,j]: in p[i,j]; out q[j,i]", "seconds=0.006, on=\"gpu0+gpu1\""));
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    ASSERT_EQ(made->n_parts, 2);
    EXPECT_EQ(made->part[0].threads.range[0].hi, 63);
    EXPECT_EQ(made->part[0].threads.range[1].hi, 31);
    EXPECT_EQ(made->part[1].threads.range[1].lo, 32);
}

TEST_F(GraphParts, AreFoundWhereTheyAreLookedFor) {
    polytile_graph_options options = {};
    const std::string free = one("k[i,j]: in p[i,j]; out q[i,j]", "seconds=0.006", "60x60");
    EXPECT_NEAR(1e3 * plan(free)->period_s, 6, 1e-3);
    options.in_parts = true;
    const polytile_graph_plan *made = plan(free, options);
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    EXPECT_NEAR(1e3 * made->period_s, 2, 1e-3);
    EXPECT_EQ(made->n_parts, 3);
    made = plan(one("k[i,j]: in p[i,j]; out q[i,j]", "seconds=0.006, on=gpu0", "60x60"), options);
    EXPECT_NEAR(1e3 * made->period_s, 6, 1e-3) << "on= is kept";
    made = plan(one("k[i,j]: in p[i,j]; out sum q[i,j]", "seconds=0.006", "60x60"), options);
    ASSERT_NE(made, nullptr) << "what cannot be split stays whole";
    EXPECT_NEAR(1e3 * made->period_s, 6, 1e-3);
    options.objective = "memory";
    EXPECT_EQ(plan(free, options)->n_parts, 0);
    options.objective = nullptr;
    options.in_turn = true;
    EXPECT_EQ(plan(free, options), nullptr);
    EXPECT_EQ(status, POLYTILE_INVALID);
}

TEST_F(GraphParts, AreLookedForOverRanks) {
    polytile_graph_options options = {};
    options.in_parts = true;
    const std::string free = one("k[i,j]: in p[i,j]; out q[i,j]", "seconds=0.006", "60x60");
    const char machine[] = "digraph { a [device=\"host(threads=1)\"]; "
                           "b [device=\"host(threads=1)\", rank=1] }";
    const polytile_graph_plan *made = plan(free, machine, options);
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    EXPECT_EQ(made->n_parts, 2);
    EXPECT_NEAR(1e3 * made->period_s, 3, 1e-2);
}

/** What two operands read of one array lies in one place. */
TEST_F(GraphParts, NameAllRowsOfAnArrayThatDoNotFit) {
    const char machine[] = "digraph { b [device=\"host(memory=18KiB,threads=1)\"]; "
                           "c [device=\"host(memory=19KiB,threads=1)\"] }";
    EXPECT_EQ(plan("digraph { { node [type=f32, extents=\"64x64\"]; x; y }\n"
                   "k [kernel=\"k[i,j]: in p[i,j]; in r[0:63,j]; out q[i,j]\", seconds=0.001, "
                   "on=\"b+c\"]; x -> k [as=p]; x -> k [as=r]; k -> y [as=q] }",
                   machine),
              nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    EXPECT_TRUE(says("needs 24 KiB (x 16 KiB, y 8 KiB)")) << polytile_last_error(ctx);
}

TEST_F(GraphParts, AreOneActorInNotes) {
    const polytile_graph_plan *made =
        plan(one("k[i,j]: in p[i,j]; out q[i,j]", "on=\"gpu0+gpu1\""));
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    const std::string notes = polytile_graph_plan_get_notes(made);
    EXPECT_NE(notes.find("the seconds of 1 actor are predicted"), std::string::npos) << notes;
}

/** Rows of actors: the heavy one is split so that units have as much to do. */
TEST_F(GraphParts, NeverMakeFramesSlower) {
    const uint64_t seed = test_seed("GraphParts.NeverMakeFramesSlower");
    Random random(seed);
    for (int64_t round = 0; round < scaled(60); round++) {
        std::string text = "digraph { { node [type=f32, extents=\"120x8\"]; ";
        const int64_t n = random.number(1, 4);
        for (int64_t k = 0; k <= n; k++)
            text += "x" + std::to_string(k) + "; ";
        text += "}\n";
        double sum_ms = 0;
        for (int64_t k = 0; k < n; k++) {
            const int64_t ms = random.number(1, 20);
            const std::string name = "a" + std::to_string(k), from = "x" + std::to_string(k),
                              to = "x" + std::to_string(k + 1);
            sum_ms += static_cast<double>(ms);
            text += name + " [kernel=\"k[i,j]: in p[i,j]; out q[i,j]\", seconds=\"" +
                    std::to_string(ms) + "ms\"]; " + from + " -> " + name + " [as=p]; " + name +
                    " -> " + to + " [as=q];\n";
        }
        text += "}";
        polytile_graph_options options = {};
        const polytile_graph_plan *before = plan(text, options);
        options.in_parts = true;
        const polytile_graph_plan *after = plan(text, options);
        ASSERT_TRUE(before != nullptr && after != nullptr) << polytile_last_error(ctx) << text;
        EXPECT_LE(after->period_s, before->period_s);
        EXPECT_GE(1e3 * after->period_s, sum_ms / 3 - 1e-3);
        EXPECT_LE(1e3 * after->period_s, sum_ms / 3 * 1.25) << text;
    }
}

TEST_F(GraphParts, AreAsLargeAsUnitsAreFast) {
    const char machine[] =
        "digraph { cpu [device=\"host(memory=1GiB,threads=1)\"]; gpu0 [device=\"cuda:0\"] }";
    const polytile_graph_plan *made =
        plan(one("k[i,j]: in p[i,j]; out q[i,j]", "on=\"cpu+gpu0\"", "4096x4096"), machine);
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    ASSERT_EQ(made->n_actors, 2);
    EXPECT_NEAR(made->actor[0].seconds / made->actor[1].seconds, 1, .1);
    EXPECT_LT(made->part[0].threads.range[0].hi, 2048) << "the GPU has the larger part";
}

} // namespace
