#include "graph/stream/lookup_streams.h"
#include "support/scale.h"

/* Streams whose actors look up what the program feeds, against plain loops. */

namespace {

using namespace lookup_streams;

class StreamLookups : public Lookups {
  protected:
    void begin(const char *machine_text) {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        const polytile_graph_options options = {};
        ASSERT_EQ(polytile_graph_parse(ctx, sparse_graph().c_str(), &graph), POLYTILE_OK)
            << error();
        bind(graph);
        for (int k = 0; polytile_graph_get_input_name(graph, k) != nullptr; k++)
            inputs.push_back(polytile_graph_get_input_name(graph, k));
        for (int k = 0; polytile_graph_get_output_name(graph, k) != nullptr; k++)
            outputs.push_back(polytile_graph_get_output_name(graph, k));
        ASSERT_EQ(polytile_machine_parse(ctx, machine_text, &machine), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_graph_plan_create(graph, machine, &options, &plan), POLYTILE_OK)
            << error();
        ASSERT_EQ(polytile_stream_create(graph, plan, nullptr, &stream), POLYTILE_OK) << error();
        polytile_graph_plan_destroy(plan);
        polytile_machine_destroy(machine);
        polytile_graph_destroy(graph);
    }

    void expect_pulled(const Frame &frame) { EXPECT_EQ(pull(frame), POLYTILE_OK) << last; }
};

TEST_F(StreamLookups, FramesGiveTheResultsOfPlainLoops) {
    Random random(test_seed("StreamLookups.FramesGiveTheResultsOfPlainLoops"));
    for (const char *machine :
         {"digraph m { a [device=host]; }",
          "digraph m { a [device=host]; b [device=\"host(memory=1MiB)\"]; }"}) {
        inputs.clear();
        outputs.clear();
        begin(machine);
        ASSERT_FALSE(HasFatalFailure());
        Frame before = Frame::draw(&random);
        for (int64_t n = scaled(20); n > 0; n--) {
            Frame frame = Frame::draw(&random);
            if (random.chance(50)) {
                frame.P = before.P;
                frame.K = before.K;
            }
            ASSERT_EQ(push(&frame), POLYTILE_OK) << last;
            expect_pulled(frame);
            before = frame;
        }
        polytile_stream_destroy(stream);
    }
}

/** A frame that looks something up outside is not taken, and those after it are. */
TEST_F(StreamLookups, AFrameThatLooksSomethingUpOutsideIsRefused) {
    Random random(7);
    begin("digraph m { a [device=host]; }");
    ASSERT_FALSE(HasFatalFailure());
    Frame right = Frame::draw(&random), wrong = right, out_of_order = right;
    wrong.K[59] = 20;
    out_of_order.P[5] = out_of_order.P[4] - 1;
    for (int round = 0; round < 2; round++) {
        EXPECT_EQ(push(&wrong), POLYTILE_DECLARATION);
        EXPECT_NE(last.find("actor count: count: thread [59] touches h at 20 in subscript 1, where "
                            "h has 0:19; K[59] holds 20"),
                  std::string::npos)
            << last;
        EXPECT_EQ(push(&out_of_order), POLYTILE_DECLARATION);
        EXPECT_NE(last.find("actor rows: rows: thread [4] has the range"), std::string::npos)
            << last;
        ASSERT_EQ(push(&right), POLYTILE_OK) << last;
        expect_pulled(right);
    }
    polytile_stream_destroy(stream);
}

TEST_F(StreamLookups, AreRefusedWhereNobodyKnowsWhatIsLookedUp) {
    const struct {
        const char *text, *says;
    } rows[] = {
        {R"(digraph g { { node [type=i32, extents="9"]; K; L; x; z }
            make [kernel="make[e]: in L[e]; out K[e]"];
            gather [kernel="gather[e]: in x[K[e]]; out z[e]"];
            L -> make [as=L]; make -> K [as=K];
            K -> gather [as=K]; x -> gather [as=x]; gather -> z [as=z]; })",
         "actor gather: its subscripts hold elements of index arrays, K is one that an actor "
         "writes, and a plan of frames cannot know it; run it in a queue"},
        {R"(digraph g { { node [type=i32, extents="9"]; K; x; z }
            gather [kernel="gather[e]: in x[K[e]]; out z[e]"];
            K -> gather [as=K, delay=1]; x -> gather [as=x]; gather -> z [as=z]; })",
         "K has delay=, so the first frames look up zeros that nobody fed"},
        {R"(digraph g { { node [type=i32, extents="9"]; K; x; z }
            scatter [kernel="scatter[e]: in x[e]; out z[K[e]]"];
            K -> scatter [as=K]; x -> scatter [as=x]; scatter -> z [as=z]; })",
         "z has some in a role that is neither in nor combines onto what is there"},
    };
    for (const auto &row : rows) {
        polytile_graph *graph = nullptr;
        EXPECT_EQ(polytile_graph_parse(ctx, row.text, &graph), POLYTILE_DECLARATION);
        EXPECT_NE(error().find(row.says), std::string::npos) << error();
    }
}

} // namespace
