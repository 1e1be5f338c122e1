#include "distribute/mpi/stream/machine.h"
#include "distribute/mpi/stream/ports.h"
#include "graph/stream/lookup_streams.h"

#include <polytile/mpi.h>

#include <algorithm>
#include <deque>

/* Streams over ranks whose actors look up what the program feeds, against plain loops. */

namespace {

using namespace lookup_streams;

/** What a plan over ranks is drawn from; all ranks draw the same. */
struct Drawn {
    std::string text, machine;
    polytile_graph_options options = {};

    explicit Drawn(Random *random) {
        static const char *const objectives[] = {"period", "latency", "memory"};
        options.objective = objectives[random->number(0, 2)];
        options.no_overlap = random->chance(30);
        const bool has_turns = !options.no_overlap && random->chance(20);
        std::vector<std::string> of;
        for (int actor = 0; actor < 3; actor++)
            of.push_back(", seconds=0.001, on=\"" + unit(random) +
                         (has_turns && actor == 1 ? "|" + unit(random) : "") + "\"");
        text = sparse_graph(of[0], of[1], of[2], random->chance(40));
        machine = machine_on_ranks(random->chance(50));
    }

  private:
    static std::string unit(Random *random) {
        return std::string(1, static_cast<char>('a' + random->number(0, 2)));
    }
};

/** A frame of which the index arrays are wrong by one element. */
Frame spoil(Frame frame, Random *random) {
    if (random->chance(50))
        frame.K[static_cast<size_t>(random->number(0, n_entries - 1))] =
            static_cast<int32_t>(random->one_of({-1, 20, 1 << 30}));
    else
        frame.P[5] = frame.P[4] - 1;
    return frame;
}

int do_nothing(const polytile_sub_kernel *) {
    return 0;
}

class MpiStreamLookups : public Lookups {
  protected:
    polytile_status begin(const Drawn &drawn) {
        polytile_graph *graph = nullptr;
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        EXPECT_EQ(polytile_graph_parse(ctx, drawn.text.c_str(), &graph), POLYTILE_OK) << error();
        bind(graph);
        polytile_implementation later = {};
        later.host_launcher = do_nothing;
        EXPECT_EQ(polytile_graph_bind(graph, "later", &later),
                  drawn.text.find("later") == std::string::npos ? POLYTILE_INVALID : POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_machine_parse(ctx, drawn.machine.c_str(), &machine), POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_graph_plan_create(graph, machine, &drawn.options, &plan), POLYTILE_OK)
            << error() << drawn.text;
        const polytile_status status =
            polytile_mpi_stream_create(graph, plan, MPI_COMM_WORLD, nullptr, &stream);
        last = error();
        if (status == POLYTILE_OK) {
            inputs = ports_here(stream, graph, stream->input, stream->n_inputs);
            outputs = ports_here(stream, graph, stream->output, stream->n_outputs);
        }
        polytile_graph_plan_destroy(plan);
        polytile_machine_destroy(machine);
        polytile_graph_destroy(graph);
        return status;
    }

    struct Pushed {
        Frame frame;
        bool is_wrong;
    };

    void push_next(int64_t number, Random *random) {
        const bool is_wrong = number == 1 || random->chance(20);
        Frame frame = Frame::draw(random);
        if (random->chance(50) && !flying.empty()) {
            frame.P = flying.back().frame.P;
            frame.K = flying.back().frame.K;
        }
        if (is_wrong)
            frame = spoil(frame, random);
        else if (!flying.empty() && flying.back().is_wrong)
            frame = Frame::draw(random);
        EXPECT_EQ(push(&frame), POLYTILE_OK) << last;
        flying.push_back({frame, is_wrong});
    }

    /** A wrong frame is marked on the ranks that feed or take what is looked up or made of it. */
    void pull_next() {
        const Pushed next = flying.front();
        const bool feeds = std::find(inputs.begin(), inputs.end(), "K") != inputs.end();
        const polytile_status status = pull(next.frame);
        flying.pop_front();
        if (!next.is_wrong) {
            EXPECT_EQ(status, POLYTILE_OK) << last;
            return;
        }
        EXPECT_TRUE(status == POLYTILE_DECLARATION ||
                    (status == POLYTILE_OK && outputs.empty() && !feeds))
            << polytile_status_text(status) << ": " << last;
        n_marked += status != POLYTILE_OK;
        EXPECT_TRUE(status == POLYTILE_OK || last.find("actor ") != std::string::npos) << last;
    }

    void run(int64_t n_frames, int64_t ahead, Random *random) {
        for (int64_t f = 0; f < n_frames && !HasFailure(); f++) {
            push_next(f, random);
            if (f + 1 >= ahead)
                pull_next();
        }
        while (!flying.empty() && !HasFailure())
            pull_next();
    }

