#include "distribute/mpi/world.h"

#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

/* A rank that fails, or does something else than the others, makes all return the same error. */

namespace {

constexpr int64_t n = 1000;

void smooth(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const float *>(views[0].origin);
    auto *y = static_cast<float *>(views[1].origin);
    const int64_t x_step = views[0].stride_bytes[0] / 4, y_step = views[1].stride_bytes[0] / 4;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i * y_step] = x[(i - 1) * x_step] + x[i * x_step] + x[(i + 1) * x_step];
}

polytile_implementation smoothing() {
    polytile_implementation implementation = {};
    implementation.host = smooth;
    return implementation;
}

int refuse(const polytile_sub_kernel *) {
    return 42;
}

polytile_implementation refusing() {
    polytile_implementation implementation = {};
    implementation.host_launcher = refuse;
    return implementation;
}

class MpiQueueFailures : public testing::Test {
  protected:
    MpiQueueFailures() : x(n, 1.0f), y(n, 0.0f) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    }
    ~MpiQueueFailures() override { polytile_context_destroy(ctx); }

    void open(const std::string &device) {
        ASSERT_EQ(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device.c_str(), nullptr, &queue),
                  POLYTILE_OK)
            << error();
        make_kernel(smoothing(), &kernel);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(queue, 2, arrays), POLYTILE_OK) << error();
    }
    void make_kernel(const polytile_implementation &implementation, polytile_kernel **made,
                     const char *declaration = "smooth[i]: in x[i-1:i+1]; out y[i]") {
        ASSERT_EQ(polytile_kernel_create(ctx, declaration, &implementation, made), POLYTILE_OK)
            << error();
    }
    polytile_status launch(const polytile_kernel *launched, int64_t lo = 1, int64_t hi = n - 2) {
        const polytile_domain threads = {1, {{lo, hi, 1}}};
        return polytile_queue_launch(queue, launched, &threads, 2, arrays, nullptr);
    }
    std::string error() const { return polytile_last_error(ctx); }
    void expect_error(const std::string &begin, const std::string &part) const {
        EXPECT_EQ(error().substr(0, begin.size()), begin) << error();
        EXPECT_NE(error().find(part), std::string::npos) << error();
    }
    void expect_that_it_goes_on() {
        EXPECT_EQ(launch(kernel), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_OK) << error();
        EXPECT_EQ(y[n / 2], 3.0f);
        EXPECT_EQ(y[1], 3.0f);
    }

    const int last = world_size() - 1;
    const bool is_last = world_rank() == last;
    const std::string of_last = "rank " + std::to_string(last) + ": ";
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    std::vector<float> x, y;
};

TEST_F(MpiQueueFailures, TheFirstLaunchThatDiffersIsNamedAtOnce) {
    open("host");
    if (world_size() == 1)
        return;
    EXPECT_EQ(launch(kernel, is_last ? 2 : 1), POLYTILE_INVALID);
    expect_error(of_last + "smooth: ", "over [2:998]");
    expect_error(of_last, "; rank 0: smooth: ");
    expect_that_it_goes_on();
}

/** Whoever ends a queue, or waits for it, meets those that are in its first launch. */
TEST_F(MpiQueueFailures, ARankThatLaunchesNothingIsNamed) {
    open("host");
    if (world_size() == 1)
        return;
    EXPECT_EQ(is_last ? polytile_queue_wait(queue) : launch(kernel), POLYTILE_INVALID);
    expect_error(of_last + "no launch", "; rank 0: 1 launch");
    expect_that_it_goes_on();
    polytile_queue_destroy(queue);
    polytile_array_destroy(arrays[0]);
    polytile_array_destroy(arrays[1]);
    open("host");
    if (is_last) {
        polytile_queue_destroy(queue);
        return;
    }
    EXPECT_EQ(launch(kernel), POLYTILE_INVALID);
    expect_error(of_last + "the queue's end; rank 0: 1 launch", "the same calls");
    EXPECT_EQ(launch(kernel), POLYTILE_INVALID);
    expect_error("queue on host", "another rank has ended it");
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_get_state(arrays[1]), POLYTILE_ARRAY_COMPLETE);
    EXPECT_EQ(y[n / 2], 3.0f);
}

/** What others have of an array is out of reach then. */
TEST_F(MpiQueueFailures, ARankThatEndsItsQueueEarlierLeavesWhatIsWrittenIncomplete) {
    open("host");
    if (world_size() == 1)
        return;
    EXPECT_EQ(launch(kernel), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    if (is_last) {
        polytile_queue_destroy(queue);
        return;
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INVALID);
    expect_error(of_last + "the queue's end; rank 0: no launch", "the same calls");
    EXPECT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_INVALID);
    EXPECT_EQ(polytile_array_get_state(arrays[0]), POLYTILE_ARRAY_COMPLETE);
    EXPECT_EQ(polytile_array_get_state(arrays[1]), POLYTILE_ARRAY_INCOMPLETE);
}

