#ifndef POLYTILE_TESTS_GRAPH_STREAM_STREAM_RUN_H
#define POLYTILE_TESTS_GRAPH_STREAM_STREAM_RUN_H

#include "graph/stream/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>

/* Random graphs run as streams and compared with plain loops. */

/** A stream with host arrays for its ports. */
class StreamRun {
  public:
    StreamRun(polytile_context *ctx, RandomStream *of, Random *random)
        : ctx_(ctx), of_(of), random_(random) {
        for (const int port : of->inputs())
            fed_.push_back(wrap(port));
        for (const int port : of->outputs())
            taken_.push_back(wrap(port));
    }

    /** Plan and begin; false where no plan fits. */
    bool begin(const std::string &machine_text, const polytile_graph_options &options,
               const std::vector<const void *> &symbols) {
        expect_ok(polytile_graph_parse(ctx_, of_->text().c_str(), &graph_));
        expect_ok(polytile_machine_parse(ctx_, machine_text.c_str(), &machine_));
        expect_ok(of_->bind(graph_, symbols));
        if (bind_anew)
            bind_anew(graph_);
        if (testing::Test::HasFailure())
            return false;
        polytile_graph_plan *plan = nullptr;
        const polytile_status status =
            polytile_graph_plan_create(graph_, machine_, &options, &plan);
        if (options.no_overlap && status == POLYTILE_UNSUPPORTED)
            return false;
        expect_ok(status);
        if (plan == nullptr)
            return false;
        const polytile_status begun = create(graph_, plan, &stream);
        polytile_graph_plan_destroy(plan);
        if (begun != POLYTILE_UNSUPPORTED)
            expect_ok(begun);
        return stream != nullptr;
    }

    /** Of all ports only those of these names are this process' to feed and take. */
    void keep_ports(const std::vector<std::string> &fed, const std::vector<std::string> &taken) {
        keep(&fed_, fed);
        keep(&taken_, taken);
    }
    const polytile_graph *graph() const { return graph_; }

    /** Push frames, so many ahead of what is pulled, and compare each one. */
    void run(int64_t n_frames, int64_t ahead) {
        int64_t n_pulled = 0;
        for (int64_t f = 0; f < n_frames && !testing::Test::HasFailure(); f++) {
            push();
            while (f + 1 - n_pulled >= (random_->chance(20) ? 1 : ahead))
                pull(n_pulled++);
        }
        while (n_pulled < n_frames && !testing::Test::HasFailure())
            pull(n_pulled++);
    }

    ~StreamRun() {
        polytile_stream_destroy(stream);
        polytile_graph_destroy(graph_);
        polytile_machine_destroy(machine_);
        for (std::vector<Port> *ports : {&fed_, &taken_})
            for (Port &port : *ports)
                polytile_array_destroy(port.array);
    }
    StreamRun(const StreamRun &) = delete;
    StreamRun &operator=(const StreamRun &) = delete;

    polytile_stream *stream = nullptr;
    /** Replaces what actors run; they may fail then, and frames of graphs with state are not
     * compared. */
    std::function<void(polytile_graph *)> bind_anew;
    int64_t n_failed = 0;   /* frames */
    int64_t n_compared = 0; /* outputs of frames */
    /** How a stream is created; UNSUPPORTED: it does not run. */
    std::function<polytile_status(const polytile_graph *, const polytile_graph_plan *,
                                  polytile_stream **)>
        create = [this](const polytile_graph *graph, const polytile_graph_plan *plan,
                        polytile_stream **made) {
            expect_ok(polytile_stream_create(graph, plan, nullptr, made));
            return POLYTILE_OK;
        };

  private:
    struct Port {
        std::unique_ptr<Bytes> bytes;
        polytile_array *array;
        bool is_here = true;
    };

    static void keep(std::vector<Port> *ports, const std::vector<std::string> &names) {
        for (Port &port : *ports)
            port.is_here = std::find(names.begin(), names.end(),
                                     polytile_array_get_name(port.array)) != names.end();
    }

    bool says(const char *part) const {
        return std::strstr(polytile_last_error(ctx_), part) != nullptr;
    }
    void expect_ok(polytile_status status) const {
        EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_) << "\n" << of_->text();
    }

    Port wrap(int array) {
        static const polytile_type types[] = {POLYTILE_U8, POLYTILE_U16, POLYTILE_U32,
                                              POLYTILE_U64};
        const int64_t n = of_->element_bytes(array);
        const std::vector<int64_t> extents = of_->extents(array);
        Port port = {std::make_unique<Bytes>(of_->n_bytes(array)), nullptr};
        expect_ok(polytile_array_wrap(ctx_, of_->name(array).c_str(),
                                      types[n == 1   ? 0
                                            : n == 2 ? 1
                                            : n == 4 ? 2
                                                     : 3],
                                      static_cast<int>(extents.size()), extents.data(),
                                      port.bytes->data(), &port.array));
        return port;
    }

    static std::vector<polytile_array *> arrays_of(const std::vector<Port> &ports) {
        std::vector<polytile_array *> list;
        for (const Port &port : ports)
            if (port.is_here)
                list.push_back(port.array);
        return list;
    }

    void push() {
        std::vector<Bytes> frame;
        for (Port &port : fed_) {
            for (unsigned char &byte : *port.bytes)
                byte = static_cast<unsigned char>(random_->number(0, 255));
            frame.push_back(*port.bytes);
        }
        const std::vector<polytile_array *> arrays = arrays_of(fed_);
        expect_ok(
            polytile_stream_push(stream, static_cast<int>(arrays.size()), arrays.data(), nullptr));
        for (Port &port : fed_)
            std::fill(port.bytes->begin(), port.bytes->end(), static_cast<unsigned char>(0xee));
        expected_.push_back(of_->run_plainly(frame));
    }

    void pull(int64_t number) {
        const std::vector<polytile_array *> arrays = arrays_of(taken_);
        int64_t frame = -1;
        for (Port &port : taken_)
            std::fill(port.bytes->begin(), port.bytes->end(), static_cast<unsigned char>(0xdd));
        const polytile_status status =
            polytile_stream_pull(stream, static_cast<int>(arrays.size()), arrays.data(), &frame);
        EXPECT_EQ(frame, number);
        if (bind_anew) {
            EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_INVALID ||
                        says("the launcher returned 9"))
                << polytile_last_error(ctx_);
            n_failed += status != POLYTILE_OK;
            if (status == POLYTILE_OK && !of_->has_state())
                compare(number);
        } else {
            expect_ok(status);
            compare(number);
        }
        expected_.pop_front();
    }

    void compare(int64_t number) {
        for (size_t k = 0; k < taken_.size(); k++) {
            if (!taken_[k].is_here)
                continue;
            n_compared++;
            EXPECT_EQ(*taken_[k].bytes, expected_.front()[k])
                << "frame " << number << ", output " << k << "\n"
                << of_->text();
        }
    }

    polytile_context *ctx_;
    RandomStream *of_;
    Random *random_;
    polytile_graph *graph_ = nullptr;
    polytile_machine *machine_ = nullptr;
    std::vector<Port> fed_, taken_;
    std::deque<std::vector<Bytes>> expected_;
};

#endif
