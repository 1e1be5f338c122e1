#include "graph/stream/line_streams.h"
#include "graph/stream/stream_run.h"
#include "support/scale.h"

extern "C" {
#include "graph/stream/stream.h"
}

/* Frames in turn on several units: results come in order, as from one unit. */

using namespace line_streams;

namespace {

const char units[] = "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"]; "
                     "c [device=\"host(memory=1MiB,threads=1)\"] }";

std::string in_turn(const std::string &on, const std::string &seconds = "0.001") {
    return "digraph { { node [type=i64, extents=4]; x; m; s; y }\n"
           "f [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=" +
           seconds + ", on=\"" + on +
           "\"];\n"
           "add [kernel=\"add[i]: in x[i]; inout s[i]\", seconds=0.0001, on=a];\n"
           "show [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.0001, on=a];\n"
           "x -> f [as=p]; f -> m [as=q]; m -> add [as=x]; s -> add [as=s, delay=1]; "
           "add -> s [as=s]; s -> show [as=p]; show -> y [as=q] }";
}

class StreamTurns : public Streams {
  protected:
    /** Begin a sum over frames of which f takes turns. */
    void begin_sum(const std::string &on, Body *f) {
        parse(in_turn(on));
        ASSERT_EQ(bind("f", f), POLYTILE_OK) << error();
        ASSERT_EQ(bind("add", &add_to_state), POLYTILE_OK) << error();
        ASSERT_EQ(bind("show", &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin(units), POLYTILE_OK) << error();
    }

    void end() {
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
};

TEST_F(StreamTurns, RunAtTheSameTimeAndComeInOrder) {
    Meeting meeting;
    bool meets = true;
    std::mutex mutex;
    Body f{[&](const Lines &of) {
        const bool met = meeting.come();
        const std::lock_guard<std::mutex> lock(mutex);
        meets = meets && met;
        return add_one.run(of);
    }};
    begin_sum("a|c", &f);
    ASSERT_GE(polytile_stream_get_depth(stream), 2);
    int64_t total = 0, value = 0, frame = -1;
    for (int64_t k = 0; k < 5; k++) {
        ASSERT_EQ(push(2 * k), POLYTILE_OK) << said;
        ASSERT_EQ(push(2 * k + 1), POLYTILE_OK) << said;
        for (int64_t number : {2 * k, 2 * k + 1}) {
            ASSERT_EQ(pull(&value, &frame), POLYTILE_OK) << said;
            EXPECT_EQ(frame, number);
            EXPECT_EQ(value, (total += number + 1) + 1);
        }
    }
    EXPECT_TRUE(meets) << "frame 2 k runs on one unit beside frame 2 k + 1 on the other";
}

/* Three units that work all the time on a frame each. What a frame moves takes a moment, by which
 * it overlaps the next one of its unit; a fourth frame would wait for a whole period. */
TEST_F(StreamTurns, NoFrameMoreIsInFlightForAMomentsOverlap) {
    for (const char *work : {"0.005", "0.0051087", "0.0000001"}) {
        parse("digraph { { node [type=i64, extents=4]; x; y; z; w }\n"
              "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", on=\"a|b|c\", seconds=" +
              std::string(work) +
              "]; f; g; h }\n"
              "x -> f [as=p]; f -> y [as=q]; y -> g [as=p]; g -> z [as=q]; z -> h [as=p]; "
              "h -> w [as=q] }");
        for (const char *name : {"f", "g", "h"})
            ASSERT_EQ(bind(name, &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin(units), POLYTILE_OK) << error();
        const bool is_short = std::string(work) == "0.0000001";
        EXPECT_EQ(polytile_stream_get_depth(stream) == 3, !is_short) << work;
        end();
    }
}

TEST_F(StreamTurns, MayEndWithinARound) {
    for (const char *on : {"a|b", "a|c|b", "c|c|a"})
        for (int64_t n_frames = 0; n_frames < 9; n_frames++) {
            begin_sum(on, &add_one);
            const int64_t depth = polytile_stream_get_depth(stream);
            int64_t total = 0, value = 0, n_pulled = 0;
            for (int64_t f = 0; f < n_frames + depth; f++) {
                if (f < n_frames)
                    ASSERT_EQ(push(f), POLYTILE_OK) << said;
                if (f + 1 < depth || n_pulled == n_frames)
                    continue;
                ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
                EXPECT_EQ(value, (total += ++n_pulled) + 1) << on << ", frame " << n_pulled - 1;
            }
            EXPECT_EQ(n_pulled, n_frames);
            end();
        }
}

TEST_F(StreamTurns, FramesThatFailLeaveStateAsItWasAndLaterOnesGoOn) {
    Body f{[this](const Lines &of) { return of[0][0] % 5 == 3 ? 9 : add_one.run(of); }};
    for (const char *on : {"a|b", "b|c", "a|b|c"}) {
        begin_sum(on, &f);
        int64_t total = 0;
        for (int64_t number = 0; number < 20; number++) {
            int64_t value = 0, frame = -1;
            ASSERT_EQ(push(number), POLYTILE_OK) << said;
            const polytile_status status = pull(&value, &frame);
            const bool fails = number % 5 == 3;
            total += fails ? 0 : number + 1;
            EXPECT_EQ(frame, number);
            EXPECT_EQ(status, fails ? POLYTILE_DEVICE : POLYTILE_OK) << said;
            EXPECT_EQ(value, fails ? -1 : total + 1) << on << ", frame " << number;
            EXPECT_TRUE(!fails || says("frame " + std::to_string(number) + ": actor f")) << said;
        }
        end();
    }
}

TEST_F(StreamTurns, SecondsAndNamesAreThoseOfOneActor) {
    begin_sum("a|b", &add_one);
    for (int64_t k = 0; k < 4; k++) {
        ASSERT_EQ(push(k), POLYTILE_OK) << said;
        ASSERT_EQ(pull(), POLYTILE_OK) << said;
    }
    char *text = nullptr;
    ASSERT_EQ(polytile_stream_to_json(stream, &text), POLYTILE_OK);
    const std::string json = text;
    std::free(text);
    EXPECT_GT(polytile_stream_get_seconds(stream, "f"), 0);
    EXPECT_EQ(json.find("\"f\""), json.rfind("\"f\"")) << json;
}

/* Whether a stream takes turns is up to chance, of many some do; rounds go on until one does. So
 * many frames as end in any of a round. */
TEST(RandomStreamTurns, GiveWhatPlainLoopsGiveForAnyNumberOfFrames) {
    Random random(test_seed("RandomStreamTurns.GiveWhatPlainLoopsGiveForAnyNumberOfFrames"));
    const int64_t n_rounds = scaled(150);
    int64_t n_with_turns = 0, n_run = 0;
    const auto goes_on = [&] {
        return n_run < n_rounds || (n_with_turns == 0 && n_rounds >= 30 && n_run < 150);
    };
    for (; goes_on() && !HasFailure(); n_run++) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            RandomStream drawn(&random, {"a", "b", "c"});
            StreamRun run(ctx, &drawn, &random);
            polytile_graph_options options = {};
            options.in_turn = random.chance(70);
            if (run.begin(units, options, {})) {
                n_with_turns += run.stream->n_turns > 1;
                run.run(random.number(0, 2 * run.stream->n_turns + 1),
                        random.number(1, polytile_stream_get_depth(run.stream)));
            }
        }
        polytile_context_destroy(ctx);
    }
    EXPECT_GE(n_with_turns, least_count(n_run, 0.11));
}

} // namespace
