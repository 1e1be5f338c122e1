#include "queue/queue_test.h"

#include "support/environment.h"

#include <utility>

extern "C" {
#include "access/array/array.h"
#include "queue/calls/calls.h"
#include "queue/member.h"
#include "queue/over_group.h"
}

namespace {

/** A group that writes down what it is told, and does what it is told to say. */
class Group {
  public:
    std::vector<std::string> told;
    polytile_status says = POLYTILE_OK;
    polytile_queue *member = nullptr;

    static const pti_group_functions *functions() {
        static const pti_group_functions table = {
            attach,     leave,  discard,      create_array, launch,     wait,       begin_messages,
            set_paused, notify, get_progress, cancel,       get_report, get_device, close};
        return &table;
    }

  private:
    static Group &of(const polytile_queue *queue) { return *static_cast<Group *>(queue->group); }

    static polytile_status tell(const polytile_queue *queue, const std::string &word) {
        Group &group = of(queue);
        group.told.push_back(word);
        return group.says == POLYTILE_OK ? POLYTILE_OK
                                         : pti_fail(queue->object.context, group.says,
                                                    "the group cannot %s", word.c_str());
    }

    static std::string list(int n_arrays, polytile_array *const *arrays) {
        std::string names;
        for (int a = 0; a < n_arrays; a++) {
            EXPECT_NE(arrays[a]->queue, nullptr) << "not held";
            names += std::string(" ") + arrays[a]->name;
        }
        return names;
    }

    static polytile_status attach(polytile_queue *queue, int n, polytile_array *const *arrays) {
        return tell(queue, "attach" + list(n, arrays));
    }
    static polytile_status leave(polytile_queue *queue, int n, polytile_array *const *arrays) {
        return tell(queue, "leave" + list(n, arrays));
    }
    static polytile_status discard(polytile_queue *queue, int n, polytile_array *const *arrays) {
        return tell(queue, "discard" + list(n, arrays));
    }
    static polytile_status create_array(polytile_queue *queue, polytile_array *array) {
        EXPECT_TRUE(array->is_internal);
        return tell(queue, "create" + list(1, &array));
    }
    static polytile_status launch(polytile_queue *queue, const pti_request *request,
                                  polytile_status status) {
        if (status != POLYTILE_OK)
            return status;
        return tell(queue,
                    std::string("launch ") + polytile_kernel_get_name(request->kernel) +
                        list(polytile_kernel_get_n_arrays(request->kernel), request->arrays));
    }
    static polytile_status wait(polytile_queue *queue, polytile_array *array) {
        return tell(queue, array == nullptr ? "wait" : "wait" + list(1, &array));
    }
    static void begin_messages(polytile_queue *queue) { tell(queue, "messages"); }
    static void set_paused(polytile_queue *queue, bool is_paused) {
        tell(queue, is_paused ? "pause" : "resume");
    }
    static polytile_status notify(polytile_queue *queue, polytile_array *array,
                                  polytile_queue_callback *callback, void *user) {
        const polytile_status status = tell(queue, "notify" + list(1, &array));
        callback(status, user);
        return POLYTILE_OK;
    }
    static polytile_progress get_progress(polytile_queue *queue) {
        tell(queue, "progress");
        return {0.5, 3, {}};
    }
    static void cancel(polytile_queue *queue) { tell(queue, "cancel"); }
    static void get_report(polytile_queue *queue, bool reset, polytile_report *report) {
        of(queue).told.push_back(reset ? "report and reset" : "report");
        report->n_launches = 7;
    }
    static polytile_device *get_device(const polytile_queue *queue, int member) {
        return member == 0 ? polytile_queue_get_device(of(queue).member) : nullptr;
    }
    static void close(polytile_queue *queue) {
        tell(queue, "close");
        polytile_queue_destroy(of(queue).member);
    }
};

using Words = std::vector<std::string>;

class QueueOuter : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        ASSERT_EQ(pti_queue_open(ctx, "host(memory=1MiB)", &group.member), POLYTILE_OK);
        queue = pti_queue_create_over_group(ctx, "host,host", Group::functions(), &group);
        ASSERT_NE(queue, nullptr);
    }

    /** What the group was told since. */
    Words told() { return std::exchange(group.told, {}); }

    Group group;
    polytile_queue *queue = nullptr;
    std::vector<float> memory = std::vector<float>(10), other = std::vector<float>(10);
};

