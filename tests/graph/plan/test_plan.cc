#include "graph/plan/graph_planned.h"
#include "support/xml.h"

#include <jansson.h>

#include <cmath>
#include <string>
#include <vector>

/* Graphs from text to predictions, with the paper's figures. */

namespace {

class GraphPlan : public GraphPlanned {};

const char two_gpus[] = "digraph { gpu0 [device=\"cuda:0\"]; gpu1 [device=\"cuda:1\"] }";

/** A chain of actors on 64 x 64 floats, with their seconds and units. */
std::string chain(const std::vector<std::pair<double, std::string>> &actors) {
    std::string text = "digraph { { node [type=f32, extents=\"64x64\"]; ";
    for (size_t k = 0; k <= actors.size(); k++)
        text += "x" + std::to_string(k) + "; ";
    text += "}\n";
    for (size_t k = 0; k < actors.size(); k++) {
        const std::string name = "a" + std::to_string(k);
        text += name + " [kernel=\"k[i,j]: in p[i,j]; out q[i,j]\", seconds=" + "\"" +
                std::to_string(actors[k].first * 1e6) + "us\", on=" + actors[k].second + "]; x" +
                std::to_string(k) + " -> " + name + " [as=p]; " + name + " -> x" +
                std::to_string(k + 1) + " [as=q];\n";
    }
    return text + "}";
}

/** Depths of many frames, and an array that is read 1024 frames after it was made: all starts stay
 * below the most ticks. */
TEST_F(GraphPlan, KeepsToDepthsAndDelaysOfManyLongPeriods) {
    const std::string text = R"(digraph {
  { node [type=f32, extents=4]; x; y; z; s }
  a [kernel="k[i]: in p[i]; out q[i]", seconds=3000, on=gpu0];
  b [kernel="k[i]: in p[i], s[i]; out q[i]", seconds=3000, on=gpu1];
  x -> a [as=p, depth=1000003]; a -> y [as=q, depth=655361]; y -> b [as=p]; b -> z [as=q];
  a -> s [as=r]; s -> b [as=s, delay=DELAY] })";
    for (const char *delay : {"0", "1", "1024"}) {
        std::string with = text;
        with.replace(with.find("DELAY"), 5, delay);
        with.replace(with.find("out q[i]\""), 8, "out q[i], r[i]");
        const polytile_graph_plan *made = plan(with, two_gpus);
        ASSERT_NE(made, nullptr) << error();
        EXPECT_NEAR(made->period_s, 3000, 1e-6);
        EXPECT_EQ(pti_periodic_find_fault(&made->expansion.tasks, &made->schedule), nullptr);
        for (int t = 0; t < made->expansion.tasks.n_tasks; t++)
            EXPECT_LT(made->schedule.start[t], PTI_MOST_TICKS);
    }
}

/** The seconds of table 2 of Boulos et al. 2012. */
const std::vector<double> small = {136e-6,  358e-6,  1446e-6, 6645e-6,
                                   4127e-6, 3269e-6, 3453e-6, 3405e-6};
const std::vector<double> large = {225e-6,   738e-6,  2276e-6, 14908e-6,
                                   12510e-6, 5554e-6, 5839e-6, 5681e-6};

std::string saliency(const std::vector<double> &seconds, size_t n_first, const char *on = "gpu1") {
    std::vector<std::pair<double, std::string>> actors;
    for (size_t k = 0; k < seconds.size(); k++)
        actors.push_back({seconds[k], k < n_first ? "gpu0" : on});
    return chain(actors);
}

TEST_F(GraphPlan, HasTheFramesASecondOfThePapersTable2) {
    EXPECT_NEAR(1 / plan(saliency(small, 8), two_gpus)->period_s, 43.8, .05);
    EXPECT_NEAR(1 / plan(saliency(large, 8), two_gpus)->period_s, 20.95, .005);
    EXPECT_NEAR(1 / plan(saliency(large, 5), two_gpus)->period_s, 32.6, .05);
    const polytile_graph_plan *free = plan(saliency(large, 0, "auto"), two_gpus);
    EXPECT_GE(1 / free->period_s, 41.3);
    EXPECT_TRUE(free->mapping_is_exact);
}

