#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/stream.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

/* Streams whose actors look up what the program feeds, against plain loops. */

namespace {

POLYTILE_KERNEL(rows, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    for (int64_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k));
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(twice, (i), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = 2 * PT_AT(y, i);
}

POLYTILE_KERNEL(count, (e), (float, h, 1), (const int32_t, K, 1)) {
    PT_SUM(PT_AT(h, PT_AT(K, e)), 1);
}

constexpr int64_t n_rows = 20, n_entries = 60;

const char *const graph_text = R"(digraph sparse {
    { node [type=f32, extents="20"]; x; y; z; before; h }
    V [type=f32, extents="60"]; P [type=i32, extents="21"]; K [type=i32, extents="60"];
    rows [kernel="rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]"];
    twice [kernel="twice[i]: in y[i]; out z[i]"];
    count [kernel="count[e]: sum h[K[e]]", domain="60"];
    V -> rows [as=V]; P -> rows [as=P]; x -> rows [as=x]; K -> rows [as=K]; rows -> y [as=y];
    y -> twice [as=y]; twice -> z [as=z];
    K -> count [as=K]; before -> count [as=h]; count -> h [as=h];
})";

/** What one frame has. */
struct Frame {
    std::vector<float> x = std::vector<float>(n_rows), before = std::vector<float>(n_rows),
                       V = std::vector<float>(n_entries);
    std::vector<int32_t> P = std::vector<int32_t>(n_rows + 1), K = std::vector<int32_t>(n_entries);

    static Frame draw(Random *random) {
        Frame made;
        for (float &value : made.x)
            value = static_cast<float>(random->number(-9, 9));
        for (float &value : made.V)
            value = static_cast<float>(random->number(-9, 9));
        for (size_t i = 1; i < made.P.size(); i++)
            made.P[i] = made.P[i - 1] + static_cast<int32_t>(random->number(0, 3));
        for (int32_t &column : made.K)
            column = static_cast<int32_t>(random->number(0, n_rows - 1));
        return made;
    }
    std::vector<float> twice() const {
        std::vector<float> made(n_rows);
        for (size_t i = 0; i < n_rows; i++)
            for (auto k = static_cast<size_t>(P[i]); k < static_cast<size_t>(P[i + 1]); k++)
                made[i] += V[k] * x[static_cast<size_t>(K[k])];
        for (float &value : made)
            value *= 2;
        return made;
    }
    std::vector<float> counts() const {
        std::vector<float> made = before;
        for (const int32_t column : K)
            made[static_cast<size_t>(column)] += 1;
        return made;
    }
};

class StreamLookups : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }
    std::string error() const { return polytile_last_error(ctx); }

    template <class T> polytile_array *wrap(std::vector<T> *of, polytile_type type) {
        const auto extent = static_cast<int64_t>(of->size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, "frame", type, 1, &extent, of->data(), &array),
                  POLYTILE_OK);
        return array;
    }

    void begin(const char *machine_text) {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        const polytile_graph_options options = {};
        ASSERT_EQ(polytile_graph_parse(ctx, graph_text, &graph), POLYTILE_OK) << error();
        polytile_graph_bind(graph, "rows", &rows_kernel);
        polytile_graph_bind(graph, "twice", &twice_kernel);
        polytile_graph_bind(graph, "count", &count_kernel);
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

    polytile_status push(Frame *frame) {
        std::vector<polytile_array *> arrays;
        for (const std::string &name : inputs)
            arrays.push_back(name == "x"        ? wrap(&frame->x, POLYTILE_F32)
                             : name == "before" ? wrap(&frame->before, POLYTILE_F32)
                             : name == "V"      ? wrap(&frame->V, POLYTILE_F32)
                             : name == "P"      ? wrap(&frame->P, POLYTILE_I32)
                                                : wrap(&frame->K, POLYTILE_I32));
        const polytile_status status =
            polytile_stream_push(stream, static_cast<int>(arrays.size()), arrays.data(), nullptr);
        const std::string kept = error();
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        last = kept;
        return status;
    }

    void expect_pulled(const Frame &frame) {
        std::vector<float> z(n_rows), h(n_rows);
        std::vector<polytile_array *> arrays;
        for (const std::string &name : outputs)
            arrays.push_back(wrap(name == "z" ? &z : &h, POLYTILE_F32));
        EXPECT_EQ(
            polytile_stream_pull(stream, static_cast<int>(arrays.size()), arrays.data(), nullptr),
            POLYTILE_OK)
            << error();
        EXPECT_EQ(z, frame.twice());
        EXPECT_EQ(h, frame.counts());
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }

    polytile_context *ctx = nullptr;
    polytile_stream *stream = nullptr;
    std::vector<std::string> inputs, outputs;
    std::string last;
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