TEST_F(QueueOuter, CallsGoToTheGroup) {
    polytile_array *x = wrap("x", memory), *y = wrap("y", other);
    EXPECT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    polytile_array *z = make_internal(queue, "z", {10});
    EXPECT_EQ(polytile_array_get_data(z), nullptr);
    EXPECT_EQ(launch(queue, add(), line(10), {x, y, z}), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    polytile_queue_resume(queue);
    EXPECT_EQ(polytile_queue_wait_for(queue, z), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    EXPECT_EQ(report(queue, true).n_launches, 7);
    EXPECT_EQ(detach(queue, {y, x}), POLYTILE_OK) << error();
    EXPECT_EQ(x->queue, nullptr);
    EXPECT_EQ(told(), (Words{"attach x y", "create z", "launch add x y z", "pause", "resume",
                             "wait z", "wait", "report and reset", "leave y x"}));
    polytile_array_destroy(z);
    EXPECT_EQ(told(), Words{"leave z"});
}

TEST_F(QueueOuter, OperandsAreFoundByName) {
    polytile_array *x = wrap("x", memory);
    const polytile_domain all = line(10);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_launch(queue, scale(), &all, POLYTILE_BY_NAME, nullptr), POLYTILE_OK);
    EXPECT_EQ(told(), (Words{"attach x", "launch scale x"}));
    EXPECT_EQ(polytile_queue_launch(queue, add(), &all, POLYTILE_BY_NAME, nullptr),
              POLYTILE_INVALID);
    expect_says({"add: no array of the queue on host,host has the name y"});
    EXPECT_EQ(told(), Words{});
}

TEST_F(QueueOuter, WhatIsWrongNeverReachesTheGroup) {
    polytile_array *x = wrap("x", memory), *again = wrap("again", memory), *y = wrap("y", other);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    told();
    EXPECT_EQ(attach(queue, {x}), POLYTILE_INVALID);
    expect_says({"queue on host,host: array x is attached already"});
    EXPECT_EQ(attach(queue, {y, y}), POLYTILE_INVALID);
    expect_says({"queue on host,host: array y is in the list to attach twice"});
    EXPECT_EQ(attach(queue, {again}), POLYTILE_INVALID);
    expect_says({"overlap in memory", "attached to a queue on host,host"});
    EXPECT_EQ(detach(queue, {y}), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_wait_for(queue, y), POLYTILE_INVALID);
    EXPECT_EQ(launch(queue, scale(), line(10), {y}), POLYTILE_INVALID);
    expect_says({"scale: array y is not attached to the queue on host,host"});
    EXPECT_EQ(launch(queue, nullptr, line(10), {x}), POLYTILE_INVALID);
    EXPECT_EQ(launch(group.member, scale(), line(10), {x}), POLYTILE_INVALID);
    expect_says({"scale: array x is attached to another queue, on host,host"});
    EXPECT_EQ(told(), Words{});
}

TEST_F(QueueOuter, WhatTheGroupRefusesIsNotHeld) {
    polytile_array *x = wrap("x", memory), *y = wrap("y", other), *z = nullptr;
    const int64_t extent = 10;
    group.says = POLYTILE_NO_MEMORY;
    EXPECT_EQ(attach(queue, {x, y}), POLYTILE_NO_MEMORY);
    expect_says({"the group cannot attach x y"});
    EXPECT_EQ(x->queue, nullptr);
    EXPECT_EQ(y->queue, nullptr);
    EXPECT_EQ(polytile_queue_create_array(queue, "z", POLYTILE_F32, 1, &extent, &z),
              POLYTILE_NO_MEMORY);
    EXPECT_EQ(z, nullptr);
    group.says = POLYTILE_OK;
    EXPECT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
}

TEST_F(QueueOuter, ArraysLeaveWhateverDetachingSays) {
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    group.says = POLYTILE_DEVICE;
    EXPECT_EQ(detach(queue, {x}), POLYTILE_DEVICE);
    expect_says({"the group cannot leave x"});
    EXPECT_EQ(x->queue, nullptr);
    group.says = POLYTILE_OK;
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
}

TEST_F(QueueOuter, WhatEndingAnArrayFailedAtIsToldByTheNextWait) {
    polytile_array *x = wrap("x", memory), *y = wrap("y", other);
    ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    group.says = POLYTILE_DEVICE;
    polytile_array_destroy(x);
    polytile_array_destroy(y);
    group.says = POLYTILE_OK;
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"the group cannot leave x"});
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
}

