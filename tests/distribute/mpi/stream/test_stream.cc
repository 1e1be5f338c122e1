#include "distribute/mpi/sent.h"
#include "distribute/mpi/stream/machine.h"
#include "graph/stream/line_streams.h"

#include <polytile/kernel.h>
#include <polytile/mpi.h>

extern "C" {
#include "graph/stream/stream.h"
}

/* Streams over ranks: what they refuse, what fails, what is dropped, and what they send. */

namespace {

using namespace line_streams;

const char plus_nodes[] = "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001];";

POLYTILE_KERNEL(plus, (i), (const int64_t, p, 1), (int64_t, q, 1)) {
    PT_AT(q, i) = PT_AT(p, i) + 1;
}

/** Three actors, each on another unit; a depth of each array, 0: none is given. */
std::string chain_of_three(int depth) {
    const std::string given = depth > 0 ? ", depth=" + std::to_string(depth) : "";
    std::string text = std::string("digraph { { node [type=i64, extents=4]; x; m; n; y }\n") +
                       plus_nodes + " f [on=a]; g [on=b]; h [on=c] }\n";
    for (const char *edge : {"x -> f [as=p", "f -> m [as=q", "m -> g [as=p", "g -> n [as=q",
                             "n -> h [as=p", "h -> y [as=q"})
        text += edge + given + "];\n";
    return text + "}";
}

/** A sum that c keeps of what b makes, which a shows of the frame before. */
const char ring[] =
    "digraph { { node [type=i64, extents=4]; x; m; s; y }\n"
    "add [kernel=\"add[i]: in x[i]; inout s[i]\", seconds=0.001, on=b];\n"
    "f [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=a];\n"
    "show [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=c];\n"
    "x -> f [as=p]; f -> m [as=q]; m -> add [as=x]; s -> add [as=s, delay=1]; add -> s [as=s];\n"
    "s -> show [as=p, delay=1]; show -> y [as=q] }";

class MpiStreams : public Streams {
  protected:
    polytile_status begin_on_ranks(const std::string &machine_text,
                                   const polytile_stream_options *options = nullptr,
                                   const polytile_graph_options *how = nullptr) {
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        EXPECT_EQ(polytile_machine_parse(ctx, machine_text.c_str(), &machine), POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_graph_plan_create(graph, machine, how, &plan), POLYTILE_OK) << error();
        if (is_planned)
            is_planned();
        const polytile_status status =
            polytile_mpi_stream_create(graph, plan, MPI_COMM_WORLD, options, &stream);
        keep_error();
        polytile_graph_plan_destroy(plan);
        polytile_machine_destroy(machine);
        return status;
    }
    /** What a rank does between planning and creating a stream. */
    std::function<void()> is_planned;