TEST_F(MpiQueueFailures, ARankThatRefusesWhatOthersDoNotLaunchFailsAll) {
    open("host");
    if (world_size() == 1)
        return;
    const polytile_domain threads = {1, {{1, n - 2, 1}}};
    EXPECT_EQ(is_last ? polytile_queue_launch(queue, kernel, &threads, 1, arrays, nullptr)
                      : polytile_queue_wait(queue),
              POLYTILE_INVALID);
    expect_error(of_last, "the kernel has 2");
    expect_that_it_goes_on();
}

TEST_F(MpiQueueFailures, AnotherDeclarationIsNamed) {
    open("host");
    polytile_kernel *other = nullptr;
    if (world_size() == 1)
        return;
    make_kernel(smoothing(), &other, "smooth[i]: in x[i-1:i+2]; out y[i]");
    EXPECT_EQ(launch(is_last ? other : kernel, 1, n - 3), POLYTILE_INVALID);
    expect_error(of_last + "smooth: ", "x[i-1:i+2]");
    expect_that_it_goes_on();
}

TEST_F(MpiQueueFailures, ALaterLaunchThatDiffersIsNamedWhenItIsWaitedFor) {
    open("host");
    if (world_size() == 1)
        return;
    EXPECT_EQ(launch(kernel), POLYTILE_OK);
    EXPECT_EQ(launch(kernel, 1, is_last ? 500 : 501), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INVALID);
    expect_error(of_last + "smooth: ", "over [1:500]");
    expect_that_it_goes_on();
}

TEST_F(MpiQueueFailures, ARankThatMissesALaunchIsNamed) {
    open("host");
    if (world_size() == 1)
        return;
    EXPECT_EQ(launch(kernel), POLYTILE_OK);
    EXPECT_EQ(is_last ? POLYTILE_OK : launch(kernel), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INVALID);
    expect_error(of_last + "1 launch;", "rank 0: 2 launches");
    expect_that_it_goes_on();
}

TEST_F(MpiQueueFailures, ARankWhoseKernelFailsFailsAll) {
    open("host");
    polytile_kernel *broken = nullptr;
    make_kernel(is_last ? refusing() : smoothing(), &broken);
    EXPECT_EQ(launch(broken), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_error(of_last, "42");
    expect_that_it_goes_on();
}

TEST_F(MpiQueueFailures, ARankWithTooLittleMemoryFailsAll) {
    open(is_last ? "host(memory=4B)" : "host");
    EXPECT_EQ(launch(kernel), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_NO_FIT) << error();
    expect_error(of_last, "the limit is 4 B");
}

TEST_F(MpiQueueFailures, AFailureInTheMiddleOfManyStepsHangsNobody) {
    open("host");
    polytile_kernel *broken = nullptr;
    make_kernel(is_last ? refusing() : smoothing(), &broken);
    for (int step = 0; step < 30; step++) {
        EXPECT_EQ(launch(step == 10 ? broken : kernel), POLYTILE_OK) << error();
        std::swap(arrays[0], arrays[1]);
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_error(of_last, "42");
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << "it was told";
}

/** Where one rank cancels, all end, and know which it was. */
TEST_F(MpiQueueFailures, AllEndWhereOneRankCancels) {
    for (const char *device : {"host", "host(memory=1KiB)"}) {
        open(device);
        for (int k = 0; k < 5; k++)
            EXPECT_EQ(launch(kernel), POLYTILE_OK) << error();
        if (is_last)
            polytile_queue_cancel(queue);
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_CANCELLED);
        expect_error(of_last, "cancelled");
        EXPECT_EQ(polytile_array_get_state(arrays[0]), POLYTILE_ARRAY_COMPLETE);
        EXPECT_EQ(polytile_array_get_state(arrays[1]), POLYTILE_ARRAY_INCOMPLETE);
        expect_that_it_goes_on();
        polytile_queue_destroy(queue);
        polytile_array_destroy(arrays[0]);
        polytile_array_destroy(arrays[1]);
    }
}

void note_nothing(polytile_status, void *) {}

/** What is asked runs; no function can be called. */
TEST_F(MpiQueueFailures, TestingRunsWhatIsQueuedAndNotifyingIsRefused) {
    open("host");
    EXPECT_EQ(launch(kernel), POLYTILE_OK) << error();
    EXPECT_LT(polytile_queue_get_progress(queue).fraction, 1);
    EXPECT_TRUE(polytile_queue_test(queue, arrays[1]));
    EXPECT_EQ(polytile_queue_get_progress(queue).fraction, 1);
    EXPECT_EQ(polytile_queue_notify(queue, arrays[1], note_nothing, nullptr), POLYTILE_UNSUPPORTED);
    expect_error("queue on ", "wait for the array");
    expect_that_it_goes_on();
}

} // namespace
