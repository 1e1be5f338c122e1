#include "queue/queue_test.h"

#include <algorithm>

namespace {

/** How much moves between host and device, and when. */
class QueueBytes : public QueueTest {
  protected:
    static constexpr int64_t n = 1000;
    static constexpr int64_t line_bytes = n * static_cast<int64_t>(sizeof(float));

    void expect_moved(polytile_queue *queue, int64_t h2d_bytes, int64_t d2h_bytes) const {
        const polytile_report told = report(queue, true);
        EXPECT_EQ(told.h2d_bytes, h2d_bytes);
        EXPECT_EQ(told.d2h_bytes, d2h_bytes);
    }

    const polytile_domain all = line(n);
    std::vector<float> x_memory = std::vector<float>(n, 1);
    std::vector<float> y_memory = std::vector<float>(n, 1);
    std::vector<float> z_memory = std::vector<float>(n, 0);
};

TEST_F(QueueBytes, AHundredLaunchesMoveEachArrayOnceInAndOnceOut) {
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory), *z = wrap("z", z_memory);
    polytile_kernel *adding = add();
    ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    for (int k = 0; k < 50; k++) {
        ASSERT_EQ(launch(queue, adding, all, {x, y, z}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, adding, all, {x, z, y}), POLYTILE_OK) << error();
    }
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
    const polytile_report told = report(queue, false);
    EXPECT_EQ(told.n_launches, 100);
    EXPECT_LE(told.peak_device_bytes, 64 << 10);
    EXPECT_GE(told.peak_device_bytes, 3 * line_bytes);
    expect_moved(queue, 2 * line_bytes, 2 * line_bytes);
    EXPECT_EQ(y_memory, std::vector<float>(n, 101));
    EXPECT_EQ(z_memory, std::vector<float>(n, 100));
}

TEST_F(QueueBytes, StencilStepsMoveEachFieldOnceInAndOnceOut) {
    constexpr int64_t m = 60, inner = m - 2;
    constexpr int64_t element_bytes = sizeof(float);
    polytile_queue *queue = open("host(memory=1MiB)");
    std::vector<float> A_memory(m * m, 1), B_memory(m * m, 1);
    polytile_array *A = wrap("A", A_memory, {m, m}), *B = wrap("B", B_memory, {m, m});
    polytile_kernel *jacobi =
        create("jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", &jacobi_kernel);
    ASSERT_EQ(attach(queue, {A, B}), POLYTILE_OK) << error();
    const polytile_domain interior = box({1, 1}, {m - 2, m - 2});
    for (int k = 0; k < 50; k++) {
        ASSERT_EQ(launch(queue, jacobi, interior, {A, B}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, jacobi, interior, {B, A}), POLYTILE_OK) << error();
    }
    ASSERT_EQ(detach(queue, {A, B}), POLYTILE_OK) << error();
    const polytile_report told = report(queue);
    EXPECT_GE(told.h2d_bytes, (m * m - 4) * element_bytes);
    EXPECT_LE(told.h2d_bytes, 2 * m * m * element_bytes);
    EXPECT_EQ(told.d2h_bytes, 2 * inner * inner * element_bytes);
    EXPECT_EQ(A_memory, std::vector<float>(m * m, 1));
}

/** x seems to fit when it is queued first; beside the others it is a quarter of the memory, and cut
 * into pieces each time. */
TEST_F(QueueBytes, LaunchesThatSeemedToFitAreCutAsLaterOnes) {
    polytile_queue *queue = open("host(memory=16000B)");
    polytile_array *x = wrap("x", x_memory);
    std::vector<float> u_memory(4 * n, 1), v_memory(4 * n, 1), w_memory(4 * n, 0);
    polytile_array *u = wrap("u", u_memory), *v = wrap("v", v_memory), *w = wrap("w", w_memory);
    polytile_kernel *doubling = scale(), *again = create("again[i]: inout x[i]", &scale_kernel);
    ASSERT_EQ(attach(queue, {x, u, v, w}), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, doubling, all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, add(), line(4 * n), {u, v, w}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, again, all, {x}), POLYTILE_OK) << error();
    polytile_queue_resume(queue);
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    report(queue, true);
    ASSERT_EQ(launch(queue, again, all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_GE(report(queue, true).n_kernels, 2);
    ASSERT_EQ(detach(queue, {x, u, v, w}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(n, 8));
    EXPECT_EQ(w_memory, std::vector<float>(4 * n, 2));
}

TEST_F(QueueBytes, OnlyWhatIsReadGoesThereAndOnlyWhatWasWrittenComesBack) {
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory);
    ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), box({100}, {109}), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    expect_moved(queue, 40, 0);
    ASSERT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    expect_moved(queue, 0, 40);
    std::vector<float> expected(n, 1);
    std::fill(expected.begin() + 100, expected.begin() + 110, 2.0f);
    EXPECT_EQ(x_memory, expected);
}

