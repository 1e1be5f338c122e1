#include "queue/queue_test.h"

#include <cstdio>
#include <unistd.h>

extern "C" {
#include "access/array/array.h"
}

namespace {

/** Every error of polytile/queue.h, with what its text says, and nothing changed by it. */
class QueueErrors : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open("host(memory=64KiB)");
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        z = wrap("z", z_memory);
        adding = add();
        ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    }

    /** The queue does what it should, and the refused call queued or changed nothing. */
    void expect_usable() {
        if (z->queue == nullptr) {
            ASSERT_EQ(attach(queue, {z}), POLYTILE_OK) << error();
        }
        EXPECT_EQ(launch(queue, adding, line(100), {x, y, z}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(report(queue).n_launches, 1);
        EXPECT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
        EXPECT_EQ(z_memory, std::vector<float>(100, 3));
        EXPECT_EQ(x_memory, std::vector<float>(100, 1));
        EXPECT_TRUE(polytile_array_is_complete(z));
    }

    void expect_refused(polytile_status status, std::initializer_list<const char *> parts) {
        EXPECT_EQ(status, POLYTILE_INVALID);
        expect_says(parts);
        expect_usable();
    }

    std::vector<float> x_memory = std::vector<float>(100, 1);
    std::vector<float> y_memory = std::vector<float>(100, 2);
    std::vector<float> z_memory = std::vector<float>(100, 0);
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr, *y = nullptr, *z = nullptr;
    polytile_kernel *adding = nullptr;
};

/** No address space has room for them. */
TEST_F(QueueErrors, SizesThatDoNotFitTheHostAreSaidInWords) {
    polytile_queue *in_place = nullptr;
    polytile_array *array = nullptr;
    const int64_t extent = INT64_C(1) << 58;
    ASSERT_EQ(polytile_queue_create(ctx, "host", &in_place), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_create_array(in_place, "huge", POLYTILE_F32, 1, &extent, &array),
              POLYTILE_NO_MEMORY);
    expect_says({"huge: cannot allocate 1048576 TiB of host memory; free some"});
    polytile_queue_destroy(in_place);
    expect_usable();
}

TEST_F(QueueErrors, NullsAreRefused) {
    polytile_queue *made = nullptr;
    polytile_array *array = nullptr;
    const int64_t extent = 4;
    EXPECT_EQ(polytile_queue_create(nullptr, "host", &made), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create(ctx, "host", nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create(ctx, nullptr, &made), POLYTILE_INVALID);
    EXPECT_EQ(attach(nullptr, {x}), POLYTILE_INVALID);
    EXPECT_EQ(detach(nullptr, {x}), POLYTILE_INVALID);
    EXPECT_EQ(launch(nullptr, adding, line(100), {x, y, z}), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_wait(nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_wait_for(nullptr, x), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create_array(nullptr, "t", POLYTILE_F32, 1, &extent, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_F32, 1, nullptr, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_F32, 1, &extent, nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_get_device(nullptr), nullptr);
    polytile_queue_destroy(nullptr);
    polytile_queue_pause(nullptr);
    polytile_queue_resume(nullptr);
    polytile_queue_get_report(nullptr, true, nullptr);
    polytile_queue_get_report(queue, false, nullptr);
    expect_usable();
}

TEST_F(QueueErrors, ADeviceThatIsNotThereMakesNoQueue) {
    polytile_queue *made = queue;
    EXPECT_EQ(polytile_queue_create(ctx, "abacus", &made), POLYTILE_INVALID);
    EXPECT_EQ(made, nullptr);
    expect_says({"abacus"});
    expect_usable();
}

TEST_F(QueueErrors, ListsOfDevicesHaveNoGaps) {
    polytile_queue *none = nullptr;
    EXPECT_EQ(polytile_queue_create(ctx, "host,", &none), POLYTILE_INVALID);
    expect_says({"devices \"host,\": number 2 of 2 in the list is empty"});
    EXPECT_EQ(polytile_queue_create(ctx, ",host,host", &none), POLYTILE_INVALID);
    expect_says({"number 1 of 3 in the list is empty"});
    EXPECT_EQ(none, nullptr);
}

TEST_F(QueueErrors, AttachNeedsArrays) {
    EXPECT_EQ(polytile_queue_attach(queue, 0, nullptr), POLYTILE_INVALID);
    expect_says({"0 arrays to attach", "at least one"});
    EXPECT_EQ(polytile_queue_attach(queue, 3, nullptr), POLYTILE_INVALID);
    expect_says({"the list of 3 arrays to attach is NULL"});
    EXPECT_EQ(polytile_queue_attach(queue, -1, &z), POLYTILE_INVALID);
    expect_says({"host(memory=64KiB)", "-1 arrays to attach", "at least one"});
    expect_refused(attach(queue, {z, nullptr}), {"array 1 of 2 to attach is NULL"});
}

TEST_F(QueueErrors, AttachWantsArraysOfItsContext) {
    polytile_context *other = nullptr;
    ASSERT_EQ(polytile_context_create(&other), POLYTILE_OK);
    std::vector<float> memory(100);
    polytile_array *foreign = wrap_in(other, "foreign", memory);
    expect_refused(attach(queue, {z, foreign}), {"array foreign is of another context"});
    polytile_context_destroy(other);
}

TEST_F(QueueErrors, AttachWantsArraysWithMemory) {
    polytile_array *described = nullptr;
    const polytile_domain domain = line(100);
    ASSERT_EQ(polytile_array_describe(ctx, "plan_only", POLYTILE_F32, &domain, &described),
              POLYTILE_OK);
    expect_refused(attach(queue, {z, described}), {"plan_only", "described", "no memory"});
}

TEST_F(QueueErrors, NoArrayIsAttachedTwice) {
    EXPECT_EQ(attach(queue, {z, x}), POLYTILE_INVALID);
    expect_says({"array x is attached already"});
    polytile_queue *second = open("host");
    EXPECT_EQ(attach(second, {z, x}), POLYTILE_INVALID);
    expect_says({"array x is attached to another queue, on host(memory=64KiB)"});
    polytile_array *internal = make_internal(queue, "t", {10});
    EXPECT_EQ(attach(second, {internal}), POLYTILE_INVALID);
    expect_says({"array t is internal to another queue"});
    EXPECT_EQ(attach(queue, {internal}), POLYTILE_INVALID);
    expect_says({"array t is internal to this queue"});
    expect_refused(attach(queue, {z, z}), {"array z is in the list to attach twice"});
}

TEST_F(QueueErrors, AttachedArraysHaveMemoryOfTheirOwn) {
    std::vector<float> whole(150);
    polytile_array *left = wrap("left", whole, {100}), *right = nullptr;
    const int64_t extent = 100;
    ASSERT_EQ(
        polytile_array_wrap(ctx, "right", POLYTILE_F32, 1, &extent, whole.data() + 50, &right),
        POLYTILE_OK);
    EXPECT_EQ(attach(queue, {left, right}), POLYTILE_INVALID);
    expect_says({"right and left overlap in memory (200 bytes, from byte 0 of right)"});
    EXPECT_EQ(attach(queue, {left}), POLYTILE_OK);
    expect_refused(attach(queue, {z, right}), {"right and left overlap in memory"});
}

TEST_F(QueueErrors, MemoryOfAnArrayOfAnotherQueueIsNotAttached) {
    std::vector<float> whole(100, 1);
    const int64_t extent = 75;
    polytile_array *left = nullptr, *right = nullptr;
    ASSERT_EQ(polytile_array_wrap(ctx, "left", POLYTILE_F32, 1, &extent, whole.data(), &left),
              POLYTILE_OK);
    ASSERT_EQ(
        polytile_array_wrap(ctx, "right", POLYTILE_F32, 1, &extent, whole.data() + 25, &right),
        POLYTILE_OK);
    polytile_queue *other = open("host");
    ASSERT_EQ(attach(other, {left}), POLYTILE_OK) << error();
    expect_refused(attach(queue, {z, right}),
                   {"right and left overlap in memory (200 bytes, from byte 0 of right)",
                    "attached to a queue on host"});
    ASSERT_EQ(detach(other, {left}), POLYTILE_OK) << error();
    EXPECT_EQ(attach(queue, {right}), POLYTILE_OK) << error();
}

TEST_F(QueueErrors, RunsDoNotUseMemoryOfAttachedArrays) {
    std::vector<float> whole(100, 1);
    polytile_array *outside = wrap("outside", whole), *same = wrap("same", whole);
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host", &device), POLYTILE_OK);
    ASSERT_EQ(attach(queue, {same}), POLYTILE_OK) << error();
    polytile_kernel *doubling = scale();
    const polytile_domain domain = line(100);
    expect_refused(polytile_run(device, doubling, &domain, polytile_kernel_get_n_arrays(doubling),
                                &outside, nullptr),
                   {"scale: array outside overlaps array same in memory (400 bytes, from byte 0 of "
                    "outside), which is attached"});
    ASSERT_EQ(detach(queue, {same}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_run(device, doubling, &domain, polytile_kernel_get_n_arrays(doubling),
                           &outside, nullptr),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(whole, std::vector<float>(100, 2));
}

/** Runs a kernel on what it is given, by another device of the context. */
struct Nested {
    polytile_context *ctx;
    polytile_device *device;
    polytile_kernel *kernel;
};

int run_nested(const polytile_sub_kernel *launch) {
    const Nested &nested = *static_cast<const Nested *>(launch->user);
    const int64_t extent = 100;
    polytile_array *array = nullptr;
    polytile_domain domain = polytile_domain_from_extents(1, &extent);
    polytile_status status = polytile_array_wrap(nested.ctx, "inner", POLYTILE_F32, 1, &extent,
                                                 launch->views[0].origin, &array);
    if (status == POLYTILE_OK)
        status = polytile_run(nested.device, nested.kernel, &domain,
                              polytile_kernel_get_n_arrays(nested.kernel), &array, nullptr);
    polytile_array_destroy(array);
    return static_cast<int>(status);
}

TEST_F(QueueErrors, LaunchersRunOtherDevicesOnWhatTheyAreGiven) {
    Nested nested = {ctx, nullptr, scale()};
    ASSERT_EQ(polytile_device_open(ctx, "host", &nested.device), POLYTILE_OK);
    polytile_implementation calling = {};
    calling.host_launcher = run_nested;
    calling.user = &nested;
    std::vector<float> memory(100, 1);
    polytile_array *given = wrap("given", memory);
    polytile_queue *here = open("host");
    ASSERT_EQ(attach(here, {given}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(here, create("calling[i]: inout x[i]", &calling), line(100), {given}),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_queue_wait(here), POLYTILE_OK) << error();
    EXPECT_EQ(detach(here, {given}), POLYTILE_OK) << error();
    EXPECT_EQ(memory, std::vector<float>(100, 2));
}

TEST_F(QueueErrors, OnlyWhatIsAttachedIsDetached) {
    EXPECT_EQ(polytile_queue_detach(queue, 0, nullptr), POLYTILE_INVALID);
    expect_says({"0 arrays to detach"});
    EXPECT_EQ(detach(queue, {x, nullptr}), POLYTILE_INVALID);
    expect_says({"array 1 of 2 to detach is NULL"});
    EXPECT_EQ(detach(queue, {x, x}), POLYTILE_INVALID);
    expect_says({"array x is in the list to detach twice"});
    polytile_array *internal = make_internal(queue, "t", {10});
    EXPECT_EQ(detach(queue, {x, internal}), POLYTILE_INVALID);
    expect_says({"array t is internal"});
    expect_refused(detach(queue, {x, z}), {"array z is not attached", "nothing was detached"});
}

TEST_F(QueueErrors, ALaunchNeedsAKernelAndADomainOfItsContext) {
    const polytile_domain domain = line(100);
    const Arrays arrays = {x, y, x};
    EXPECT_EQ(polytile_queue_launch(queue, nullptr, &domain, 3, arrays.data(), nullptr),
              POLYTILE_INVALID);
    expect_says({"queue on host(memory=64KiB): the kernel is NULL; give one that"});
    EXPECT_EQ(polytile_queue_launch(queue, adding, nullptr, 3, arrays.data(), nullptr),
              POLYTILE_INVALID);
    expect_says({"add: the launch domain is NULL; give the threads' indices"});
    polytile_context *other = nullptr;
    ASSERT_EQ(polytile_context_create(&other), POLYTILE_OK);
    polytile_kernel *foreign = create_in(other, "foreign[i]: inout x[i]", &scale_kernel);
    expect_refused(launch(queue, foreign, domain, {x}), {"foreign", "different contexts"});
    polytile_context_destroy(other);
}

TEST_F(QueueErrors, ALaunchNeedsOneArrayAnOperand) {
    EXPECT_EQ(launch(queue, adding, line(100), {x, y}), POLYTILE_INVALID);
    expect_says({"add: 2 arrays are given and the kernel has 3, from x to z"});
    const polytile_domain domain = line(100);
    EXPECT_EQ(polytile_queue_launch(queue, adding, &domain, 3, nullptr, nullptr), POLYTILE_INVALID);
    expect_says({"add: the list of arrays is NULL; give the kernel's 3, from x to z"});
    EXPECT_EQ(polytile_queue_launch(queue, adding, &domain, 0, &x, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_launch(queue, adding, &domain, -1, &x, nullptr), POLYTILE_INVALID);
    expect_refused(launch(queue, adding, line(100), {x, y, nullptr}), {"add: array 2 (z) is NULL"});
}

TEST_F(QueueErrors, ALaunchWantsArraysOfItsQueue) {
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, z}), POLYTILE_INVALID);
    expect_says({"add: array z is not attached to the queue on host(memory=64KiB)"});
    polytile_context *other = nullptr;
    ASSERT_EQ(polytile_context_create(&other), POLYTILE_OK);
    std::vector<float> memory(100);
    polytile_array *foreign = wrap_in(other, "foreign", memory);
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, foreign}), POLYTILE_INVALID);
    expect_says({"add: array foreign is of another context"});
    polytile_context_destroy(other);
    polytile_queue *second = open("host");
    EXPECT_EQ(launch(second, adding, line(100), {x, y, z}), POLYTILE_INVALID);
    expect_says({"add: array x is attached to another queue, on host(memory=64KiB)"});
    polytile_array *internal = make_internal(second, "t", {100});
    expect_refused(launch(queue, adding, line(100), {x, y, internal}),
                   {"add: array t is of another queue, on host"});
}

TEST_F(QueueErrors, NamesAreThereOnce) {
    const polytile_domain domain = line(100);
    EXPECT_EQ(polytile_queue_launch(queue, adding, &domain, 0, nullptr, nullptr), POLYTILE_INVALID);
    expect_says({"add: no array of the queue on host(memory=64KiB) has the name z"});
    std::vector<float> memory(100);
    ASSERT_EQ(attach(queue, {wrap("x", memory)}), POLYTILE_OK) << error();
    expect_refused(polytile_queue_launch(queue, adding, &domain, 0, nullptr, nullptr),
                   {"add: two arrays of the queue", "have the name x"});
}

TEST_F(QueueErrors, ALaunchWantsArraysAsItsBodyTakesThem) {
    std::vector<double> memory(100);
    const int64_t extent = 100;
    polytile_array *wide = nullptr;
    ASSERT_EQ(polytile_array_wrap(ctx, "wide", POLYTILE_F64, 1, &extent, memory.data(), &wide),
              POLYTILE_OK);
    ASSERT_EQ(attach(queue, {wide}), POLYTILE_OK);
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, wide}), POLYTILE_INVALID);
    expect_says({"add: array wide has elements of f64", "elements of f32; give an array of f32"});
    std::vector<float> square(100);
    polytile_array *flat = wrap("flat", square, {10, 10});
    ASSERT_EQ(attach(queue, {flat}), POLYTILE_OK);
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, flat}), POLYTILE_DECLARATION);
    expect_says({"add: z has 1 subscript, but its array flat has 2 dimensions"});
    expect_usable();
}