TEST_F(QueueOuter, DestroyingItDetachesWaitsAndClosesOnce) {
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    make_internal(queue, "t", {10});
    told();
    polytile_queue_destroy(queue);
    EXPECT_EQ(told(), (Words{"leave x t", "wait", "close"}));
    EXPECT_EQ(x->queue, nullptr);
}

/** What members use, as arrays of their own, may be newer than the queue or older. */
TEST_F(QueueOuter, TheContextClosesItBeforeAnythingElseEnds) {
    polytile_array *x = wrap("x", memory), *part = wrap("part", memory);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(pti_queue_attach_shared(group.member, part), POLYTILE_OK) << error();
    ASSERT_EQ(launch(group.member, scale(), line(10), {part}), POLYTILE_OK) << error();
    told();
    polytile_context_destroy(ctx);
    ctx = nullptr;
    EXPECT_EQ(told(), (Words{"leave x", "wait", "close"}));
}

TEST_F(QueueOuter, WhoeverWaitsForItsDeviceWaitsForAllOfIt) {
    polytile_device *device = polytile_queue_get_device(queue);
    ASSERT_NE(device, nullptr);
    device->wait(device->queue);
    EXPECT_EQ(told(), Words{"report"});
}

TEST_F(QueueOuter, NoLauncherOfAnyQueueMayCallIt) {
    struct Caller {
        polytile_queue *queue;
        polytile_status status;
        static int call(const polytile_sub_kernel *launch) {
            auto *caller = static_cast<Caller *>(launch->user);
            caller->status = polytile_queue_wait(caller->queue);
            return 0;
        }
    } caller = {queue, POLYTILE_OK};
    polytile_implementation calling = {};
    calling.host_launcher = Caller::call;
    calling.user = &caller;
    polytile_array *x = wrap("x", memory);
    ASSERT_EQ(attach(group.member, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(group.member, create("call[i]: inout x[i]", &calling), line(10), {x}),
              POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(group.member), POLYTILE_OK) << error();
    EXPECT_EQ(caller.status, POLYTILE_INVALID);
    EXPECT_EQ(told(), Words{});
}

/** Members move what the guards of a queue on one device would close. */
TEST(QueueOuterGuard, SharedMemoryIsNeverOutOfReach) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "attach");
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    Group group;
    ASSERT_EQ(pti_queue_open(ctx, "host", &group.member), POLYTILE_OK);
    polytile_queue *queue =
        pti_queue_create_over_group(ctx, "host,host", Group::functions(), &group);
    std::vector<float> memory(100000);
    const int64_t extent = 100000;
    polytile_array *arrays[2] = {};
    for (polytile_array *&array : arrays)
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &extent, memory.data(), &array),
                  POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, 1, &arrays[0]), POLYTILE_OK);
    EXPECT_EQ(pti_queue_attach_shared(group.member, arrays[1]), POLYTILE_OK);
    memory[50000] = 1;
    EXPECT_EQ(memory[50000], 1);
    polytile_context_destroy(ctx);
}

} // namespace
