#include "queue/queue_test.h"
#include "support/environment.h"

#include <polytile/kernel.h>

#include <algorithm>
#include <ctime>

/* POLYTILE_CHECK=access and wide in queues over several devices: each member checks its part. */

namespace {

class GroupCheckAccess : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "access");
        QueueTest::SetUp();
    }
    Environment environment_;
};

TEST_F(GroupCheckAccess, WrongLaunchesAreToldByTheNextWait) {
    std::vector<float> fine(201), coarse(100, -1);
    for (size_t k = 0; k < fine.size(); k++)
        fine[k] = static_cast<float>(k);
    polytile_queue *queue = open("host(memory=4KiB),host(memory=4KiB)");
    polytile_array *f = wrap("f", fine), *c = wrap("c", coarse);
    ASSERT_EQ(attach(queue, {f, c}), POLYTILE_OK) << error();
    polytile_kernel *wrong = create("coarsen[i]: in f[2*i:2*i+1]; out c[i]", &coarsen_kernel);
    polytile_status status = launch(queue, wrong, line(100), {f, c});
    if (status == POLYTILE_OK)
        status = polytile_queue_wait(queue);
    EXPECT_EQ(status, POLYTILE_INVALID) << error();
    expect_says({"coarsen: its declaration is wrong", "in f[2*i:2*i+1]"});
    EXPECT_EQ(launch(queue, create("coarsen[i]: in f[2*i:2*i+2]; out c[i]", &coarsen_kernel),
                     line(100), {f, c}),
              POLYTILE_OK);
    EXPECT_EQ(detach(queue, {f, c}), POLYTILE_OK) << error();
    for (size_t i = 0; i < coarse.size(); i++)
        EXPECT_EQ(coarse[i], static_cast<float>(6 * i + 3));
}

POLYTILE_KERNEL(count, (i), (float, s, 1)) {
    PT_SUM(PT_AT(s, 2), (float)i);
}

/** Devices with room for it would all run what none owns, and check what others brought home. */
TEST_F(GroupCheckAccess, ResultsAreThoseWithoutTheCheck) {
    std::vector<float> sums = {1, 2, 3};
    polytile_queue *queue = open("host(memory=16KiB),host(memory=16KiB)");
    polytile_array *s = wrap("s", sums);
    polytile_kernel *kernel = create("count[i]: sum s[2]", &count_kernel);
    ASSERT_EQ(attach(queue, {s}), POLYTILE_OK) << error();
    for (int k = 0; k < 3; k++)
        ASSERT_EQ(launch(queue, kernel, line(5), {s}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {s}), POLYTILE_OK) << error();
    EXPECT_EQ(sums, (std::vector<float>{1, 2, 33}));
}

TEST_F(GroupCheckAccess, OneElementIsUpdatedOnce) {
    std::vector<float> x_memory = {3};
    polytile_queue *queue = open("host(memory=16KiB),host(memory=16KiB)");
    polytile_array *x = wrap("x", x_memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    for (int step = 0; step < 5; step++)
        ASSERT_EQ(launch(queue, scale(), line(1), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory[0], 96);
}

TEST_F(GroupCheckAccess, WhatTwoMembersWouldComputeIsUpdatedOnce) {
    std::vector<float> x_memory(64, 1), y_memory(64, 3), z_memory(64, 0);
    polytile_queue *queue = open("host(memory=16KiB),host(memory=16KiB)");
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory), *z = wrap("z", z_memory);
    polytile_kernel *around = create("around[i]: in x[i-1:i+1], y[i]; out z[i]", &add_kernel);
    ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    for (int step = 0; step < 4; step++) {
        ASSERT_EQ(launch(queue, scale(), line(64), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, around, line(64), {x, y, z}), POLYTILE_OK) << error();
    }
    ASSERT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 16));
    EXPECT_EQ(z_memory, std::vector<float>(64, 19));
}

class GroupCheckWide : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "wide");
        QueueTest::SetUp();
    }
    Environment environment_;
};

/** Of the members that all find it. */
TEST_F(GroupCheckWide, OneMemberWarnsAndNamesItsThreads) {
    std::vector<float> fine(201, 1), coarse(100, -1);
    polytile_queue *queue = open("host,host");
    polytile_array *f = wrap("f", fine), *c = wrap("c", coarse);
    ASSERT_EQ(attach(queue, {f, c}), POLYTILE_OK);
    polytile_kernel *wide = create("coarsen[i]: in f[:]; out c[i]", &coarsen_kernel);
    testing::internal::CaptureStderr();
    EXPECT_EQ(launch(queue, wide, line(100), {f, c}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {f, c}), POLYTILE_OK) << error();
    const std::string said = testing::internal::GetCapturedStderr();
    const bool first = said.find("(found on host for the threads [0:49])") != std::string::npos;
    const bool second = said.find("(found on host for the threads [50:99])") != std::string::npos;
    EXPECT_NE(first, second) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

/** They are the library's own, over millions of threads. */
TEST_F(GroupCheckAccess, LaunchesThatMeasureDevicesAreNotChecked) {
    const polytile_share_options options = {nullptr, "weighted", nullptr, 0, {}};
    const std::clock_t begin = std::clock();
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_queue_create_shared(ctx, "host,host(memory=64MiB)", &options, &queue),
              POLYTILE_OK)
        << error();
    std::vector<float> x_memory(64, 3);
    polytile_array *x = wrap("x", x_memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), line(64), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

} // namespace
