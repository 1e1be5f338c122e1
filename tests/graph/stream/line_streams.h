#ifndef POLYTILE_TESTS_GRAPH_STREAM_LINE_STREAMS_H
#define POLYTILE_TESTS_GRAPH_STREAM_LINE_STREAMS_H

#include <polytile/polytile.h>
#include <polytile/stream.h>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

/* Streams of graphs whose arrays are lines of four numbers. */

namespace line_streams {

/** A body over whole lines of numbers, which may fail. */
using Lines = std::vector<int64_t *>;
struct Body {
    std::function<int(const Lines &lines)> run;
};

inline int run_body(const polytile_sub_kernel *launch) {
    Lines lines;
    for (int v = 0; v < launch->n_views; v++)
        lines.push_back(static_cast<int64_t *>(launch->views[v].origin));
    return static_cast<const Body *>(launch->user)->run(lines);
}

/** The same as a body on one thread, which cannot fail. */
inline void run_as_body(const polytile_domain *, const polytile_view *views, void *user) {
    static_cast<const Body *>(user)->run(
        {static_cast<int64_t *>(views[0].origin), static_cast<int64_t *>(views[1].origin)});
}

/** A meeting that two threads must come to at the same time. */
class Meeting {
  public:
    /** Returns whether the other one came within a minute. */
    bool come() {
        std::unique_lock<std::mutex> lock(mutex_);
        const int64_t meeting = n_come_++ / 2;
        changed_.notify_all();
        return changed_.wait_for(lock, std::chrono::minutes(1),
                                 [&] { return n_come_ >= 2 * (meeting + 1); });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int64_t n_come_ = 0;
};

class Streams : public testing::Test {
  protected:
    static constexpr int64_t n = 4;

    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    void parse(const std::string &text) {
        ASSERT_EQ(polytile_graph_parse(ctx, text.c_str(), &graph), POLYTILE_OK) << error();
    }

    polytile_status bind(const char *name, Body *body) {
        polytile_implementation made = {};
        made.host_launcher = run_body;
        made.user = body;
        return polytile_graph_bind(graph, name, &made);
    }

    /** A body has two arrays. */
    polytile_status bind_body(const char *name, Body *body) {
        polytile_implementation made = {};
        made.host = run_as_body;
        made.user = body;
        return polytile_graph_bind(graph, name, &made);
    }

    polytile_status begin(const char *machine_text,
                          const polytile_stream_options *options = nullptr,
                          const char *strategy = nullptr) {
        polytile_graph_options how = {};
        how.strategy = strategy;
        return begin_as(machine_text, how, options);
    }

    polytile_status begin_as(const char *machine_text, const polytile_graph_options &how,
                             const polytile_stream_options *options = nullptr) {
        polytile_machine *machine = nullptr;
        polytile_graph_plan *plan = nullptr;
        EXPECT_EQ(polytile_machine_parse(ctx, machine_text, &machine), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_graph_plan_create(graph, machine, &how, &plan), POLYTILE_OK) << error();
        const polytile_status status = polytile_stream_create(graph, plan, options, &stream);
        polytile_graph_plan_destroy(plan);
        polytile_machine_destroy(machine);
        return status;
    }

    polytile_array *wrap(std::vector<int64_t> *memory) {
        const int64_t extent = static_cast<int64_t>(memory->size());
        polytile_array *array = nullptr;
        EXPECT_EQ(
            polytile_array_wrap(ctx, "line", POLYTILE_I64, 1, &extent, memory->data(), &array),
            POLYTILE_OK)
            << error();
        return array;
    }

    polytile_status push(int64_t value, int64_t *frame = nullptr) {
        std::vector<int64_t> line(n);
        std::iota(line.begin(), line.end(), value);
        polytile_array *array = wrap(&line);
        const polytile_status status = polytile_stream_push(stream, 1, &array, frame);
        keep_error();
        polytile_array_destroy(array);
        return status;
    }

    /** The first number of the next frame's only result. */
    polytile_status pull(int64_t *value = nullptr, int64_t *frame = nullptr) {
        std::vector<int64_t> line(n, -1);
        polytile_array *array = wrap(&line);
        const polytile_status status = polytile_stream_pull(stream, 1, &array, frame);
        keep_error();
        polytile_array_destroy(array);
        if (value != nullptr)
            *value = line[0];
        return status;
    }

    void keep_error() { said = polytile_last_error(ctx); }
    std::string error() const { return polytile_last_error(ctx); }
    bool says(const std::string &part) const { return said.find(part) != std::string::npos; }

    polytile_context *ctx = nullptr;
    polytile_graph *graph = nullptr;
    polytile_stream *stream = nullptr;
    std::string said;

    Body add_one{[](const Lines &of) {
        for (int64_t i = 0; i < n; i++)
            of[1][i] = of[0][i] + 1;
        return 0;
    }};
    Body add_to_state{[](const Lines &of) {
        for (int64_t i = 0; i < n; i++)
            of[1][i] += of[0][i];
        return 0;
    }};
};

} // namespace line_streams

#endif