    void bind_own() {
        for (int k = 0; k < 3; k++)
            if (world_rank() == rank_of_unit(k))
                ASSERT_EQ(bind(k == 0   ? "f"
                               : k == 1 ? "g"
                                        : "h",
                               &add_one),
                          POLYTILE_OK)
                    << error();
    }
    void begin_chain(int depth, const polytile_stream_options *options = nullptr) {
        parse(chain_of_three(depth));
        for (const char *actor : {"f", "g", "h"})
            ASSERT_EQ(bind(actor, &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin_on_ranks(machine_on_ranks(), options), POLYTILE_OK) << said;
    }
    bool feeds() const { return world_rank() == rank_of_unit(0); }
    bool takes() const { return world_rank() == rank_of_unit(2); }

    polytile_status push_here(int64_t value, int64_t *frame = nullptr) {
        if (feeds())
            return push(value, frame);
        const polytile_status status = polytile_stream_push(stream, 0, nullptr, frame);
        keep_error();
        return status;
    }
    polytile_status pull_here(int64_t *value) {
        if (takes())
            return pull(value);
        const polytile_status status = polytile_stream_pull(stream, 0, nullptr, nullptr);
        keep_error();
        return status;
    }
    /** Push frames 0, 10, ... and expect each one's number more by so much. */
    void run_frames(int64_t n_frames, int64_t more) {
        const int64_t depth = polytile_stream_get_depth(stream);
        for (int64_t f = 0; f < n_frames + depth; f++) {
            int64_t value = 0;
            if (f >= depth) {
                ASSERT_EQ(pull_here(&value), POLYTILE_OK) << said;
                EXPECT_EQ(value, takes() ? 10 * (f - depth) + more : 0);
            }
            if (f < n_frames) {
                ASSERT_EQ(push_here(10 * f), POLYTILE_OK) << said;
            }
        }
    }
};

TEST_F(MpiStreams, RunWithChannelsOfEveryDepth) {
    for (int depth : {0, 1, 2, 5}) {
        ASSERT_NO_FATAL_FAILURE(begin_chain(depth));
        ASSERT_NO_FATAL_FAILURE(run_frames(scaled(200), 3));
        polytile_stream_report report;
        polytile_stream_get_report(stream, &report);
        EXPECT_EQ(report.n_pulled, scaled(200));
        EXPECT_GT(report.period_s, 0);
        EXPECT_GE(report.latency_99_s, report.latency_median_s);
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(MpiStreams, KeepStateThatAnotherRankReadsAFrameLater) {
    parse(ring);
    ASSERT_EQ(bind("f", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(bind("show", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(bind("add", &add_to_state), POLYTILE_OK) << error();
    ASSERT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_OK) << said;
    const int64_t depth = polytile_stream_get_depth(stream);
    int64_t before = 0;
    for (int64_t f = 0; f < 50 + depth; f++) {
        int64_t value = 0;
        if (f >= depth) {
            ASSERT_EQ(pull_here(&value), POLYTILE_OK) << said;
            EXPECT_EQ(value, takes() ? before + 1 : 0);
            before += f - depth + 1;
        }
        if (f < 50) {
            ASSERT_EQ(push_here(f), POLYTILE_OK) << said;
        }
    }
}

/** The bytes that a rank sends a frame by the plan. */
int64_t planned_bytes(const polytile_stream *stream) {
    int64_t n_bytes = 0;
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++)
        for (int b = 0; b < stream->expansion.tasks.n_buffers; b++)
            if (stream->task_ranks[t].from == world_rank() &&
                stream->task_ranks[t].to != world_rank() &&
                stream->expansion.tasks.buffer[b].producer == t)
                n_bytes += stream->expansion.tasks.buffer[b].frame_bytes;
    return n_bytes;
}

TEST_F(MpiStreams, SendTheBytesOfThePlan) {
    const int64_t n_frames = 30;
    ASSERT_NO_FATAL_FAILURE(begin_chain(0));
    begin_counting();
    ASSERT_NO_FATAL_FAILURE(run_frames(n_frames, 3));
    const int64_t sent = end_counting_frames();
    EXPECT_EQ(sent, n_frames * planned_bytes(stream));
    EXPECT_EQ(sent > 0, world_rank() < rank_of_unit(2));
    polytile_stream_lane lanes[8];
    int64_t reported = 0;
    const int n_lanes = polytile_stream_get_lanes(stream, 8, lanes);
    for (int l = 0; l < n_lanes; l++)
        if (stream->lane[l].end == PTI_STREAM_SENDS)
            reported += lanes[l].n_bytes;
    EXPECT_EQ(reported, sent);
}

TEST_F(MpiStreams, MarkFramesWhereTheyNeedWhatFailed) {
    for (const char *failing : {"f", "g", "h"}) {
        Body fails{[this](const Lines &of) { return of[0][0] / 10 == 7 ? 9 : add_one.run(of); }};
        parse(chain_of_three(0));
        for (const char *actor : {"f", "g", "h"})
            ASSERT_EQ(bind(actor, actor == failing ? &fails : &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_OK) << said;
        const int64_t depth = polytile_stream_get_depth(stream);
        const int failing_rank = rank_of_unit(failing[0] - 'f');
        for (int64_t f = 0; f < 20 + depth; f++) {
            int64_t value = 0;
            if (f >= depth) {
                const bool is_marked = f - depth == 7 && world_rank() >= failing_rank &&
                                       world_rank() <= rank_of_unit(2);
                EXPECT_EQ(pull_here(&value), is_marked ? POLYTILE_DEVICE : POLYTILE_OK) << said;
                EXPECT_EQ(is_marked, says(std::string("frame 7: actor ") + failing)) << said;
                if (!is_marked && takes()) {
                    EXPECT_EQ(value, 10 * (f - depth) + 3);
                }
            }
            if (f < 20) {
                ASSERT_EQ(push_here(10 * f), POLYTILE_OK) << said;
            }
        }
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(MpiStreams, DropTheSameFramesOnAllRanks) {
    polytile_stream_options options = {};
    options.drops_when_full = true;
    Body slow{[this](const Lines &of) {
        usleep(500);
        return add_one.run(of);
    }};
    parse(chain_of_three(1));
    for (const char *actor : {"f", "g", "h"})
        ASSERT_EQ(bind(actor, actor[0] == 'g' ? &slow : &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(begin_on_ranks(machine_on_ranks(), &options), POLYTILE_OK) << said;
    std::vector<int64_t> taken;
    size_t n_pulled = 0;
    for (int64_t f = 0; f < 60; f++) {
        int64_t frame = 0, value = 0;
        ASSERT_EQ(push_here(10 * f, &frame), POLYTILE_OK) << said;
        if (frame >= 0)
            taken.push_back(f);
        int64_t taken_at_root = frame;
        MPI_Bcast(&taken_at_root, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        EXPECT_EQ(frame, taken_at_root);
        if (f % 3 == 2 && n_pulled < taken.size()) {
            ASSERT_EQ(pull_here(&value), POLYTILE_OK) << said;
            EXPECT_EQ(value, takes() ? 10 * taken[n_pulled] + 3 : 0);
            n_pulled++;
        }
    }
    polytile_stream_report report;
    polytile_stream_get_report(stream, &report);
    EXPECT_EQ(report.n_dropped + static_cast<int64_t>(taken.size()), 60);
    EXPECT_GT(report.n_dropped, 0);
    polytile_stream_destroy(stream); /* before the body that its frames in flight run */
}

TEST_F(MpiStreams, RefuseAFrameForWhichOnlyAPullMakesRoom) {
    ASSERT_NO_FATAL_FAILURE(begin_chain(0));
    const int64_t depth = polytile_stream_get_depth(stream);
    for (int64_t f = 0; f < depth; f++)
        ASSERT_EQ(push_here(f), POLYTILE_OK) << said;
    EXPECT_EQ(push_here(depth), POLYTILE_INVALID);
    EXPECT_TRUE(says("push at most " + std::to_string(depth) + " ahead")) << said;
    int64_t value;
    EXPECT_EQ(pull_here(&value), POLYTILE_OK) << said;
}

/** What is not the rank's is not pushed there. */
TEST_F(MpiStreams, RefuseInputsOfOtherRanks) {
    if (world_size() == 1)
        return;
    ASSERT_NO_FATAL_FAILURE(begin_chain(0));
    if (!feeds()) {
        EXPECT_EQ(push(1), POLYTILE_INVALID);
        EXPECT_TRUE(says("1 array is given, and this rank has 0 inputs")) << said;
    }
    ASSERT_NO_FATAL_FAILURE(run_frames(3, 3));
}

TEST_F(MpiStreams, DoNotWaitForARankThatHasEnded) {
    if (world_size() == 1)
        return;
    ASSERT_NO_FATAL_FAILURE(begin_chain(0));
    int64_t value = 0;
    ASSERT_EQ(push_here(1), POLYTILE_OK) << said;
    ASSERT_EQ(pull_here(&value), POLYTILE_OK) << said;
    if (feeds() || world_rank() > rank_of_unit(2))
        return polytile_stream_destroy(stream);
    ASSERT_EQ(push_here(2), POLYTILE_OK) << said;
    EXPECT_EQ(pull_here(&value), POLYTILE_DEVICE);
    EXPECT_TRUE(says("frame 1 does not go on: rank ")) << said;
    EXPECT_TRUE(says("has ended its stream after 1 frame;")) << said;
    EXPECT_EQ(pull_here(&value), POLYTILE_DEVICE);
}

TEST_F(MpiStreams, EndWithFramesInFlight) {
    for (int round = 0; round < 5; round++) {
        ASSERT_NO_FATAL_FAILURE(begin_chain(0));
        for (int64_t f = 0; f < polytile_stream_get_depth(stream); f++)
            ASSERT_EQ(push_here(f), POLYTILE_OK) << said;
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(MpiStreams, AreOfTheSamePlanOnAllRanks) {
    if (world_size() == 1)
        return;
    parse(chain_of_three(world_rank() == 0 ? 1 : 2));
    for (const char *actor : {"f", "g", "h"})
        ASSERT_EQ(bind(actor, &add_one), POLYTILE_OK) << error();
    EXPECT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_INVALID);
    EXPECT_TRUE(says("all ranks must make the same calls")) << said;
    EXPECT_EQ(stream, nullptr);
}

/** What fails on one rank fails on all. */
TEST_F(MpiStreams, NeedAllActorsOfARank) {
    parse(chain_of_three(0));
    ASSERT_EQ(bind("f", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(bind("g", &add_one), POLYTILE_OK) << error();
    EXPECT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_INVALID);
    EXPECT_TRUE(says("rank " + std::to_string(rank_of_unit(2)) + ": ")) << said;
    EXPECT_TRUE(says("actor h: it has no implementation")) << said;
}

TEST_F(MpiStreams, BindActorsOfTheirOwnUnitsAlone) {
    parse(chain_of_three(0));
    bind_own();
    ASSERT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_OK) << said;
    run_frames(5, 3);
}

/** A copy of a text with another part, wherever that stands. */
std::string replaced(std::string text, const std::string &part, const std::string &by) {
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
        text.replace(at, part.size(), by);
    return text;
}

/** Predictions depend on what is bound: a launcher goes through its arrays once. */
TEST_F(MpiStreams, BindWithoutSecondsAfterPlanning) {
    if (world_size() == 1)
        return;
    const std::string text = replaced(
        replaced(chain_of_three(0), "plus[i]: in p[i]; out q[i]\", seconds=0.001",
                 "plus[i, j]: in p[i-9:i+9, j-9:j+9]; out q[i, j]\", domain=\"0:63,0:63\""),
        "extents=4", "extents=\"64x64\"");
    parse(text);
    bind_own();
    EXPECT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_INVALID);
    EXPECT_TRUE(says("bind after planning")) << said;
    polytile_graph_destroy(graph);
    parse(text);
    is_planned = [this] { bind_own(); };
    EXPECT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_OK) << said;
}

TEST_F(MpiStreams, AreOfTheSameGraphOnAllRanks) {
    if (world_size() == 1)
        return;
    const std::string text = chain_of_three(0);
    for (const std::string &other :
         {replaced(text, "i64", "u64"), replaced(text, "plus[i]", "minus[i]"),
          replaced(text, "seconds=0.001", "seconds=0.001, domain=\"1:2\"")}) {
        parse(world_rank() == 0 ? text : other);
        for (const char *actor : {"f", "g", "h"})
            ASSERT_EQ(bind(actor, &add_one), POLYTILE_OK) << error();
        EXPECT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_INVALID) << other;
        EXPECT_TRUE(says("the ranks have not the same graph, plan and options")) << said;
        EXPECT_EQ(stream, nullptr);
        polytile_graph_destroy(graph);
    }
}

TEST_F(MpiStreams, SayWhichRankThereIsNot) {
    parse("digraph { { node [type=i64, extents=4]; x; y }\n"
          "f [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=far];\n"
          "x -> f [as=p]; f -> y [as=q] }");
    ASSERT_EQ(bind("f", &add_one), POLYTILE_OK) << error();
    EXPECT_EQ(begin_on_ranks("digraph { far [device=host, rank=9] }"), POLYTILE_INVALID);
    EXPECT_TRUE(says("unit far is on rank 9, and the communicator has ")) << said;
}

/** a makes what b reads a cycle later, and something else besides. */
const char fork_of_two[] =
    "digraph { { node [type=i64, extents=4]; x; l; m; n }\n"
    "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; e [on=a]; f [on=a]; g [on=b] "
    "}\n"
    "x -> e [as=p]; e -> l [as=q]; x -> f [as=p]; f -> m [as=q]; l -> g [as=p]; g -> n [as=q] }";

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/** Each frame's times of the actor that some rank runs, for all ranks. */
void share_times(std::vector<double> *times) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, times->data(), static_cast<int>(times->size()), MPI_DOUBLE,
                   MPI_SUM, MPI_COMM_WORLD, &request);
    world_wait(&request);
}

/** Without overlap no rank begins a cycle's work before all are done with that of the one before,
 * and none moves a frame while its own units work. */
TEST_F(MpiStreams, RunTheSameCyclesOnAllRanks) {
    const size_t n_frames = 20;
    std::vector<double> ended(n_frames), begun(n_frames);
    size_t n_ended = 0, n_begun = 0;
    int n_moving = 0;
    Body slow{[&](const Lines &of) {
        for (int look = 0; look < 20; look++) {
            pthread_mutex_lock(&stream->mutex);
            for (int l = 0; l < stream->n_lanes; l++)
                n_moving += stream->lane[l].is_busy && !stream->lane[l].is_unit;
            pthread_mutex_unlock(&stream->mutex);
            usleep(50);
        }
        ended[n_ended++] = seconds_now();
        return add_one.run(of);
    }};
    Body fast{[&](const Lines &of) {
        begun[n_begun++] = seconds_now();
        return add_one.run(of);
    }};
    polytile_graph_options how = {};
    how.no_overlap = true;
    parse(fork_of_two);
    ASSERT_EQ(bind("e", &add_one), POLYTILE_OK) << error();
    ASSERT_EQ(bind("f", &slow), POLYTILE_OK) << error();
    ASSERT_EQ(bind("g", &fast), POLYTILE_OK) << error();
    ASSERT_EQ(begin_on_ranks(machine_on_ranks(), nullptr, &how), POLYTILE_OK) << said;
    const size_t depth = static_cast<size_t>(polytile_stream_get_depth(stream));
    for (size_t f = 0; f < n_frames + depth; f++) {
        if (f >= depth) {
            ASSERT_EQ(polytile_stream_pull(stream, 0, nullptr, nullptr), POLYTILE_OK) << error();
        }
        if (f < n_frames) {
            ASSERT_EQ(push_here(static_cast<int64_t>(f)), POLYTILE_OK) << said;
        }
    }
    EXPECT_EQ(n_moving, 0);
    share_times(&ended);
    share_times(&begun);
    for (size_t f = 0; f < n_frames; f++)
        EXPECT_LE(ended[f], begun[f]) << "frame " << f;
}

/** f adds one to a part of each line on a, and to the rest on b; g adds one to both on c. */
TEST_F(MpiStreams, RunActorsSplitOverUnitsOfSeveralRanks) {
    parse("digraph { { node [type=i64, extents=4]; x; m; y }\n"
          "f [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=\"a+b\"];\n"
          "g [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001, on=c];\n"
          "x -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }");
    ASSERT_EQ(polytile_graph_bind(graph, "f", &plus_kernel), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_graph_bind(graph, "g", &plus_kernel), POLYTILE_OK) << error();
    ASSERT_EQ(begin_on_ranks(machine_on_ranks()), POLYTILE_OK) << said;
    run_frames(20, 2);
    const bool runs_f = world_rank() == rank_of_unit(0) || world_rank() == rank_of_unit(1);
    EXPECT_EQ(polytile_stream_get_seconds(stream, "f") > 0, runs_f);
}

} // namespace
