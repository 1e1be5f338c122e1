#include "graph/stream/line_streams.h"

#include <atomic>

/* Streams of actors whose domains are split over units. */

namespace {

using namespace line_streams;

const char two[] = "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"] }";
const char apart[] = "digraph { a [device=\"host(memory=1MiB,threads=1)\"]; "
                     "b [device=\"host(memory=2MiB,threads=1)\"] }";

/** f, in two parts, and g, which reads what both left. */
const char split[] =
    "digraph { { node [type=i64, extents=4]; x; m; y }\n"
    "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=\"a+b\"]; g [on=b] }\n"
    "x -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }";

/** What a part does, by its first thread and what it reads there; not 0: it fails. */
struct Part {
    std::function<int(int64_t first, int64_t value)> run;
};

int run_part(const polytile_sub_kernel *launch) {
    const polytile_range &threads = launch->threads->range[0];
    const auto *from = static_cast<const int64_t *>(launch->views[0].origin);
    auto *to = static_cast<int64_t *>(launch->views[1].origin);
    for (int64_t i = threads.lo; i <= threads.hi; i++)
        to[i] = from[i] + 1;
    return static_cast<const Part *>(launch->user)->run(threads.lo, from[threads.lo]);
}

class StreamParts : public Streams {
  protected:
    void begin_split(const char *machine, Part *part) {
        polytile_implementation made = {};
        made.host_launcher = run_part;
        made.user = part;
        parse(split);
        ASSERT_EQ(polytile_graph_bind(graph, "f", &made), POLYTILE_OK) << error();
        ASSERT_EQ(bind("g", &add_one), POLYTILE_OK) << error();
        ASSERT_EQ(begin(machine), POLYTILE_OK) << error();
    }

    /** The next frame's result. */
    polytile_status pull_line(std::vector<int64_t> *line) {
        line->assign(n, -1);
        polytile_array *array = wrap(line);
        const polytile_status status = polytile_stream_pull(stream, 1, &array, nullptr);
        keep_error();
        polytile_array_destroy(array);
        return status;
    }
};

TEST_F(StreamParts, OfOneFrameRunAtTheSameTime) {
    for (const char *machine : {two, apart}) {
        Meeting meeting;
        std::atomic<bool> meets{true};
        Part part{[&](int64_t, int64_t) {
            meets = meeting.come() && meets;
            return 0;
        }};
        begin_split(machine, &part);
        std::vector<int64_t> line;
        for (int64_t f = 0; f < 5; f++) {
            ASSERT_EQ(push(10 * f), POLYTILE_OK) << said;
            ASSERT_EQ(pull_line(&line), POLYTILE_OK) << said;
            for (int64_t i = 0; i < n; i++)
                EXPECT_EQ(line[static_cast<size_t>(i)], 10 * f + i + 2);
        }
        EXPECT_TRUE(meets);
        EXPECT_GT(polytile_stream_get_seconds(stream, "f"), 0);
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }
}

TEST_F(StreamParts, AFrameOfWhichOneFailsReturnsItsErrorAndLaterOnesGoOn) {
    for (const char *machine : {two, apart})
        for (const int64_t first : {0, 2}) {
            Part part{[&](int64_t at, int64_t value) {
                return at == first && value == 30 + first ? 9 : 0;
            }};
            begin_split(machine, &part);
            std::vector<int64_t> line;
            for (int64_t f = 0; f < 8; f++) {
                ASSERT_EQ(push(10 * f), POLYTILE_OK) << said;
                EXPECT_EQ(pull_line(&line), f == 3 ? POLYTILE_DEVICE : POLYTILE_OK) << said;
                EXPECT_EQ(says("graph: frame 3: actor f: plus: the launcher returned 9"), f == 3)
                    << said;
                for (int64_t i = 0; i < n; i++)
                    EXPECT_EQ(line[static_cast<size_t>(i)], f == 3 ? -1 : 10 * f + i + 2);
            }
            polytile_stream_destroy(stream);
            polytile_graph_destroy(graph);
        }
}

} // namespace
