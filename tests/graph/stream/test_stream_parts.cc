#include "graph/stream/line_streams.h"

#include <polytile/kernel.h>

#include <atomic>

/* Streams of actors whose domains are split over units. */

namespace {

using namespace line_streams;

POLYTILE_KERNEL(ends, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i) + 100 * PT_EXTENT(A, 0) + 10000 * PT_EXTENT(B, 0) +
                  1000000 * (PT_ARRAY_FIRST(A, 0) + PT_ARRAY_LAST(B, 0));
}

POLYTILE_KERNEL(shift, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, PT_WRAP(A, 0, i + 7));
}

POLYTILE_KERNEL(spread, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, PT_CLAMP(A, 0, i - 4)) + 100 * PT_AT(A, PT_CLAMP(A, 0, i + 4));
}

POLYTILE_KERNEL(mirrored, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    const int64_t left = i == 0 ? 1 : i - 1;
    const int64_t right = i == PT_ARRAY_LAST(B, 0) ? i - 1 : i + 1;
    PT_AT(B, i) = 100 * PT_AT(A, left) + PT_AT(A, right);
}

/** A body that asks for the ends of its arrays, and what it makes of a line of A[i] = i. */
struct Asking {
    const char *declaration;
    polytile_implementation body;
    int64_t (*expected)(int64_t i, int64_t extent);
};

const Asking asking[] = {
    {"ends[i]: in A[i]; out B[i]", ends_kernel,
     [](int64_t i, int64_t extent) { return i + 10100 * extent + 1000000 * (extent - 1); }},
    {"shift[i]: in A[wrap(i+7)]; out B[i]", shift_kernel,
     [](int64_t i, int64_t extent) { return (i + 7) % extent; }},
    {"spread[i]: in A[clamp(i-4)], A[clamp(i+4)]; out B[i]", spread_kernel,
     [](int64_t i, int64_t extent) {
         return std::max<int64_t>(i - 4, 0) + 100 * std::min(i + 4, extent - 1);
     }},
    {"mirrored[i]: in A[i-1:i+1]; out B[i]", mirrored_kernel,
     [](int64_t i, int64_t extent) {
         return 100 * (i == 0 ? 1 : i - 1) + (i == extent - 1 ? i - 1 : i + 1);
     }},
};

const char two[] = "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"] }";
const char apart[] = "digraph { a [device=\"host(memory=1MiB,threads=1)\"]; "
                     "b [device=\"host(memory=2MiB,threads=1)\"] }";

const char three[] = "digraph { a [device=\"host(threads=1)\"]; "
                     "b [device=\"host(memory=1MiB,threads=1)\"]; "
                     "c [device=\"host(memory=2MiB,threads=1)\"] }";

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

/** An actor of such a body on some units, or, where none are named, on as many as pay. */
class AskingParts : public StreamParts {
  protected:
    void compare(const Asking &of, int64_t extent, const std::string &on) {
        polytile_graph_options options = {};
        options.in_parts = on.empty();
        parse("digraph { { node [type=i64, extents=" + std::to_string(extent) +
              "]; x; y } f [kernel=\"" + of.declaration +
              "\", domain=\"0:" + std::to_string(extent - 1) + "\", " +
              (on.empty() ? "seconds=0.01" : "on=\"" + on + "\"") +
              "]; x -> f [as=A]; f -> y [as=B] }");
        ASSERT_EQ(polytile_graph_bind(graph, "f", &of.body), POLYTILE_OK) << error();
        ASSERT_EQ(begin_as(three, options), POLYTILE_OK) << error();
        run(of, extent, on);
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph);
    }

  private:
    void run(const Asking &of, int64_t extent, const std::string &on) {
        std::vector<int64_t> given(static_cast<size_t>(extent)), taken(given.size(), -1);
        std::iota(given.begin(), given.end(), 0);
        polytile_array *in = wrap(&given), *out = wrap(&taken);
        ASSERT_EQ(polytile_stream_push(stream, 1, &in, nullptr), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_stream_pull(stream, 1, &out, nullptr), POLYTILE_OK) << error();
        for (int64_t i = 0; i < extent; i++)
            EXPECT_EQ(taken[static_cast<size_t>(i)], of.expected(i, extent))
                << of.declaration << " on '" << on << "', " << i << " of " << extent;
        polytile_array_destroy(in);
        polytile_array_destroy(out);
    }
};

TEST_F(AskingParts, SeeTheEndsOfWholeArrays) {
    for (const Asking &of : asking)
        for (const int64_t extent : {11, 12, 23})
            for (const char *on : {"a", "b", "a+b", "b+c", "c+a+b", ""})
                compare(of, extent, on);
}

} // namespace
