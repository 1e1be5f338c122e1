#ifndef POLYTILE_TESTS_GRAPH_PLAN_GRAPH_PLANNED_H
#define POLYTILE_TESTS_GRAPH_PLAN_GRAPH_PLANNED_H

extern "C" {
#include "graph/plan/plan.h"
}

#include <gtest/gtest.h>

#include <string>

/** Plans of graphs on machines, both as texts. Graphs and plans live as long as the context. */
class GraphPlanned : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** NULL after an error, which status is. */
    const polytile_graph_plan *plan(const std::string &graph_text, const std::string &machine_text,
                                    const polytile_graph_options &options = {}) {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *made = nullptr;
        status = polytile_graph_parse(ctx, graph_text.c_str(), &graph);
        if (status == POLYTILE_OK)
            status = polytile_machine_parse(ctx, machine_text.c_str(), &machine);
        if (status == POLYTILE_OK)
            status = polytile_graph_plan_create(graph, machine, &options, &made);
        EXPECT_EQ(status == POLYTILE_OK, made != nullptr);
        return made;
    }

    /** On gpu0, gpu1 and gpu2. */
    const polytile_graph_plan *plan(const std::string &graph_text,
                                    const polytile_graph_options &options = {}) {
        return plan(graph_text,
                    "digraph { gpu0 [device=\"cuda:0\"]; gpu1 [device=\"cuda:1\"]; "
                    "gpu2 [device=\"cuda:2\"] }",
                    options);
    }

    std::string error() const { return polytile_last_error(ctx); }
    bool says(const std::string &part) const { return error().find(part) != std::string::npos; }

    polytile_context *ctx = nullptr;
    polytile_status status = POLYTILE_OK;
};

#endif
