#include "queue/program.h"
#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/scale.h"

/* POLYTILE_CHECK=access in queues. */

namespace {

class QueueCheckAccess : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "access,attach");
        QueueTest::SetUp();
    }
    Environment environment_;
};

TEST_F(QueueCheckAccess, RightProgramsRunAsEver) {
    environment_.set("POLYTILE_CHECK", "plan,access");
    Random random(test_seed("QueueCheckAccess.RightProgramsRunAsEver"));
    for (const char *device : {"host", "host(memory=8KiB)", "host(memory=64MiB,threads=2)"})
        for (int64_t round = 0; round < scaled(4) && !testing::Test::HasFailure(); round++) {
            Program::Options options;
            options.n = random.one_of({5, 12});
            options.n_steps = 12;
            Program program(device, options, &random);
            program.run();
        }
}

/** Right launches stand around a wrong one, which reads what is on the device only. */
TEST_F(QueueCheckAccess, WrongLaunchesAreRefusedAndTheOthersRun) {
    for (const char *device : {"host", "host(memory=4KiB)", "host(memory=1MiB)"}) {
        std::vector<float> x(201), coarse(100, -1);
        for (size_t k = 0; k < x.size(); k++)
            x[k] = static_cast<float>(k);
        polytile_queue *queue = open(device);
        polytile_array *of_x = wrap("x", x), *of_coarse = wrap("coarse", coarse);
        polytile_array *internal = make_internal(queue, "sum", {201});
        ASSERT_EQ(attach(queue, {of_x, of_coarse}), POLYTILE_OK) << error();
        polytile_kernel *right = create("coarsen[i]: in f[2*i:2*i+2]; out c[i]", &coarsen_kernel);
        polytile_kernel *wrong = create("coarsen[i]: in f[2*i:2*i+1]; out c[i]", &coarsen_kernel);
        EXPECT_EQ(launch(queue, add(), line(201), {of_x, of_x, internal}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, wrong, line(100), {internal, of_coarse}), POLYTILE_INVALID);
        expect_says({"coarsen: its declaration is wrong", "reads f[", "in f[2*i:2*i+1]"});
        EXPECT_EQ(launch(queue, right, line(100), {internal, of_coarse}), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, {of_x, of_coarse}), POLYTILE_OK) << error();
        for (size_t i = 0; i < coarse.size(); i++)
            EXPECT_EQ(coarse[i], static_cast<float>(2 * (6 * i + 3))) << device << " " << i;
        polytile_queue_destroy(queue);
    }
}

TEST_F(QueueCheckAccess, WhatNobodyWroteIsZero) {
    polytile_queue *queue = open("host(memory=4KiB)");
    polytile_array *fine = make_internal(queue, "f", {50});
    polytile_array *coarse = make_internal(queue, "c", {20});
    polytile_kernel *right = create("coarsen[i]: in f[2*i:2*i+2]; out c[i]", &coarsen_kernel);
    polytile_kernel *wrong = create("coarsen[i]: in f[2*i]; out c[i]", &coarsen_kernel);
    EXPECT_EQ(launch(queue, right, line(20), {fine, coarse}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, wrong, line(20), {fine, coarse}), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_F(QueueCheckAccess, ARefusedLaunchBehindAFailureIsNotLookedAt) {
    std::vector<float> x(10);
    Gate gate;
    gate.let_return(7);
    polytile_queue *queue = open("host");
    polytile_array *array = wrap("x", x);
    ASSERT_EQ(attach(queue, {array}), POLYTILE_OK);
    EXPECT_EQ(launch(queue, gated(gate), line(10), {array}), POLYTILE_DEVICE);
    expect_says({"gated: the launcher returned 7"});
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    EXPECT_EQ(launch(queue, scale(), line(10), {array}), POLYTILE_OK);
    EXPECT_EQ(detach(queue, {array}), POLYTILE_OK);
}

class QueueCheckWide : public QueueTest {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "wide");
        QueueTest::SetUp();
    }
    Environment environment_;
};

TEST_F(QueueCheckWide, WhatIsDeclaredTooWideIsWarnedAbout) {
    for (const char *device : {"host", "host(memory=4KiB)"}) {
        std::vector<float> x(201, 1), coarse(100, -1);
        polytile_queue *queue = open(device);
        polytile_array *of_x = wrap("x", x), *of_coarse = wrap("coarse", coarse);
        polytile_kernel *wide = create("coarsen[i]: in f[:]; out c[i]", &coarsen_kernel);
        ASSERT_EQ(attach(queue, {of_x, of_coarse}), POLYTILE_OK) << error();
        testing::internal::CaptureStderr();
        EXPECT_EQ(launch(queue, wide, line(100), {of_x, of_coarse}), POLYTILE_OK) << error();
        EXPECT_NE(testing::internal::GetCapturedStderr().find("declared too wide: f: "),
                  std::string::npos);
        EXPECT_EQ(detach(queue, {of_x, of_coarse}), POLYTILE_OK) << error();
        EXPECT_EQ(coarse[99], 3);
        polytile_queue_destroy(queue);
    }
}

} // namespace