/** The pipeline of section 5.1, frames of 16 MB, where work takes as long as the slowest link. */
std::string pipeline(double seconds) {
    const std::string kernel = "kernel=\"inc[i,j]: in in[i,j]; out out[i,j]\", seconds=\"" +
                               std::to_string(seconds * 1e9) + "ns\"";
    return "digraph { { node [type=f32, extents=\"2000x2000\"]; m0; m1; m2 }\n"
           "i1 [on=g0, " +
           kernel + "]; i2 [on=g1, " + kernel +
           "];\n"
           "m0 -> i1 [as=in]; i1 -> m1 [as=out]; m1 -> i2 [as=in]; i2 -> m2 [as=out]; }";
}

std::string two_hosts(const char *rate) {
    return std::string("digraph { g0 [device=\"cuda:0\", rank=0]; g1 [device=\"cuda:0\", rank=1]; "
                       "h0 [device=host, rank=0]; h1 [device=host, rank=1];\n"
                       "edge [bandwidth=\"5GB/s\"]; h0 -> g0; h1 -> g1; h0 -> h1 [bandwidth=\"") +
           rate + "\"] }";
}

TEST_F(GraphPlan, HasTheSpeedUpOfThePapersTwoHosts) {
    polytile_graph_options off = {};
    off.no_overlap = true;
    const double slow = 16e6 / 2.6e9, fast = 16e6 / 5e9;
    EXPECT_NEAR(plan(pipeline(slow), two_hosts("2.6GB/s"), off)->period_s /
                    plan(pipeline(slow), two_hosts("2.6GB/s"))->period_s,
                2.52, 1e-6);
    EXPECT_NEAR(plan(pipeline(fast), two_hosts("5GB/s"), off)->period_s /
                    plan(pipeline(fast), two_hosts("5GB/s"))->period_s,
                3, 1e-6);
}

/** The graph for which the paper's rules are unsound: 1 -> b1 -> 4 and 1 -> b0 -> 2 -> b2 -> 3 ->
 * b3 -> 4. */
const char unsound[] = R"(digraph {
  { node [type=f32, extents=64]; x; b0; b1; b2; b3; y }
  { node [on=gpu0, seconds=1]
    n1 [kernel="n1[i]: in x[i]; out b0[i], b1[i]"]; n2 [kernel="n2[i]: in b0[i]; out b2[i]"];
    n3 [kernel="n3[i]: in b2[i]; out b3[i]"]; n4 [kernel="n4[i]: in b1[i], b3[i]; out y[i]"] }
  x -> n1 [as=x]; n1 -> b0 [as=b0]; n1 -> b1 [as=b1]; b0 -> n2 [as=b0]; n2 -> b2 [as=b2];
  b2 -> n3 [as=b2]; n3 -> b3 [as=b3]; b1 -> n4 [as=b1]; b3 -> n4 [as=b3]; n4 -> y [as=y] })";

TEST_F(GraphPlan, SaysWhatIsUnsoundOfThePapersRules) {
    polytile_graph_options paper = {};
    paper.strategy = "paper";
    const polytile_graph_plan *by_paper = plan(unsound, two_gpus, paper);
    ASSERT_NE(by_paper, nullptr) << error();
    EXPECT_NE(std::string(polytile_graph_plan_get_notes(by_paper)).find("share memory on gpu0"),
              std::string::npos)
        << polytile_graph_plan_get_notes(by_paper);
    const polytile_graph_plan *best = plan(unsound, two_gpus);
    EXPECT_EQ(std::string(polytile_graph_plan_get_notes(best)).find("unsound"), std::string::npos);
}