    std::deque<Pushed> flying;
    int64_t n_marked = 0; /* frames, on this rank */
};

TEST_F(MpiStreamLookups, GiveTheResultsOfPlainLoopsAndMarkFramesThatLookUpOutside) {
    Random random(
        world_seed("MpiStreamLookups.GiveTheResultsOfPlainLoopsAndMarkFramesThatLookUpOutside"));
    const int64_t n_rounds = std::max<int64_t>(scaled(40), 4);
    int64_t n_run = 0, n_refused = 0;
    for (int64_t round = 0; world_most(HasFailure()) == 0 && (round < n_rounds || n_run < 2);
         round++) {
        const polytile_status status = begin(Drawn(&random));
        const int64_t n_frames = random.number(3, 20), of_depth = random.number(0, 100);
        n_refused += status == POLYTILE_UNSUPPORTED;
        if (status == POLYTILE_UNSUPPORTED) {
            EXPECT_TRUE(last.find("feeds; let the actors that read them") != std::string::npos ||
                        last.find("in turn; let the actors beside it") != std::string::npos)
                << last;
            continue;
        }
        ASSERT_EQ(status, POLYTILE_OK) << last;
        n_run++;
        run(n_frames, 1 + of_depth % polytile_stream_get_depth(stream), &random);
        polytile_stream_destroy(stream);
    }
    EXPECT_GT(world_most(static_cast<int>(n_marked)), 0);
    if (world_size() == 1)
        EXPECT_EQ(n_refused, 0);
}

/** The rank that feeds the index arrays says what is wrong, and so do those that need them. */
TEST_F(MpiStreamLookups, NameTheActorAndTheElementOnAllRanksThatNeedThem) {
    Random random(7);
    Drawn drawn(&random);
    drawn.text =
        sparse_graph(", seconds=0.001, on=a", ", seconds=0.001, on=b", ", seconds=0.001, on=c");
    drawn.options = {};
    drawn.machine = machine_on_ranks();
    ASSERT_EQ(begin(drawn), POLYTILE_OK) << last;
    Frame right = Frame::draw(&random), wrong = right;
    wrong.K[59] = 20;
    for (const Frame &frame : {right, wrong, right}) {
        Frame pushed = frame;
        ASSERT_EQ(push(&pushed), POLYTILE_OK) << last;
        const bool is_right = frame.K == right.K;
        const bool has_part = world_rank() < 3;
        EXPECT_EQ(pull(frame), is_right || !has_part ? POLYTILE_OK : POLYTILE_DECLARATION) << last;
        if (!is_right && has_part)
            EXPECT_NE(last.find("actor count: count: thread [59] touches h at 20 in subscript 1, "
                                "where h has 0:19; K[59] holds 20"),
                      std::string::npos)
                << last;
    }
    polytile_stream_destroy(stream);
}

TEST_F(MpiStreamLookups, AreRefusedWhereSeveralRanksFeedWhatAnActorLooksUp) {
    if (world_size() == 1)
        return;
    Random random(7);
    Drawn drawn(&random);
    drawn.text = sparse_graph(", seconds=0.001, on=a", ", seconds=0.001, on=a",
                              ", seconds=0.001, on=b", true);
    drawn.options = {};
    drawn.machine = machine_on_ranks();
    EXPECT_EQ(begin(drawn), POLYTILE_UNSUPPORTED);
    EXPECT_NE(last.find("actor rows looks up elements of P, which rank 0 feeds, and of K, which "
                        "rank 1 feeds; let the actors that read them first run on units of one "
                        "rank"),
              std::string::npos)
        << last;
}

/** A frame whose index array is wrong has none that a later frame could read. */
TEST_F(MpiStreamLookups, AreRefusedWhereAnotherFrameReadsWhatAnActorLooksUp) {
    Random random(7);
    Drawn drawn(&random);
    drawn.text =
        sparse_graph(", seconds=0.001, on=a", ", seconds=0.001, on=b", ", seconds=0.001, on=c");
    drawn.text.insert(drawn.text.rfind('}'),
                      "L [type=i32, extents=\"60\"];\n"
                      "later [kernel=\"later[i]: in k[i]; out l[i]\", seconds=0.001, on=a];\n"
                      "K -> later [as=k, delay=1]; later -> L [as=l];\n");
    drawn.options = {};
    drawn.machine = machine_on_ranks();
    EXPECT_EQ(begin(drawn), POLYTILE_UNSUPPORTED);
    EXPECT_NE(last.find("looks up elements of K, of which actor later reads that of frames before"),
              std::string::npos)
        << last;
}

} // namespace
