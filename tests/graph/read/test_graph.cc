extern "C" {
#include "graph/read/graph.h"
}

#include <gtest/gtest.h>

#include <string>

/* What a graph's text says, and a sentence for each thing that can be wrong of it. */

namespace {

class GraphText : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_graph *parse(const std::string &text) {
        polytile_graph *graph = nullptr;
        status = polytile_graph_parse(ctx, text.c_str(), &graph);
        EXPECT_EQ(status == POLYTILE_OK, graph != nullptr);
        return graph;
    }

    polytile_context *ctx = nullptr;
    polytile_status status = POLYTILE_OK;
};

/* The graph of design.md, section 9. */
const char opening[] = R"(digraph opening {
  { node [type=u8, extents="64x64x64"]; frame; small; opened }
  erode  [kernel="erode[i,j,k]: in A[i-1:i+1, j-1:j+1, k-1:k+1]; out B[i,j,k]", on=auto];
  dilate [kernel="dilate[i,j,k]: in A[i-1:i+1, j-1:j+1, k-1:k+1]; out B[i,j,k]", on=gpu1];
  frame -> erode [as=A]; erode -> small [as=B]; small -> dilate [as=A]; dilate -> opened [as=B];
})";

TEST_F(GraphText, HasActorsAndArrays) {
    const polytile_graph *graph = parse(opening);
    ASSERT_NE(graph, nullptr) << polytile_last_error(ctx);
    ASSERT_EQ(graph->n_actors, 2);
    ASSERT_EQ(graph->n_arrays, 3);
    const pti_actor &erode = graph->actor[0], &dilate = graph->actor[1];
    EXPECT_STREQ(erode.name, "erode");
    EXPECT_EQ(erode.on, nullptr);
    EXPECT_STREQ(dilate.on, "gpu1");
    EXPECT_EQ(erode.domain.range[2].hi, 63);
    EXPECT_LT(erode.seconds, 0);
    EXPECT_EQ(erode.touched_bytes, 2.0 * 64 * 64 * 64);
    EXPECT_EQ(graph->array[0].producer, -1);
    EXPECT_EQ(graph->array[1].producer, 0);
    EXPECT_EQ(graph->array[1].n_readers, 1);
    EXPECT_EQ(graph->array[2].n_readers, 0);
    EXPECT_EQ(graph->array[2].n_bytes, 64 * 64 * 64);
    EXPECT_EQ(dilate.in[0].array, 1);
    EXPECT_EQ(dilate.out[1].array, 2);
    EXPECT_EQ(dilate.out[0].array, -1);
}

/* Arrays x, y, z of 64 floats, and an actor "a" whose text a test gives. */
std::string with(const std::string &rest) {
    return "digraph {\n{ node [type=f32, extents=64]; x; y; z }\nw [type=f64, extents=64]; "
           "v [type=f32, extents=\"8x8\"]\n" +
           rest + "\n}";
}

const char add[] = "a [kernel=\"a[i]: in p[i]; out q[i]\"]; ";

TEST_F(GraphText, IsRefusedWithASentenceForEachMistake) {
    const std::string one = add;
    const struct {
        std::string text;
        const char *why;
    } cases[] = {
        {"digraph { }", "there is no actor"},
        {with("b"), "b is neither an actor, with kernel=, nor an array"},
        {with("b [kernel=\"a[i]: out q[i]\", type=f32]"), "leave out what it is not"},
        {with("b [type=f32]"), "array b has no extents"},
        {with("b [extents=4]"), "array b has no type"},
        {with("b [type=f31, extents=4]"), "there is no type 'f31'"},
        {with("b [type=f32, extents=\"4x\"]"), "extents '4x' are none"},
        {with("b [type=f32, extents=0]"), "extents '0' are none"},
        {with("b [type=f32, extents=4, colour=1]"), "an array has no attribute 'colour'"},
        {with("b [kernl=\"a[i]: out q[i]\"]"), "b is neither an actor"},
        {with("a [kernel=\"a[i: out q[i]\"]"), "actor a (line 4): "},
        {with(one + "x -> y [as=p]"), "edge x -> y: joins two arrays"},
        {with(one + "b [kernel=\"b[i]: in p[i]; out q[i]\"]; a -> b [as=p]"),
         "edge a -> b: joins two actors"},
        {with(one + "x -> a"), "has no as=, the name in the declaration; the kernel of a has p, q"},
        {with(one + "x -> a [as=r]"), "as=r is no name of the declaration"},
        {with(one + "x -> a [as=q]"), "goes into an operand that is only written: q"},
        {with(one + "a -> x [as=p]"), "goes out of an operand that is only read: p"},
        {with(one + "x -> a [as=p]; z -> a [as=p]"), "has an edge in already: p"},
        {with(one + "a -> x [as=q]; a -> z [as=q]"), "has an edge out already: q"},
        {with(one + "b [kernel=\"b[i]: in p[i]; out q[i]\"]; {a;b} -> y [as=q]"),
         "the array has two producers; the other is a"},
        {with("w -> a [as=p]; " + one + "x -> a [as=p, dely=1]"),
         "an edge has no attribute 'dely'"},
        {with(one + "{x;y;z;w;v} -> a [as=p]"), "has an edge in already"},
        {with(one + "x -> a [as=p, delay=-1]"), "a delay is a number of frames"},
        {with(one + "x -> a [as=p, depth=0]"), "a depth is a number of frames"},
    };
    for (const auto &c : cases) {
        parse(c.text);
        const std::string said = polytile_last_error(ctx);
        EXPECT_EQ(status, POLYTILE_DECLARATION) << c.text;
        EXPECT_NE(said.find(c.why), std::string::npos) << c.text << "\n" << said;
        EXPECT_TRUE(said.find("^") != std::string::npos || c.text == "digraph { }") << said;
    }
}