TEST_F(GraphPlan, PathsOfDifferentLengthMixFramesByThePapersRules) {
    const std::string text = R"(digraph {
  { node [type=f32, extents=64]; x; a; b; y }
  { node [seconds=1] n1 [on=gpu0, kernel="n1[i]: in x[i]; out a[i]"];
    n2 [on=gpu1, kernel="n2[i]: in a[i]; out b[i]"];
    n3 [on=gpu0, kernel="n3[i]: in a[i], b[i]; out y[i]"] }
  x -> n1 [as=x]; n1 -> a [as=a]; a -> n2 [as=a]; n2 -> b [as=b]; a -> n3 [as=a]; b -> n3 [as=b];
  n3 -> y [as=y] })";
    polytile_graph_options paper = {};
    paper.strategy = "paper";
    const polytile_graph_plan *by_paper = plan(text, two_gpus, paper);
    ASSERT_NE(by_paper, nullptr) << error();
    EXPECT_NE(std::string(polytile_graph_plan_get_notes(by_paper)).find("frames mix"),
              std::string::npos)
        << polytile_graph_plan_get_notes(by_paper);
}

TEST_F(GraphPlan, KeepsToLimitsByLongerPeriodsAndOtherMappings) {
    const std::string text = chain({{1, "auto"}, {1, "auto"}, {1, "auto"}});
    const auto machine = [](const char *kib) {
        return std::string("digraph { a [device=\"cuda:0(memory=") + kib +
               ")\"]; b [device=\"cuda:1(memory=" + kib + ")\"] }";
    };
    const polytile_graph_plan *roomy = plan(text, machine("1MiB")), *tight, *tighter;
    ASSERT_NE(roomy, nullptr) << error();
    EXPECT_NEAR(roomy->period_s, 2, 1e-9);
    for (const char *limit : {"64KiB", "48KiB", "32KiB"}) {
        tight = plan(text, machine(limit));
        ASSERT_NE(tight, nullptr) << limit << error();
        for (int m = 0; m < tight->n_memories; m++)
            EXPECT_TRUE(tight->memory[m].limit_bytes == 0 ||
                        tight->memory[m].n_bytes <= tight->memory[m].limit_bytes)
                << limit;
        EXPECT_GE(tight->period_s, 2 - 1e-9);
    }
    tighter = plan(text, machine("31KiB"));
    EXPECT_EQ(tighter, nullptr);
    EXPECT_EQ(status, POLYTILE_NO_FIT);
    EXPECT_NE(error().find("one frame of actor a0 needs 32 KiB (x0 16 KiB, x1 16 KiB); a is "
                           "limited to 31 KiB"),
              std::string::npos)
        << error();
}

TEST_F(GraphPlan, StateBoundsThePeriod) {
    const std::string text = R"(digraph {
  { node [type=f32, extents=64]; x; m; s; y }
  { node [seconds=1] f [kernel="f[i]: in x[i], s[i]; out m[i]", on=gpu0];
    g [kernel="g[i]: in m[i]; out s[i], y[i]", on=gpu1] }
  x -> f [as=x]; s -> f [as=s, delay=1]; f -> m [as=m]; m -> g [as=m]; g -> s [as=s]; g -> y [as=y]
})";
    const polytile_graph_plan *made = plan(text, two_gpus);
    ASSERT_NE(made, nullptr) << error();
    EXPECT_GT(made->period_s, 2);
    EXPECT_LT(made->period_s, 2.001);
    EXPECT_EQ(std::string(made->bound).rfind("cycle through ", 0), 0u) << made->bound;
    polytile_graph_options off = {};
    off.no_overlap = true;
    EXPECT_EQ(plan(text, two_gpus, off), nullptr);
    EXPECT_EQ(status, POLYTILE_UNSUPPORTED);
}

