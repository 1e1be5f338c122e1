#include "graph/stream/line_streams.h"

extern "C" {
#include "graph/stream/stream.h"
}

#include <chrono>
#include <string>
#include <thread>
#include <vector>

/* Streams: what goes on at once, what fails, what keeps state, and what is refused. */

namespace {

using namespace line_streams;

const char one[] = "digraph { a [device=\"host(threads=1)\"] }";
const char two[] = "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"] }";
const char apart[] = "digraph { a [device=\"host(memory=1MiB,threads=1)\"]; "
                     "b [device=\"host(memory=2MiB,threads=1)\"] }";

const char chain[] =
    "digraph { { node [type=i64, extents=4]; x; m; y }\n"
    "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=a]; g [on=b] }\n"
    "x -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }";

const char sum[] = "digraph { { node [type=i64, extents=4]; x; s; y }\n"
                   "add [kernel=\"add[i]: in x[i]; inout s[i]\", seconds=0.001, on=a];\n"
                   "show [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=a];\n"
                   "x -> add [as=x]; s -> add [as=s, delay=1]; add -> s [as=s]; s -> show [as=p]; "
                   "show -> y [as=q] "
                   "}";

TEST_F(Streams, UnitsWorkAtTheSameTimeOnDifferentFrames) {
    for (const char *machine : {two, apart}) {
        Meeting meeting;
        bool meets[2] = {true, true};
        int64_t n_done[2] = {0, 0};
        const int64_t n_frames = 8;
        Body at[2];
        for (int k : {0, 1})
            at[k].run = [&, k](const Lines &of) {
                const bool is_alone = k == 0 ? n_done[k] == 0 : n_done[k] == n_frames - 1;
                meets[k] = (is_alone || meeting.come()) && meets[k];
                n_done[k]++;
                return add_one.run(of);
            };
        parse(chain);
        ASSERT_EQ(bind("f", &at[0]), POLYTILE_OK) << error();
        ASSERT_EQ(bind("g", &at[1]), POLYTILE_OK) << error();
        ASSERT_EQ(begin(machine), POLYTILE_OK) << error();
        ASSERT_GE(polytile_stream_get_depth(stream), 2);
        int64_t value = 0;
        ASSERT_EQ(push(0), POLYTILE_OK) << said;
        for (int64_t f = 1; f < n_frames; f++) {
            ASSERT_EQ(push(10 * f), POLYTILE_OK) << said;
            ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
            EXPECT_EQ(value, 10 * (f - 1) + 2);
        }
        ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_TRUE(meets[0] && meets[1]) << "frame f + 1 of f runs beside frame f of g";
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

/** How many lanes work that are links, or are units. */
int count_busy(polytile_stream *stream, bool units) {
    int n_busy = 0;
    pthread_mutex_lock(&stream->mutex);
    for (int l = 0; l < stream->n_lanes; l++)
        n_busy += stream->lane[l].is_busy && stream->lane[l].is_unit == units;
    pthread_mutex_unlock(&stream->mutex);
    return n_busy;
}

TEST_F(Streams, WithoutOverlapNothingMovesWhileUnitsWork) {
    const int64_t n_frames = 20;
    int n_seen = 0, n_moving = 0;
    Body look{[&](const Lines &of) {
        for (int turn = 0; turn < 20; turn++) {
            n_moving += count_busy(stream, false);
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        n_seen++;
        return add_one.run(of);
    }};
    polytile_graph_options how = {};
    how.no_overlap = true;
    parse(chain);
    ASSERT_EQ(bind("f", &look), POLYTILE_OK);
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK);
    ASSERT_EQ(begin_as(apart, how), POLYTILE_OK) << error();
    const int64_t depth = polytile_stream_get_depth(stream);
    EXPECT_GE(depth, 3) << "each transfer is a cycle later";
    int64_t value = 0, n_pulled = 0;
    for (int64_t f = 0; f < n_frames; f++) {
        ASSERT_EQ(push(10 * f), POLYTILE_OK) << said;
        if (f + 1 - n_pulled == depth || f % 5 == 4) {
            ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
            EXPECT_EQ(value, 10 * n_pulled++ + 2);
        }
    }
    for (; n_pulled < n_frames; n_pulled++) {
        ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_EQ(value, 10 * n_pulled + 2);
    }
    EXPECT_EQ(n_seen, n_frames);
    EXPECT_EQ(n_moving, 0);
}

TEST_F(Streams, KeepStateFromFrameToFrame) {
    parse(sum);
    ASSERT_EQ(bind("add", &add_to_state), POLYTILE_OK) << error();
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(one), POLYTILE_OK) << error();
    int64_t total = 0, value = 0, frame = -1;
    for (int64_t f = 0; f < 20; f++) {
        total += f * f;
        ASSERT_EQ(push(f * f), POLYTILE_OK) << said;
        ASSERT_EQ(pull(&value, &frame), POLYTILE_OK) << said;
        EXPECT_EQ(value, total + 1);
        EXPECT_EQ(frame, f);
    }
}

TEST_F(Streams, FramesThatFailReturnTheirErrorsAndLaterOnesGoOn) {
    Body fails_at_7{[this](const Lines &of) { return of[0][0] == 7 ? 9 : add_one.run(of); }};
    for (const char *machine : {two, apart}) {
        parse(chain);
        ASSERT_EQ(bind("f", &fails_at_7), POLYTILE_OK) << error();
        ASSERT_EQ(bind("g", &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin(machine), POLYTILE_OK) << error();
        int64_t value = 0, frame = -1;
        for (int64_t f = 0; f < 10; f++) {
            ASSERT_EQ(push(f), POLYTILE_OK) << said;
            const polytile_status status = pull(&value, &frame);
            EXPECT_EQ(frame, f);
            EXPECT_EQ(status, f == 7 ? POLYTILE_DEVICE : POLYTILE_OK) << said;
            EXPECT_EQ(value, f == 7 ? -1 : f + 2);
            EXPECT_EQ(says("graph: frame 7: actor f: plus: the launcher returned 9"), f == 7)
                << said;
        }
        polytile_stream_report report;
        polytile_stream_get_report(stream, &report);
        EXPECT_EQ(report.n_pulled, 10);
        EXPECT_EQ(report.n_failed, 1);
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(Streams, StateIsAsTheFrameBeforeLeftItWhereAFrameFails) {
    Body fails_at_3{[this](const Lines &of) {
        if (of[0][0] != 3)
            return add_to_state.run(of);
        of[1][0] = 1000;
        return 1;
    }};
    parse(sum);
    ASSERT_EQ(bind("add", &fails_at_3), POLYTILE_OK) << error();
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(one), POLYTILE_OK) << error();
    const int64_t expected[] = {2, 4, -1, 8, 13};
    for (int64_t f = 0; f < 5; f++) {
        int64_t value = 0;
        ASSERT_EQ(push(f + 1), POLYTILE_OK) << said;
        EXPECT_EQ(pull(&value), f == 2 ? POLYTILE_DEVICE : POLYTILE_OK);
        EXPECT_EQ(value, expected[f]);
    }
}

TEST_F(Streams, RefuseFramesWhenNothingIsPulledAndDropThemIfToldTo) {
    for (const bool drops : {false, true}) {
        polytile_stream_options options = {};
        options.drops_when_full = drops;
        parse(chain);
        ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin(two, &options), POLYTILE_OK) << error();
        polytile_status status = POLYTILE_OK;
        int64_t n_taken = 0, frame = 0, value = 0;
        while (n_taken < 100 && status == POLYTILE_OK && frame >= 0) {
            status = push(n_taken, &frame);
            n_taken += frame >= 0;
        }
        EXPECT_LT(n_taken, 100);
        if (!drops) {
            EXPECT_GE(n_taken, polytile_stream_get_depth(stream));
            EXPECT_EQ(status, POLYTILE_INVALID);
            EXPECT_TRUE(says("there is room for another one only when results are pulled")) << said;
        }
        EXPECT_EQ(frame, -1);
        for (int64_t f = 0; f < n_taken; f++) {
            EXPECT_EQ(pull(&value), POLYTILE_OK) << said;
            EXPECT_EQ(value, f + 2);
        }
        EXPECT_EQ(push(50), POLYTILE_OK) << said;
        EXPECT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_EQ(value, 52);
        polytile_stream_report report;
        polytile_stream_get_report(stream, &report);
        EXPECT_EQ(report.n_dropped, drops);
        EXPECT_EQ(report.n_pushed, n_taken + 1);
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(Streams, LendResultsUntilTheyArePulled) {
    parse(chain);
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(two), POLYTILE_OK) << error();
    ASSERT_EQ(push(5), POLYTILE_OK) << said;
    const void *memory = nullptr;
    for (int k = 0; k < 2; k++) {
        ASSERT_EQ(polytile_stream_peek(stream, 1, &memory), POLYTILE_OK) << error();
        EXPECT_EQ(static_cast<const int64_t *>(memory)[3], 10);
    }
    int64_t frame = -1;
    EXPECT_EQ(polytile_stream_pull(stream, 0, nullptr, &frame), POLYTILE_OK) << error();
    EXPECT_EQ(frame, 0);
    EXPECT_EQ(polytile_stream_pull(stream, 0, nullptr, &frame), POLYTILE_INVALID);
    EXPECT_EQ(polytile_stream_peek(stream, 2, &memory), POLYTILE_INVALID);
}

TEST_F(Streams, ReportWhatUnitsAndLinksDo) {
    parse(chain);
    Body sleeps{[this](const Lines &of) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return add_one.run(of);
    }};
    ASSERT_EQ(bind("plus", &sleeps), POLYTILE_OK) << error();
    ASSERT_EQ(begin(apart), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_stream_get_seconds(stream, "f"), 0);
    for (int64_t f = 0; f < 5; f++) {
        ASSERT_EQ(push(f), POLYTILE_OK) << said;
        ASSERT_EQ(pull(), POLYTILE_OK) << said;
    }
    polytile_stream_report report;
    polytile_stream_get_report(stream, &report);
    EXPECT_GE(report.period_s, 0.004) << "a frame after the other";
    EXPECT_GE(report.latency_median_s, 0.004);
    EXPECT_GE(report.latency_99_s, report.latency_median_s);
    EXPECT_GE(report.latency_most_s, report.latency_99_s);
    EXPECT_GT(report.n_bytes, 0);
    EXPECT_GE(polytile_stream_get_seconds(stream, "f"), 0.002);
    EXPECT_EQ(polytile_stream_get_seconds(stream, "h"), 0);
    std::vector<polytile_stream_lane> lanes(static_cast<size_t>(report.n_lanes));
    ASSERT_EQ(polytile_stream_get_lanes(stream, report.n_lanes, lanes.data()), report.n_lanes);
    std::string names;
    for (const polytile_stream_lane &lane : lanes) {
        names += std::string(lane.name) + (lane.is_unit ? "* " : "; ");
        EXPECT_GT(lane.busy_s, 0);
        EXPECT_GT(lane.occupancy, 0);
        EXPECT_LE(lane.occupancy, 1);
    }
    EXPECT_EQ(names, "a* b* a -> host; b -> host; host -> a; host -> b; ");
}

TEST_F(Streams, ActorsAreBoundByTheirNameElseByTheKernels) {
    Body add_ten{[](const Lines &of) {
        of[1][0] = of[0][0] + 10;
        return 0;
    }};
    parse(chain);
    ASSERT_EQ(bind("g", &add_ten), POLYTILE_OK) << error();
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(two), POLYTILE_OK) << error();
    int64_t value = 0;
    ASSERT_EQ(push(1), POLYTILE_OK) << said;
    ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
    EXPECT_EQ(value, 12);
    EXPECT_EQ(bind("minus", &add_one), POLYTILE_INVALID);
    EXPECT_NE(error().find("neither an actor nor a kernel \"minus\""), std::string::npos);
}

TEST_F(Streams, RefuseWhatDoesNotRun) {
    parse(chain);
    EXPECT_EQ(begin(two), POLYTILE_INVALID);
    EXPECT_NE(error().find("graph: actor f: it has no implementation"), std::string::npos)
        << error();
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    EXPECT_EQ(begin(two, nullptr, "paper"), POLYTILE_UNSUPPORTED);
    EXPECT_NE(error().find("strategy \"paper\""), std::string::npos) << error();
    EXPECT_EQ(begin("digraph { a [device=host]; b [device=host, rank=1] }"), POLYTILE_UNSUPPORTED);
    EXPECT_NE(error().find("unit b is on rank 1"), std::string::npos) << error();
    EXPECT_EQ(stream, nullptr);
    polytile_implementation of_gpus = {};
    of_gpus.cuda = "a kernel";
    ASSERT_EQ(polytile_graph_bind(graph, "g", &of_gpus), POLYTILE_OK) << error();
    EXPECT_EQ(begin(two), POLYTILE_UNSUPPORTED);
    EXPECT_NE(error().find("actor g: plus: "), std::string::npos) << error();
}

TEST_F(Streams, RefuseOtherArrays) {
    parse(chain);
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(two), POLYTILE_OK) << error();
    std::vector<int64_t> memory(2 * n);
    polytile_array *longer = wrap(&memory), *described = nullptr;
    ASSERT_EQ(polytile_array_describe(ctx, "line", POLYTILE_I64, POLYTILE_EXTENTS(n), &described),
              POLYTILE_OK);
    EXPECT_EQ(polytile_stream_push(stream, 1, &longer, nullptr), POLYTILE_INVALID);
    EXPECT_NE(error().find("array line (i64) has another type or other extents than x"),
              std::string::npos)
        << error();
    EXPECT_EQ(polytile_stream_push(stream, 1, &described, nullptr), POLYTILE_INVALID);
    EXPECT_NE(error().find("has no host memory"), std::string::npos) << error();
    EXPECT_EQ(polytile_stream_push(stream, 0, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_NE(error().find("0 arrays are given, and the graph has 1 input"), std::string::npos)
        << error();
    ASSERT_EQ(push(3), POLYTILE_OK) << said;
    EXPECT_EQ(polytile_stream_pull(stream, 1, &longer, nullptr), POLYTILE_INVALID);
    int64_t value = 0;
    EXPECT_EQ(pull(&value), POLYTILE_OK) << "the frame is still there";
    EXPECT_EQ(value, 5);
    EXPECT_EQ(pull(), POLYTILE_INVALID);
    EXPECT_TRUE(says("no frame is in flight")) << said;
}

TEST_F(Streams, EndWithFramesInFlight) {
    parse(chain);
    ASSERT_EQ(bind("plus", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin(two), POLYTILE_OK) << error();
    polytile_graph_destroy(graph);
    for (int64_t f = 0; f < polytile_stream_get_depth(stream); f++)
        EXPECT_EQ(push(f), POLYTILE_OK) << said;
    polytile_stream_destroy(stream);
}

} // namespace
