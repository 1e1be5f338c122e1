#ifndef POLYTILE_TESTS_QUEUE_QUEUE_TEST_H
#define POLYTILE_TESTS_QUEUE_QUEUE_TEST_H

#include "launch/kernels.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <condition_variable>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

/** A launcher that adds 1 to the elements of its first view, which has one dimension, once it is
 * let through; or fails. */
class Gate {
  public:
    explicit Gate(bool is_open = true) : is_open_(is_open) {
        implementation.host_launcher = call;
        implementation.user = this;
    }

    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    /** Wait until a launch stands before the gate, or has passed it. */
    void wait_for_a_launch() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return n_launches_ > 0; });
    }
    int n_launches() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return n_launches_;
    }
    /** What launches return from now on. */
    void let_return(int number) {
        const std::lock_guard<std::mutex> lock(mutex_);
        returned_ = number;
    }

    polytile_implementation implementation = {};

  private:
    static int call(const polytile_sub_kernel *launch) {
        return static_cast<Gate *>(launch->user)->pass(*launch);
    }

    int pass(const polytile_sub_kernel &launch) {
        std::unique_lock<std::mutex> lock(mutex_);
        n_launches_++;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
        const polytile_view &view = launch.views[0];
        const polytile_range &range = launch.threads->range[0];
        for (int64_t i = range.lo; returned_ == 0 && i <= range.hi; i++)
            *reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                       i * view.stride_bytes[0]) += 1;
        return returned_;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_;
    int n_launches_ = 0;
    int returned_ = 0;
};

/** Lists of arrays and extents as the calls take them. */
using Arrays = std::vector<polytile_array *>;
using Lengths = std::vector<int64_t>;

inline polytile_status attach(polytile_queue *queue, const Arrays &arrays) {
    return polytile_queue_attach(queue, static_cast<int>(arrays.size()), arrays.data());
}
inline polytile_status detach(polytile_queue *queue, const Arrays &arrays) {
    return polytile_queue_detach(queue, static_cast<int>(arrays.size()), arrays.data());
}
inline polytile_status launch(polytile_queue *queue, const polytile_kernel *kernel,
                              const polytile_domain &domain, const Arrays &arrays,
                              const polytile_launch_options *options = nullptr) {
    return polytile_queue_launch(queue, kernel, &domain, static_cast<int>(arrays.size()),
                                 arrays.data(), options);
}

/** What tests of queues share: a context, and short ways to make what they need in it. */
class QueueTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_queue *open(const char *device) {
        polytile_queue *queue = nullptr;
        EXPECT_EQ(polytile_queue_create(ctx, device, &queue), POLYTILE_OK) << error();
        return queue;
    }

    polytile_kernel *create(const char *declaration, const polytile_implementation *of) {
        return create_in(ctx, declaration, of);
    }
    polytile_kernel *add() { return create("add[i]: in x[i], y[i]; out z[i]", &add_kernel); }
    polytile_kernel *scale() { return create("scale[i]: inout x[i]", &scale_kernel); }
    polytile_kernel *gated(Gate &gate) {
        return create("gated[i]: inout x[i]", &gate.implementation);
    }

    polytile_array *wrap(const char *name, std::vector<float> &memory) {
        return wrap_in(ctx, name, memory);
    }
    polytile_array *wrap(const char *name, std::vector<float> &memory, const Lengths &extents) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_F32, static_cast<int>(extents.size()),
                                      extents.data(), memory.data(), &array),
                  POLYTILE_OK)
            << error();
        return array;
    }
    polytile_array *make_internal(polytile_queue *queue, const char *name, const Lengths &extents) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_queue_create_array(queue, name, POLYTILE_F32,
                                              static_cast<int>(extents.size()), extents.data(),
                                              &array),
                  POLYTILE_OK)
            << error();
        return array;
    }

    static polytile_kernel *create_in(polytile_context *context, const char *declaration,
                                      const polytile_implementation *of) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(context, declaration, of, &kernel), POLYTILE_OK)
            << polytile_last_error(context);
        return kernel;
    }
    static polytile_array *wrap_in(polytile_context *context, const char *name,
                                   std::vector<float> &memory) {
        const int64_t extent = static_cast<int64_t>(memory.size());
        polytile_array *array = nullptr;
        EXPECT_EQ(
            polytile_array_wrap(context, name, POLYTILE_F32, 1, &extent, memory.data(), &array),
            POLYTILE_OK)
            << polytile_last_error(context);
        return array;
    }

    static polytile_domain box(const Lengths &lo, const Lengths &hi) {
        return polytile_domain_from_bounds(static_cast<int>(lo.size()), lo.data(), hi.data());
    }
    static polytile_domain line(int64_t n) { return box({0}, {n - 1}); }

    std::string error() const { return polytile_last_error(ctx); }
    void expect_says(std::initializer_list<const char *> parts) const {
        for (const char *part : parts)
            EXPECT_NE(error().find(part), std::string::npos) << error() << "\nlacks " << part;
    }

    polytile_report report(polytile_queue *queue, bool reset = false) const {
        polytile_report told;
        polytile_queue_get_report(queue, reset, &told);
        return told;
    }

    polytile_context *ctx = nullptr;
};

#endif
