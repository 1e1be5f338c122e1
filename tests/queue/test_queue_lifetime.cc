#include "queue/queue_test.h"

extern "C" {
#include "access/array/array.h"
}

namespace {

/** Queues, arrays and kernels end in any order, with launches in flight. */
class QueueLifetime : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    polytile_queue *open_here() { return open(GetParam()); }

    std::vector<float> memory = std::vector<float>(100, 1);
    const polytile_domain all = line(100);
};

INSTANTIATE_TEST_SUITE_P(Devices, QueueLifetime,
                         testing::Values("host", "host(memory=768B)", "host(memory=64KiB)"));

TEST_P(QueueLifetime, AnIdleQueueEnds) {
    polytile_queue_destroy(open_here());
    open_here();
}

TEST_P(QueueLifetime, DestroyingAQueueRunsWhatIsQueuedAndDetaches) {
    Gate gate(false);
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    polytile_kernel *gated_kernel = gated(gate), *doubling = scale();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    polytile_launch_options options = {};
    const int64_t block = 1;
    options.plan.block = &block;
    ASSERT_EQ(launch(queue, gated_kernel, all, {x}, &options), POLYTILE_OK) << error();
    for (int k = 0; k < 3; k++)
        ASSERT_EQ(launch(queue, doubling, all, {x}, &options), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    gate.open();
    polytile_queue_destroy(queue);
    EXPECT_EQ(memory, std::vector<float>(100, 16));
    EXPECT_EQ(x->queue, nullptr);
    polytile_queue *next = open_here();
    EXPECT_EQ(attach(next, {x}), POLYTILE_OK) << error();
}

TEST_P(QueueLifetime, APausedQueueIsDrainedToo) {
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    polytile_queue_destroy(queue);
    EXPECT_EQ(memory, std::vector<float>(100, 2));
}

TEST_P(QueueLifetime, AnArrayDestroyedWhileQueuedIsWaitedForWithAWarning) {
    Gate gate(false);
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    gate.open();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    polytile_array_destroy(x);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "array x: destroyed while launches that use it were queued"),
              std::string::npos);
    EXPECT_EQ(memory, std::vector<float>(100, 8));
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_P(QueueLifetime, AnIdleArrayIsDestroyedWithoutAWord) {
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    polytile_array_destroy(x);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(memory, std::vector<float>(100, 2));
}

TEST_P(QueueLifetime, InternalArraysEndBeforeOrWithTheirQueue) {
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    polytile_kernel *adding = add();
    const int64_t block = 1;
    polytile_launch_options options = {};
    options.plan.block = &block;
    polytile_array *t = make_internal(queue, "t", {100});
    make_internal(queue, "u", {100});
    EXPECT_EQ(polytile_array_get_data(t), nullptr);
    ASSERT_EQ(launch(queue, adding, all, {x, x, t}, &options), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_array_get_data(t), nullptr);
    polytile_array_destroy(t);
    t = make_internal(queue, "t", {100});
    ASSERT_EQ(launch(queue, adding, all, {t, t, x}, &options), POLYTILE_OK) << error();
    polytile_queue_destroy(queue);
    EXPECT_EQ(memory, std::vector<float>(100, 0));
}

/** A view of a queue's own array ends with it, also one of a view. */
TEST_P(QueueLifetime, ViewsOfInternalArraysEndWithTheirQueue) {
    for (const bool is_dropped : {false, true}) {
        polytile_queue *queue = open_here();
        const int64_t n = 100;
        polytile_array *own = nullptr, *view = nullptr, *flat = nullptr;
        ASSERT_EQ(polytile_queue_create_array(queue, "own", POLYTILE_F32, 1, &n, &own), POLYTILE_OK)
            << error();
        const polytile_domain square = {2, {{0, 9, 1}, {0, 9, 1}}};
        ASSERT_EQ(polytile_array_reshape(own, "view", &square, &view), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_array_reshape(view, "flat", &all, &flat), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, scale(), all, {own}), POLYTILE_OK) << error();
        if (is_dropped)
            polytile_array_destroy(own);
        polytile_queue_destroy(queue);
        EXPECT_EQ(pti_array_next(ctx, nullptr), nullptr) << "an array is left";
    }
}

TEST_P(QueueLifetime, AKernelMayGoWhileItsLaunchesAreQueued) {
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    polytile_kernel *doubling = scale();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, doubling, all, {x}), POLYTILE_OK) << error();
    polytile_kernel_destroy(doubling);
    polytile_kernel *adding = create("scale[i]: inout x[i]", &scale_kernel);
    ASSERT_EQ(launch(queue, adding, all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(memory, std::vector<float>(100, 4));
}

/** The context ends what was made last first, so the order of making is that of ending. */
TEST_P(QueueLifetime, TheContextEndsThemInAnyOrder) {
    const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const auto &order : orders) {
        std::vector<float> own(100, 1);
        polytile_context *context = nullptr;
        polytile_queue *queue = nullptr;
        polytile_array *array = nullptr, *internal = nullptr;
        polytile_kernel *kernel = nullptr;
        const int64_t extent = 100;
        ASSERT_EQ(polytile_context_create(&context), POLYTILE_OK);
        for (int k = 0; k < 3; k++) {
            if (order[k] == 0)
                ASSERT_EQ(polytile_queue_create(context, GetParam(), &queue), POLYTILE_OK);
            else if (order[k] == 1)
                array = wrap_in(context, "x", own);
            else
                kernel = create_in(context, "scale[i]: inout x[i]", &scale_kernel);
        }
        ASSERT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_F32, 1, &extent, &internal),
                  POLYTILE_OK);
        ASSERT_EQ(attach(queue, {array}), POLYTILE_OK);
        for (int k = 0; k < 3; k++) {
            ASSERT_EQ(launch(queue, kernel, all, {array}), POLYTILE_OK);
            ASSERT_EQ(launch(queue, kernel, all, {internal}), POLYTILE_OK);
        }
        testing::internal::CaptureStderr();
        polytile_context_destroy(context);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        EXPECT_EQ(own, std::vector<float>(100, 8));
    }
}

TEST_P(QueueLifetime, AnErrorThatNobodyWaitedForIsWritten) {
    Gate gate;
    gate.let_return(7);
    polytile_queue *queue = open_here();
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    polytile_queue_destroy(queue);
    const std::string written = testing::internal::GetCapturedStderr();
    EXPECT_NE(written.find("gated: the launcher returned 7"), std::string::npos) << written;
}

} // namespace