std::string actor(const char *name, const char *kernel, const char *more = "") {
    return "{ node [kernel=\"" + std::string(kernel) + "\"] " + name + " " + more + " }\n";
}

std::string graph_of(const std::string &arrays, const std::string &rest) {
    return "digraph { { node [type=f32, extents=64]; " + arrays + " }\n" + rest + "}";
}

TEST_F(GraphText, IsRefusedWhereItsPartsDisagree) {
    const std::string pass = actor("a", "a[i]: in p[i]; out q[i]");
    const std::string next = actor("b", "b[i]: in p[i]; out q[i]");
    const std::string state = actor("s", "s[i]: in p[i]; inout q[i]");
    const struct {
        std::string text;
        polytile_status status;
        const char *why;
    } cases[] = {
        {graph_of("x", pass + "x -> a [as=p]"), POLYTILE_DECLARATION,
         "nobody takes an operand; add an edge to an array with as=q"},
        {graph_of("y", pass + "a -> y [as=q]"), POLYTILE_DECLARATION,
         "nobody feeds an operand; add an edge from an array with as=p"},
        {graph_of("x;y;r", "a [kernel=\"k[i]: in p[r[i]]; out q[i]\"]; x -> a [as=p]; "
                           "r -> a [as=r]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "its subscripts hold elements of index arrays"},
        {graph_of("x;y;z", pass + "x -> a [as=p]; a -> y [as=q]"), POLYTILE_DECLARATION,
         "array z has no edge"},
        {graph_of("x;y", pass + "x -> a [as=p]; a -> x [as=q]; y -> a [as=p]"),
         POLYTILE_DECLARATION, "has an edge in already"},
        {graph_of("x", pass + "x -> a [as=p]; a -> x [as=q]"), POLYTILE_DECLARATION,
         "these actors wait for each other within a frame: a -> a; give an edge of the cycle "
         "delay=1"},
        {graph_of("x;y",
                  pass + next + "x -> a [as=p]; a -> y [as=q]; y -> b [as=p]; b -> x [as=q]"),
         POLYTILE_DECLARATION, "wait for each other within a frame: a -> b -> a"},
        {graph_of("x;y", state + "x -> s [as=p]; y -> s [as=q]"), POLYTILE_DECLARATION,
         "nobody takes an operand"},
        {graph_of("x;y; y [type=f64]", state + "x -> s [as=p]; x -> s [as=q]; s -> y [as=q]"),
         POLYTILE_DECLARATION, "x (f32) and y (f64) have other types or extents"},
        {graph_of("x;y", pass + "x -> a [as=p]; a -> y [as=q, delay=1]"), POLYTILE_DECLARATION,
         "a delay on the edge to it changes nothing"},
        {graph_of("x;y; y [extents=\"8x8\"]", pass + "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "give domain="},
        {graph_of("x;y", actor("a", "a[i]: in p[i]; out q[i]", "[domain=\"8,8\"]") +
                             "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "the domain is none"},
        {graph_of("x;y; y [extents=\"8x8\"]", actor("a", "a[i]: in p[i]; out q[i]", "[domain=64]") +
                                                  "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "actor a: "},
        {graph_of("x;y", actor("a", "a[i]: in p[i]; out q[0]") + "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_CONFLICT, "graph: actor a: "},
        {graph_of("x;y", actor("a", "a[i]: in p[i+n]; out q[i]") + "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "n"},
        {graph_of("x;y;z", actor("a", "a[i]: in p[i], r[i]; out q[i]", "[repeat=2]") +
                               "x -> a [as=p]; z -> a [as=r]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "with repeat= a kernel has one operand in and one out"},
        {graph_of("x;y; x [type=f64]", actor("a", "a[i]: in p[i]; out q[i]", "[repeat=2]") +
                                           "x -> a [as=p]; a -> y [as=q]"),
         POLYTILE_DECLARATION, "with repeat= they change places"},
    };
    for (const auto &c : cases) {
        parse(c.text);
        const std::string said = polytile_last_error(ctx);
        EXPECT_EQ(status, c.status) << c.text << said;
        EXPECT_NE(said.find(c.why), std::string::npos) << c.text << "\n" << said;
    }
}

TEST_F(GraphText, RefusesAttributesOfActorsThatAreNone) {
    const struct {
        const char *attributes;
        const char *why;
    } cases[] = {
        {"[seconds=soon]", "'soon' are no seconds"},
        {"[seconds=\"-1\"]", "'-1' are no seconds"},
        {"[seconds=\"2e6\"]", "'2e6' are no seconds"},
        {"[repeat=0]", "repeat is a number from 1 to 1000000, not '0'"},
        {"[params=\"n\"]", "parameters 'n' are none"},
        {"[params=\"n=1;\"]", "parameters 'n=1;' are none"},
        {"[params=\"n=1\"]", "n"},
        {"[where=here]", "an actor has no attribute 'where'"},
    };
    for (const auto &c : cases) {
        parse(graph_of("x;y", actor("a", "a[i]: in p[i]; out q[i]", c.attributes) +
                                  "x -> a [as=p]; a -> y [as=q]"));
        EXPECT_NE(status, POLYTILE_OK) << c.attributes;
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(c.why), std::string::npos)
            << polytile_last_error(ctx);
    }
}

TEST_F(GraphText, HasStateByDelays) {
    const polytile_graph *graph =
        parse(graph_of("x;y", actor("s", "s[i](f32 a): in p[i]; inout q[i]",
                                    "[seconds=\"3ms\", params=\"a=2.5\"]") +
                                  "x -> s [as=p]; y -> s [as=q, delay=1, depth=3]; s -> y [as=q]"));
    ASSERT_NE(graph, nullptr) << polytile_last_error(ctx);
    EXPECT_DOUBLE_EQ(graph->actor[0].seconds, 0.003);
    EXPECT_EQ(pti_flow_delay(graph, &graph->actor[0].in[1]), 1);
    EXPECT_EQ(graph->array[1].depth, 3);
    EXPECT_EQ(graph->actor[0].parameter[0].real, 2.5);
    const polytile_graph *late =
        parse(graph_of("x;y", actor("s", "s[i]: in p[i]; inout q[i]") +
                                  "x -> s [as=p]; y -> s [as=q]; s -> y [as=q, delay=2]"));
    ASSERT_NE(late, nullptr) << polytile_last_error(ctx);
    EXPECT_EQ(pti_flow_delay(late, &late->actor[0].in[1]), 2);
}

TEST_F(GraphText, FreshReductionsReadNothing) {
    EXPECT_NE(parse("digraph { x [type=f32, extents=64]; s [type=f32, extents=1]; "
                    "a [kernel=\"a[i]: in p[i]; out sum q[0]\", domain=64]; "
                    "x -> a [as=p]; a -> s [as=q] }"),
              nullptr)
        << polytile_last_error(ctx);
    EXPECT_EQ(parse("digraph { x [type=f32, extents=64]; s [type=f32, extents=1]; "
                    "a [kernel=\"a[i]: in p[i]; sum q[0]\", domain=64]; "
                    "x -> a [as=p]; a -> s [as=q] }"),
              nullptr);
}

TEST_F(GraphText, ActorsAreOrderedBehindThoseThatTheyReadFrom) {
    const polytile_graph *graph = parse(graph_of(
        "x;y;z", actor("b", "b[i]: in p[i]; out q[i]") + actor("a", "a[i]: in p[i]; out q[i]") +
                     "y -> b [as=p]; b -> z [as=q]; x -> a [as=p]; a -> y [as=q]"));
    ASSERT_NE(graph, nullptr) << polytile_last_error(ctx);
    EXPECT_STREQ(graph->actor[graph->order[0]].name, "a");
    EXPECT_STREQ(graph->actor[graph->order[1]].name, "b");
}

TEST_F(GraphText, RepeatsNeedAFrameOfTheirOwn) {
    const polytile_graph *graph =
        parse(graph_of("x;y", actor("a", "a[i]: in p[i]; out q[i]", "[repeat=4]") +
                                  "x -> a [as=p]; a -> y [as=q]"));
    ASSERT_NE(graph, nullptr) << polytile_last_error(ctx);
    EXPECT_EQ(graph->actor[0].scratch_bytes, 256);
    EXPECT_EQ(graph->actor[0].repeat, 4);
}

} // namespace
