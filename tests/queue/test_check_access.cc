#include "queue/program.h"
#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/scale.h"

#include <atomic>

/* POLYTILE_CHECK=access in queues. */

namespace {

/** What bodies must not read; atomic, so that reading it late is the only mistake. */
std::atomic<float> alpha;

POLYTILE_KERNEL(scale_by_alpha, (i), (float, x, 1)) {
    PT_AT(x, i) *= alpha.load();
}

POLYTILE_KERNEL(scale_by, (i), (float, a), (float, x, 1)) {
    PT_AT(x, i) *= a;
}

void add_user(const polytile_domain *threads, const polytile_view *views, void *user) {
    PT_VIEW(float, x, 1, views[0]);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(x, i) += static_cast<const std::atomic<float> *>(user)->load();
}

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

const char *const hosts[] = {"host", "host(memory=4KiB)", "host(memory=64MiB,threads=2)"};

TEST_F(QueueCheckAccess, ABodyThatReadsAVariableThatChangesIsFoundByTheNextLaunch) {
    for (const char *device : hosts) {
        std::vector<float> x(300, 1);
        polytile_queue *queue = open(device);
        polytile_array *array = wrap("x", x);
        polytile_kernel *wrong = create("scale[i]: inout x[i]", &scale_by_alpha_kernel);
        ASSERT_EQ(attach(queue, {array}), POLYTILE_OK) << error();
        alpha = 1;
        EXPECT_EQ(launch(queue, wrong, line(300), {array}), POLYTILE_OK) << error();
        alpha = 2;
        EXPECT_EQ(launch(queue, wrong, line(300), {array}), POLYTILE_INVALID) << device;
        expect_says({"scale: its body reads what the program changed after the launch", "x[",
                     "declare a parameter"});
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, wrong, line(300), {array}), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
    }
}

TEST_F(QueueCheckAccess, ABodyThatReadsAVariableThatChangesIsFoundByTheWait) {
    for (const char *device : hosts) {
        std::vector<float> x(300, 1);
        polytile_queue *queue = open(device);
        polytile_array *array = wrap("x", x);
        std::atomic<float> added{1};
        polytile_implementation by_hand = {};
        by_hand.host = add_user;
        by_hand.user = &added;
        polytile_kernel *wrong = create("shift[i]: inout x[i]", &by_hand);
        ASSERT_EQ(attach(queue, {array}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, wrong, line(300), {array}), POLYTILE_OK) << error();
        polytile_kernel_destroy(wrong);
        added = 2;
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INVALID) << device;
        expect_says(
            {"shift: its body reads what the program changed", "memory that user points to"});
        EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
    }
}

TEST_F(QueueCheckAccess, AParameterMayChangeWithEachLaunch) {
    for (const char *device : hosts) {
        std::vector<float> x(300, 1);
        polytile_queue *queue = open(device);
        polytile_array *array = wrap("x", x);
        polytile_kernel *right = create("scale[i](f32 a): inout x[i]", &scale_by_kernel);
        ASSERT_EQ(attach(queue, {array}), POLYTILE_OK) << error();
        for (float a = 1; a <= 4; a++) {
            EXPECT_EQ(launch(queue, right, line(300), {array},
                             POLYTILE_PARAMETERS(POLYTILE_PARAMETER("a", a))),
                      POLYTILE_OK)
                << error();
        }
        EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
        EXPECT_EQ(x[299], 24);
        polytile_queue_destroy(queue);
    }
}

TEST_F(QueueCheckAccess, AVariableThatStaysAsItIsDoesNoHarm) {
    std::vector<float> x(300, 1);
    polytile_queue *queue = open("host(memory=4KiB)");
    polytile_array *array = wrap("x", x);
    ASSERT_EQ(attach(queue, {array}), POLYTILE_OK) << error();
    alpha = 3;
    polytile_kernel *kernel = create("scale[i]: inout x[i]", &scale_by_alpha_kernel);
    for (int k = 0; k < 3; k++)
        EXPECT_EQ(launch(queue, kernel, line(300), {array}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
    EXPECT_EQ(x[0], 27);
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