TEST_F(QueueErrors, ElementsThatOneNameWritesAreNoOtherNames) {
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, y}), POLYTILE_CONFLICT);
    expect_says({"add: threads [0] and [0] conflict on y[0], whose array is given for z, too: the "
                 "first reads it (in y[i]), the second writes it (out z[i]); give two arrays"});
    ASSERT_EQ(attach(queue, {z}), POLYTILE_OK);
    EXPECT_EQ(launch(queue, adding, line(100), {x, x, z}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_EQ(z_memory, std::vector<float>(100, 2));
}

TEST_F(QueueErrors, ReadOnlyFilesAreNotWritten) {
    char path[] = "/tmp/polytile_queue_XXXXXX";
    const int file = mkstemp(path);
    ASSERT_GE(file, 0);
    ASSERT_EQ(close(file), 0);
    polytile_array *made = nullptr, *kept = nullptr;
    const polytile_domain domain = line(100);
    ASSERT_EQ(polytile_npy_create(ctx, "made", path, POLYTILE_F32, &domain, &made), POLYTILE_OK)
        << error();
    EXPECT_EQ(attach(queue, {made}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_npy_finish(made), POLYTILE_INVALID);
    expect_says({"array made: is attached to a queue", "detach it before its file"});
    EXPECT_EQ(detach(queue, {made}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_npy_finish(made), POLYTILE_OK) << error();
    polytile_array_destroy(made);
    ASSERT_EQ(polytile_npy_open(ctx, "kept", path, false, &kept), POLYTILE_OK) << error();
    EXPECT_EQ(attach(queue, {kept}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, adding, line(100), {x, y, kept}), POLYTILE_INVALID);
    expect_says({"add: array kept is written, but its file was opened for reading"});
    EXPECT_EQ(launch(queue, adding, line(100), {kept, y, x}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(100, 2));
    std::remove(path);
}

TEST_F(QueueErrors, AKernelHasSomethingToRunOnTheDevice) {
    polytile_kernel *empty = create("empty[i]: inout x[i]", nullptr);
    EXPECT_EQ(launch(queue, empty, line(100), {x}), POLYTILE_UNSUPPORTED);
    expect_says({"empty: host(memory=64KiB) runs a host function or launcher"});
    expect_usable();
}

TEST_F(QueueErrors, ALaunchIsProvedSound) {
    EXPECT_EQ(launch(queue, adding, line(101), {x, y, x}), POLYTILE_DECLARATION);
    polytile_kernel *racing = create("racing[i]: in x[i]; out z[0]", &scatter_kernel);
    EXPECT_EQ(launch(queue, racing, line(100), {x, y}), POLYTILE_CONFLICT);
    expect_says({"racing"});
    EXPECT_EQ(launch(queue, adding, box({0, 0}, {9, 9}), {x, y, x}), POLYTILE_INVALID);
    expect_usable();
}

TEST_F(QueueErrors, OptionsAreChecked) {
    ASSERT_EQ(attach(queue, {z}), POLYTILE_OK);
    const Arrays arrays = {x, y, z};
    polytile_launch_options limit = {}, strategy = {}, buffers = {}, parameters = {}, passes = {};
    limit.plan.limit_bytes = 1 << 20;
    EXPECT_EQ(launch(queue, adding, line(100), arrays, &limit), POLYTILE_INVALID);
    expect_says({"add: a limit of 1048576 bytes", "give the limit in the device's text"});
    strategy.plan.strategy = "luck";
    EXPECT_EQ(launch(queue, adding, line(100), arrays, &strategy), POLYTILE_INVALID);
    expect_says({"unknown strategy \"luck\""});
    buffers.plan.n_buffers = 4;
    EXPECT_EQ(launch(queue, adding, line(100), arrays, &buffers), POLYTILE_INVALID);
    passes.plan.launches_per_pass = -1;
    EXPECT_EQ(launch(queue, adding, line(100), arrays, &passes), POLYTILE_INVALID);
    expect_says({"add: -1 launches a pass", "at least 1, or 0"});
    const polytile_parameter unknown = POLYTILE_PARAMETER("n", 100);
    parameters.n_parameters = 1;
    parameters.parameters = &unknown;
    EXPECT_NE(launch(queue, adding, line(100), arrays, &parameters), POLYTILE_OK);
    expect_usable();
}

TEST_F(QueueErrors, WhatCannotFitIsToldAtOnce) {
    polytile_queue *tiny = open("host(memory=256B)");
    std::vector<float> A(4096), B(4096), C(4096);
    const Arrays arrays = {wrap("A", A, {64, 64}), wrap("B", B, {64, 64}), wrap("C", C, {64, 64})};
    ASSERT_EQ(attach(tiny, arrays), POLYTILE_OK);
    polytile_kernel *matmul =
        create("matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]", &matmul_kernel);
    EXPECT_EQ(launch(tiny, matmul, box({0, 0}, {63, 63}), arrays), POLYTILE_NO_FIT);
    expect_says({"matmul", "256 B"});
    EXPECT_EQ(polytile_queue_wait(tiny), POLYTILE_OK) << error();
    EXPECT_EQ(report(tiny).n_launches, 0);
    expect_usable();
}

TEST_F(QueueErrors, OnlyArraysOfTheQueueAreWaitedFor) {
    EXPECT_EQ(polytile_queue_wait_for(queue, nullptr), POLYTILE_INVALID);
    expect_refused(polytile_queue_wait_for(queue, z),
                   {"cannot wait for array z, which is not of this queue"});
}

TEST_F(QueueErrors, InternalArraysAreMadeLikeOthers) {
    polytile_array *array = x;
    const int64_t extents[9] = {10, 0};
    EXPECT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_F32, 2, extents, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(array, nullptr);
    EXPECT_EQ(polytile_queue_create_array(queue, "t", POLYTILE_F32, 9, extents, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_create_array(queue, "t", 77, 1, extents, &array), POLYTILE_INVALID);
    expect_refused(polytile_queue_create_array(queue, nullptr, POLYTILE_F32, 1, extents, &array),
                   {"an array needs a name"});
}

/** What a launcher is told that uses the queue which runs it; it would wait for itself. */
int use_own_queue(const polytile_sub_kernel *launch) {
    polytile_queue *queue = static_cast<polytile_queue *>(launch->user);
    polytile_report told;
    polytile_queue_get_report(queue, false, &told);
    return polytile_queue_wait(queue) == POLYTILE_INVALID ? 5 : 0;
}

/** Destroys what it must not, the array first. */
int destroy_own(const polytile_sub_kernel *launch) {
    void **own = static_cast<void **>(launch->user);
    polytile_array_destroy(static_cast<polytile_array *>(own[0]));
    polytile_queue_destroy(static_cast<polytile_queue *>(own[1]));
    return 0;
}

TEST_F(QueueErrors, LaunchersCannotDestroyWhatTheQueueThatRunsThemHolds) {
    void *own[] = {x, queue};
    polytile_implementation calling = {};
    calling.host_launcher = destroy_own;
    calling.user = own;
    ASSERT_EQ(launch(queue, create("calling[i]: inout x[i]", &calling), line(100), {x}),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK);
}

int destroy_own_context(const polytile_sub_kernel *launch) {
    polytile_context_destroy(static_cast<polytile_context *>(launch->user));
    return 0;
}

TEST_F(QueueErrors, LaunchersCannotDestroyTheContextOfTheQueueThatRunsThem) {
    polytile_implementation calling = {};
    calling.host_launcher = destroy_own_context;
    calling.user = ctx;
    polytile_kernel *destroying = create("calling[i]: inout x[i]", &calling);
    open("host");
    testing::internal::CaptureStderr();
    EXPECT_EQ(launch(queue, destroying, line(100), {x}), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    const std::string written = testing::internal::GetCapturedStderr();
    EXPECT_NE(written.find("not destroyed: queue on"), std::string::npos) << written;
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK);
}

TEST_F(QueueErrors, LaunchersDoNotUseTheQueueThatRunsThem) {
    polytile_implementation calling = {};
    calling.host_launcher = use_own_queue;
    calling.user = queue;
    ASSERT_EQ(launch(queue, create("calling[i]: inout x[i]", &calling), line(100), {x}),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"calling: the launcher returned 5"});
    expect_usable();
}

TEST_F(QueueErrors, TheDeviceIsTheQueues) {
    polytile_device *device = polytile_queue_get_device(queue);
    const polytile_domain domain = line(100);
    const Arrays arrays = {x, y, z};
    EXPECT_EQ(polytile_run(device, adding, &domain, static_cast<int>(arrays.size()), arrays.data(),
                           nullptr),
              POLYTILE_INVALID);
    expect_says({"the device belongs to a queue"});
    polytile_device *host = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host", &host), POLYTILE_OK);
    EXPECT_EQ(polytile_run(host, adding, &domain, static_cast<int>(arrays.size()), arrays.data(),
                           nullptr),
              POLYTILE_INVALID);
    expect_says({"array x is attached to a queue; detach it first"});
    polytile_device_close(device);
    expect_usable();
}

} // namespace
