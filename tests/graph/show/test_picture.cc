#include <polytile/graph.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>

/* Pictures of graphs. */

namespace {

class GraphPicture : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** A row of so many actors, and an array of state from the last one to the first. */
    std::string draw(int n_actors) {
        std::string text = "digraph { { node [type=f32, extents=64]; state; array0; ";
        for (int a = 0; a < n_actors; a++)
            text += "array" + std::to_string(a + 1) + "; ";
        text += "} ";
        for (int a = 0; a < n_actors; a++) {
            const std::string name = "longactor" + std::to_string(a);
            const bool reads = a == 0, writes = a == n_actors - 1;
            text += name + " [seconds=1, kernel=\"k[i]: in p[i]" + (reads ? ", s[i]" : "") +
                    "; out q[i]" + (writes ? ", r[i]" : "") + "\"]; array" + std::to_string(a) +
                    " -> " + name + " [as=p]; " + name + " -> array" + std::to_string(a + 1) +
                    " [as=q];\n";
            if (reads)
                text += "state -> " + name + " [as=s, delay=1];\n";
            if (writes)
                text += name + " -> state [as=r];\n";
        }
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        char *svg = nullptr;
        EXPECT_EQ(polytile_graph_parse(ctx, (text + "}").c_str(), &graph), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(polytile_machine_parse(ctx, "digraph { one [device=host] }", &machine),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_graph_plan_create(graph, machine, nullptr, &plan), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(polytile_graph_plan_to_string(plan, POLYTILE_SVG, &svg), POLYTILE_OK);
        const std::string drawn = svg == nullptr ? "" : svg;
        free(svg);
        return drawn;
    }

    polytile_context *ctx = nullptr;
};

TEST_F(GraphPicture, NamesOfLongRowsAreWhole) {
    for (int n_actors : {1, 2, 5, 12, 40}) {
        const std::string svg = draw(n_actors);
        for (int a = 0; a < n_actors; a++) {
            EXPECT_NE(svg.find(">longactor" + std::to_string(a) + "<"), std::string::npos)
                << n_actors << " actors, " << a;
            EXPECT_NE(svg.find(">array" + std::to_string(a) + "<"), std::string::npos);
        }
    }
}

TEST_F(GraphPicture, StaysWithinThePageAndItsHeight) {
    for (int n_actors : {1, 7, 30}) {
        const std::string svg = draw(n_actors);
        double width = 0, height = 0;
        std::smatch view;
        ASSERT_TRUE(std::regex_search(svg, view, std::regex("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"")))
            << svg.substr(0, 400);
        width = std::stod(view[1]);
        height = std::stod(view[2]);
        const std::regex box("<rect[^>]* x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\"");
        int n_boxes = 0;
        for (auto at = std::sregex_iterator(svg.begin(), svg.end(), box);
             at != std::sregex_iterator(); ++at, ++n_boxes) {
            EXPECT_LE(std::stod((*at)[1]) + std::stod((*at)[3]), width + .1);
            EXPECT_LE(std::stod((*at)[2]), height);
        }
        EXPECT_GT(n_boxes, 2 * n_actors);
    }
}

} // namespace
