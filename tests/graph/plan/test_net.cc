extern "C" {
#include "graph/plan/plan.h"
}

#include <gtest/gtest.h>

#include <string>

/* What is predicted of actors without seconds. */

namespace {

enum { N = 256 };

int call_nothing(const polytile_sub_kernel *) {
    return 0;
}

class GraphSeconds : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    /** The seconds of one actor on N x N floats each way. */
    double predict(const char *declaration, const polytile_implementation *bound = nullptr,
                   const char *device = "cuda:0") {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        const std::string size = std::to_string(N);
        const std::string text = "digraph { { node [type=f32, extents=\"" + size + "x" + size +
                                 "\"]; x; y } a [kernel=\"" + declaration +
                                 "\"]; x -> a [as=p]; a -> y [as=q] }";
        const std::string units = std::string("digraph { unit [device=\"") + device + "\"] }";
        EXPECT_EQ(polytile_graph_parse(ctx, text.c_str(), &graph), POLYTILE_OK) << error();
        if (bound != nullptr)
            EXPECT_EQ(polytile_graph_bind(graph, "a", bound), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_machine_parse(ctx, units.c_str(), &machine), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_graph_plan_create(graph, machine, nullptr, &plan), POLYTILE_OK)
            << error();
        notes = polytile_graph_plan_get_notes(plan);
        return plan->actor[0].seconds;
    }

    std::string error() const { return polytile_last_error(ctx); }

    polytile_context *ctx = nullptr;
    std::string notes;
};

const char transform[] = "t[i,j]: in p[:,:]; out q[i,j]";
const char copy[] = "c[i,j]: in p[i,j]; out q[i,j]";
const char product[] = "m[i,j]: in p[i,:]; out q[i,j]";

TEST_F(GraphSeconds, ALauncherGoesThroughItsArraysOnceHoweverManyThreadsNameThem) {
    polytile_implementation library = {};
    library.host_launcher = call_nothing;
    library.cuda_launcher = call_nothing;
    for (const char *device : {"cuda:0", "host"}) {
        const double once_s = predict(copy, &library, device);
        EXPECT_DOUBLE_EQ(predict(transform, &library, device), once_s);
        EXPECT_DOUBLE_EQ(predict(product, &library, device), once_s);
        EXPECT_EQ(notes.find("went through"), std::string::npos);
    }
}

TEST_F(GraphSeconds, AnotherDevicesLauncherSaysNothing) {
    polytile_implementation host = {};
    host.host_launcher = call_nothing;
    EXPECT_GT(predict(transform, &host, "cuda:0"), 10 * predict(transform, &host, "host"));
}

TEST_F(GraphSeconds, WholeArraysAreTakenForATransformWhereNothingIsBoundAndThatIsNoted) {
    const double once_s = predict(copy);
    EXPECT_EQ(notes.find("went through"), std::string::npos);
    EXPECT_DOUBLE_EQ(predict(transform), once_s);
    EXPECT_NE(notes.find("actor a is predicted as if it went through its arrays once"),
              std::string::npos)
        << notes;
    EXPECT_GT(predict(product), once_s);
    EXPECT_EQ(notes.find("went through"), std::string::npos);
}

} // namespace
