#include "graph/plan/graph_planned.h"
#include "support/random.h"
#include "support/scale.h"
#include "support/xml.h"

#include <jansson.h>

#include <string>
#include <vector>

/* Plans of frames in turn on several units. */

namespace {

struct Actor {
    double milliseconds;
    std::string on;
};

std::string chain(const std::vector<Actor> &actors) {
    std::string text = "digraph { { node [type=f32, extents=\"64x64\"]; ";
    for (size_t k = 0; k <= actors.size(); k++)
        text += "x" + std::to_string(k) + "; ";
    text += "}\n";
    for (size_t k = 0; k < actors.size(); k++) {
        const std::string name = "a" + std::to_string(k);
        text += name + " [kernel=\"k[i,j]: in p[i,j]; out q[i,j]\", seconds=\"" +
                std::to_string(actors[k].milliseconds) + "ms\", on=\"" + actors[k].on + "\"]; x" +
                std::to_string(k) + " -> " + name + " [as=p]; " + name + " -> x" +
                std::to_string(k + 1) + " [as=q];\n";
    }
    return text + "}";
}

class GraphTurns : public GraphPlanned {};

TEST_F(GraphTurns, DivideTheWorkOfOneActor) {
    const struct {
        std::vector<Actor> actors;
        int n_turns;
        double period_ms;
    } cases[] = {
        {{{6, "gpu0"}}, 1, 6},
        {{{6, "gpu0|gpu1"}}, 2, 3},
        {{{6, "gpu0|gpu1|gpu2"}}, 3, 2},
        {{{6, "gpu0 | gpu0 | gpu1"}}, 3, 4},
        {{{6, "gpu0|gpu1"}, {1, "gpu0"}}, 2, 4},
        {{{6, "gpu0|gpu1"}, {3, "gpu2"}}, 2, 3},
        {{{6, "gpu0|gpu1"}, {6, "gpu0|gpu1|gpu2"}}, 6, 5},
        {{{6, "gpu0|gpu1"}, {1, "auto"}}, 2, 3},
    };
    for (const auto &of : cases) {
        const polytile_graph_plan *made = plan(chain(of.actors));
        ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
        EXPECT_EQ(made->n_turns, of.n_turns);
        EXPECT_NEAR(1e3 * made->period_s, of.period_ms, 1e-3);
        EXPECT_NEAR(1e3 * made->bound_s, of.period_ms, 1e-3);
        EXPECT_GE(made->latency_s, made->period_s);
    }
}

TEST_F(GraphTurns, FramesOfARoundComeEvenly) {
    const polytile_graph_plan *made = plan(chain({{6, "gpu0|gpu1|gpu2"}}));
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    std::vector<double> starts;
    for (int t = 0; t < made->n_tasks; t++)
        if (made->task[t].unit >= 0)
            starts.push_back(1e3 * made->task[t].start_s);
    ASSERT_EQ(starts.size(), 3u);
    EXPECT_NEAR(starts[1] - starts[0], 2, 1e-3);
    EXPECT_NEAR(starts[2] - starts[1], 2, 1e-3);
    EXPECT_NEAR(1e3 * made->latency_s, 6, .01) << "no frame waits for another one";
}

TEST_F(GraphTurns, AreFoundWhereTheyAreLookedFor) {
    polytile_graph_options options = {};
    options.in_turn = true;
    EXPECT_NEAR(1e3 * plan(chain({{6, "auto"}}), options)->period_s, 2, 1e-3);
    EXPECT_NEAR(1e3 * plan(chain({{5, "auto"}, {1, "auto"}}), options)->period_s, 2, 1e-3);
    EXPECT_NEAR(1e3 * plan(chain({{5, "auto"}, {1, "auto"}}))->period_s, 5, 1e-3);
    EXPECT_NEAR(1e3 * plan(chain({{6, "gpu0"}}), options)->period_s, 6, 1e-3) << "on= is kept";
    options.objective = "memory";
    EXPECT_EQ(plan(chain({{6, "auto"}}), options)->n_turns, 1);
}

/* Table 2 of Boulos et al. 2012 on two GPUs: the pipeline has 32.6 frames a second, or 41.8. */
TEST_F(GraphTurns, BalanceWhatAPipelineCannot) {
    const char two[] = "digraph { gpu0 [device=\"cuda:0\"]; gpu1 [device=\"cuda:1\"] }";
    polytile_graph_options options = {};
    options.in_turn = true;
    std::vector<Actor> actors;
    for (const double ms : {.225, .738, 2.276, 14.908, 12.510, 5.554, 5.839, 5.681})
        actors.push_back({ms, "auto"});
    EXPECT_NEAR(1 / plan(chain(actors), two, options)->period_s, 2 * 20.95, .01);
}

TEST_F(GraphTurns, AreNeverSlowerThanOneUnitAnActor) {
    Random random(test_seed("GraphTurns.AreNeverSlowerThanOneUnitAnActor"));
    polytile_graph_options options = {};
    options.in_turn = true;
    for (int64_t round = 0; round < scaled(40); round++) {
        std::vector<Actor> actors;
        double work = 0;
        for (int64_t k = random.number(1, 5); k > 0; k--) {
            actors.push_back({static_cast<double>(random.number(1, 20)), "auto"});
            work += actors.back().milliseconds;
        }
        const polytile_graph_plan *one = plan(chain(actors));
        const polytile_graph_plan *turns = plan(chain(actors), options);
        EXPECT_LE(turns->period_s, one->period_s * (1 + 1e-9));
        EXPECT_NEAR(1e3 * turns->period_s, work / 3, 1e-3) << "a round has a frame a unit";
    }
}

TEST_F(GraphTurns, ChannelsStayWithinLimits) {
    const char small[] = "digraph { a [device=\"cuda:0(memory=48KiB)\"]; "
                         "b [device=\"cuda:1(memory=48KiB)\"] }";
    const polytile_graph_plan *made = plan(chain({{6, "a|b"}, {1, "a"}}), small);
    ASSERT_NE(made, nullptr) << polytile_last_error(ctx);
    for (int m = 0; m < made->n_memories; m++)
        EXPECT_TRUE(made->memory[m].limit_bytes == 0 ||
                    made->memory[m].n_bytes <= made->memory[m].limit_bytes);
    EXPECT_EQ(plan(chain({{6, "a|b"}}),
                   "digraph { a [device=\"cuda:0\"]; b [device=\"cuda:1(memory=16KiB)\"] }"),
              nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    EXPECT_TRUE(says("one frame of actor a0 needs 32 KiB")) << polytile_last_error(ctx);
    EXPECT_TRUE(says("b is limited to 16 KiB")) << polytile_last_error(ctx);
}

/* Parts cut arrays in pieces, of which the graph knows nothing. */
TEST_F(GraphTurns, StateIsNamedBehindArraysInPieces) {
    const std::string graph =
        "digraph { { node [type=u8, extents=\"2x16\"]; a0; a1; s; a2 }\n"
        "k0 [kernel=\"k0[i,j]: in I[i,j]; out O[i,j]\", on=\"gpu1+gpu0\"];\n"
        "k5 [kernel=\"k5[i,j]: in I[i,j]; inout S[i,j]; out O[i,j]\", on=\"gpu1|gpu0\"];\n"
        "a0 -> k0 [as=I]; k0 -> a1 [as=O]; a1 -> k5 [as=I]; s -> k5 [as=S, delay=1];\n"
        "k5 -> s [as=S]; k5 -> a2 [as=O] }";
    EXPECT_EQ(plan(graph), nullptr);
    EXPECT_TRUE(says("actor k5 is on several units in turn, and s goes with delay=")) << error();
}

TEST_F(GraphTurns, AreRefusedWithASentence) {
    const std::string state = "digraph { { node [type=f32, extents=8]; x; s }\n"
                              "add [kernel=\"add[i]: in x[i]; inout s[i]\", on=\"gpu0|gpu1\"];\n"
                              "x -> add [as=x]; s -> add [as=s, delay=1]; add -> s [as=s] }";
    EXPECT_EQ(plan(state), nullptr);
    EXPECT_EQ(status, POLYTILE_DECLARATION);
    EXPECT_TRUE(says("actor add is on several units in turn, and s goes with delay= from frame to "
                     "frame; put it on one unit"))
        << polytile_last_error(ctx);
    EXPECT_EQ(plan(chain({{1, "gpu0|gpu7"}})), nullptr);
    EXPECT_TRUE(says("actor a0 is on gpu7, which is no unit of the machine"));
    EXPECT_EQ(plan(chain({{1, std::string(300, 'g') + "|gpu0"}})), nullptr);
    EXPECT_EQ(plan(chain({{1, "|gpu0"}})), nullptr);
    EXPECT_TRUE(says("a bar without a unit"));
    EXPECT_EQ(plan(chain({{1, "gpu0|"}})), nullptr);
    EXPECT_TRUE(says("a bar without a unit")) << polytile_last_error(ctx);
    std::string many = "gpu0";
    for (int k = 1; k < 33; k++)
        many += "|gpu1";
    EXPECT_EQ(plan(chain({{1, many}})), nullptr);
    EXPECT_TRUE(says("more than 32 units in turn"));
    EXPECT_EQ(plan(chain({{1, many.substr(0, 4 + 5 * 6)}, {1, many.substr(0, 4 + 5 * 4)}})),
              nullptr);
    EXPECT_TRUE(says("the units repeat after 35 frames; at most 32")) << polytile_last_error(ctx);
    polytile_graph_options options = {};
    options.no_overlap = true;
    EXPECT_EQ(plan(chain({{1, "gpu0|gpu1"}}), options), nullptr);
    EXPECT_EQ(status, POLYTILE_UNSUPPORTED);
    options.in_turn = true;
    EXPECT_EQ(plan(chain({{1, "auto"}}), options), nullptr);
    EXPECT_EQ(status, POLYTILE_INVALID);
}

TEST_F(GraphTurns, AreWrittenAsTextJsonDotAndAPicture) {
    const polytile_graph_plan *made = plan(chain({{6, "gpu0|gpu1"}, {1, "gpu0"}}));
    char *text = nullptr;
    ASSERT_EQ(polytile_graph_plan_to_dot(made, &text), POLYTILE_OK);
    const polytile_graph_plan *again = plan(text);
    ASSERT_NE(again, nullptr) << polytile_last_error(ctx);
    EXPECT_EQ(again->n_turns, 2);
    std::free(text);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_JSON, &text), POLYTILE_OK);
    json_t *json = json_loads(text, 0, nullptr);
    std::free(text);
    ASSERT_NE(json, nullptr);
    const json_t *actors = json_object_get(json, "actors");
    ASSERT_EQ(json_array_size(actors), 3u) << "once a unit";
    EXPECT_STREQ(json_string_value(json_object_get(json_array_get(actors, 1), "on")), "gpu1");
    EXPECT_EQ(json_integer_value(json_object_get(json, "turns")), 2);
    polytile_graph_summary summary;
    polytile_graph_plan_get_summary(made, &summary);
    EXPECT_EQ(json_array_size(json_object_get(json, "channels")),
              static_cast<size_t>(summary.n_channels));
    json_decref(json);
    EXPECT_EQ(summary.h2d_bytes, 64 * 64 * 4 * 3 / 2) << "a frame's, on average";
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_TEXT, &text), POLYTILE_OK);
    EXPECT_NE(std::string(text).find("gpu1, in turn"), std::string::npos) << text;
    std::free(text);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_SVG, &text), POLYTILE_OK);
    EXPECT_NE(std::string(text).find("A round of 2 frames"), std::string::npos);
    std::free(text);
}

} // namespace