TEST_F(QueueBytes, WhatWasOnlyReadDoesNotComeBack) {
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", x_memory), *z = wrap("z", z_memory);
    ASSERT_EQ(attach(queue, {x, z}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, add(), all, {x, x, z}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_moved(queue, line_bytes, 0);
    ASSERT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    expect_moved(queue, 0, line_bytes);
    EXPECT_EQ(z_memory, std::vector<float>(n, 2));
}

TEST_F(QueueBytes, AnArrayThatComesAgainIsReadAgain) {
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", x_memory);
    polytile_kernel *doubling = scale();
    for (int round = 0; round < 3; round++) {
        ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, doubling, all, {x}), POLYTILE_OK) << error();
        ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
        expect_moved(queue, line_bytes, line_bytes);
        for (float &element : x_memory)
            element += 1;
    }
    EXPECT_EQ(x_memory, std::vector<float>(n, 15));
}

TEST_F(QueueBytes, InternalArraysNeverMoveWhileTheyFit) {
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", x_memory);
    polytile_array *t = make_internal(queue, "t", {n}), *u = make_internal(queue, "u", {n});
    polytile_kernel *adding = add();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, all, {x, u, t}), POLYTILE_OK) << error();
    for (int k = 0; k < 20; k++) {
        ASSERT_EQ(launch(queue, adding, all, {t, x, u}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, adding, all, {u, x, t}), POLYTILE_OK) << error();
    }
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    expect_moved(queue, line_bytes, 0);
    ASSERT_EQ(launch(queue, adding, all, {t, u, x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    polytile_array_destroy(t);
    polytile_array_destroy(u);
    expect_moved(queue, 0, line_bytes);
    EXPECT_EQ(x_memory, std::vector<float>(n, 81));
}

TEST_F(QueueBytes, InternalArraysThatDoNotFitAreSpilled) {
    polytile_queue *queue = open("host(memory=8KiB)");
    polytile_array *x = wrap("x", x_memory);
    polytile_array *t = make_internal(queue, "t", {n}), *u = make_internal(queue, "u", {n});
    polytile_kernel *adding = add();
    const int64_t block = 16;
    polytile_launch_options options = {};
    options.plan.block = &block;
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding, all, {x, u, t}, &options), POLYTILE_OK) << error();
    for (int k = 0; k < 20; k++) {
        ASSERT_EQ(launch(queue, adding, all, {t, x, u}, &options), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, adding, all, {u, x, t}, &options), POLYTILE_OK) << error();
    }
    ASSERT_EQ(launch(queue, adding, all, {t, u, x}, &options), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(n, 81));
    EXPECT_LE(report(queue).peak_device_bytes, 8 << 10);
}

/** Of data twice the memory, each sweep after the first finds about half there, if the sweeps turn
 * round. */
TEST_F(QueueBytes, SweepsOverTwiceTheMemoryMoveAboutHalf) {
    constexpr int64_t n_sweeps = 40, memory_bytes = 64 << 10;
    std::vector<float> memory(2 * memory_bytes / sizeof(float), 1);
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *x = wrap("x", memory);
    polytile_kernel *doubling = scale();
    const int64_t block = 16;
    polytile_launch_options options = {};
    options.plan.block = &block;
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    for (int k = 0; k < n_sweeps; k++)
        ASSERT_EQ(launch(queue, doubling, line(static_cast<int64_t>(memory.size())), {x}, &options),
                  POLYTILE_OK)
            << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    const polytile_report told = report(queue);
    const double rereading_bytes = 2.0 * n_sweeps * 2 * memory_bytes;
    EXPECT_GE(rereading_bytes, 1.85 * static_cast<double>(told.h2d_bytes + told.d2h_bytes));
}

TEST_F(QueueBytes, TheHostMovesNothing) {
    polytile_queue *queue = open("host");
    polytile_array *x = wrap("x", x_memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_moved(queue, 0, 0);
    EXPECT_EQ(report(queue).peak_device_bytes, 0);
    EXPECT_EQ(x_memory, std::vector<float>(n, 2));
}

} // namespace