TEST_F(GraphPlan, ObjectivesTradePeriodForLatencyAndMemory) {
    const std::string text = chain({{1, "auto"}, {1, "auto"}, {1, "auto"}, {1, "auto"}});
    polytile_graph_options latency = {}, memory = {};
    latency.objective = "latency";
    memory.objective = "memory";
    const polytile_graph_plan *fast = plan(text, two_gpus);
    const polytile_graph_plan *soon = plan(text, two_gpus, latency);
    const polytile_graph_plan *small_one = plan(text, two_gpus, memory);
    const auto bytes = [](const polytile_graph_plan *of) {
        int64_t sum = 0;
        for (int m = 0; m < of->n_memories; m++)
            sum += of->memory[m].n_bytes;
        return sum;
    };
    EXPECT_NEAR(fast->period_s, 2, 1e-6);
    EXPECT_LE(soon->latency_s, fast->latency_s);
    EXPECT_LE(bytes(small_one), bytes(fast));
    EXPECT_LE(small_one->latency_s, 4.001);
}

TEST_F(GraphPlan, WhatTakesNoTimeHasNearlyNoPeriod) {
    const polytile_graph_plan *made =
        plan(chain({{0, "auto"}, {0, "auto"}}), "digraph { host [device=host] }");
    ASSERT_NE(made, nullptr) << error();
    EXPECT_GT(made->period_s, 0);
    EXPECT_LT(made->period_s, 1e-12);
    EXPECT_STREQ(made->bound, "work of host");
}

TEST_F(GraphPlan, RefusesWhatTheMachineHasNot) {
    EXPECT_EQ(plan(chain({{1, "gpu7"}}), two_gpus), nullptr);
    EXPECT_EQ(status, POLYTILE_DECLARATION);
    EXPECT_NE(error().find("actor a0 is on gpu7, which is no unit of the machine"),
              std::string::npos);
    polytile_graph_options keep = {};
    keep.keep_map = true;
    EXPECT_EQ(plan(chain({{1, "auto"}}), two_gpus, keep), nullptr);
    EXPECT_EQ(status, POLYTILE_DECLARATION);
    EXPECT_NE(error().find("actor a0 has no on="), std::string::npos);
    keep.objective = "beauty";
    EXPECT_EQ(plan(chain({{1, "gpu0"}}), two_gpus, keep), nullptr);
    EXPECT_EQ(status, POLYTILE_INVALID);
}

TEST_F(GraphPlan, IsWrittenAsJsonDotAndAPicture) {
    const polytile_graph_plan *made = plan(saliency(large, 5), two_gpus);
    char *json = nullptr, *dot = nullptr, *svg = nullptr, *text = nullptr;
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_JSON, &json), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_SVG, &svg), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_string(made, POLYTILE_TEXT, &text), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_to_dot(made, &dot), POLYTILE_OK);
    json_t *root = json_loads(json, 0, nullptr);
    ASSERT_NE(root, nullptr) << json;
    EXPECT_EQ(json_array_size(json_object_get(root, "actors")), 8u);
    for (const char *key : {"channels", "memory"})
        EXPECT_GT(json_array_size(json_object_get(root, key)), 0u) << key;
    for (const char *key : {"period_s", "bound_s", "latency_s"})
        EXPECT_GT(json_real_value(json_object_get(root, key)), 0) << key;
    EXPECT_EQ(json_integer_value(json_object_get(root, "frames_in_flight")),
              std::ceil(made->latency_s / made->period_s));
    json_decref(root);
    EXPECT_EQ(xml_error(svg), "");
    EXPECT_NE(std::string(text).find("32.62 frames a second"), std::string::npos) << text;
    polytile_graph_options keep = {};
    keep.keep_map = true;
    const polytile_graph_plan *again = plan(dot, two_gpus, keep);
    ASSERT_NE(again, nullptr) << error() << dot;
    EXPECT_EQ(again->period_s, made->period_s);
    for (char *one : {json, dot, svg, text})
        std::free(one);
}

TEST_F(GraphPlan, OfAHundredActorsReachesTheBound) {
    std::vector<std::pair<double, std::string>> actors;
    for (int k = 0; k < 100; k++)
        actors.push_back({1e-3 * (1 + k * 37 % 11), "auto"});
    const polytile_graph_plan *made = plan(chain(actors), two_gpus);
    ASSERT_NE(made, nullptr) << error();
    EXPECT_LE(made->period_s, 1.0001 * made->bound_s);
    std::printf("planned in %.3g s\n", made->plan_s);
}

} // namespace
