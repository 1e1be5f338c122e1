#include <polytile/graph.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

TEST(PlanAsDot, HasTheGraphsTextAlsoWhenTheGraphIsGone) {
    polytile_context *ctx = nullptr;
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    char *dot = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_parse(ctx,
                                   "digraph { { node [type=f32, extents=64]; x; y }\n"
                                   "a [kernel=\"k[i]: in p[i]; out q[i]\", seconds=1, "
                                   "fillcolor=red, on=auto]; x -> a [as=p]; a -> y [as=q] }",
                                   &graph),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_machine_parse(ctx, "digraph { h [device=host] }", &machine), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_create(graph, machine, nullptr, &plan), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_graph_destroy(graph);
    ASSERT_EQ(polytile_graph_plan_to_dot(plan, &dot), POLYTILE_OK) << polytile_last_error(ctx);
    const std::string text = dot;
    EXPECT_NE(text.find("\"x\" -> \"a\" [as=\"p\"]"), std::string::npos) << text;
    EXPECT_NE(text.find("on=\"h\", style=filled"), std::string::npos) << text;
    EXPECT_EQ(text.find("red"), std::string::npos) << "an actor has its unit's colour\n" << text;
    free(dot);
    polytile_graph_plan_destroy(plan);
    polytile_context_destroy(ctx);
}

} // namespace
