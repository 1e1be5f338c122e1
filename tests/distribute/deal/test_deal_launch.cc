#include "queue/queue_test.h"
#include "support/environment.h"

#include <chrono>
#include <map>
#include <thread>

extern "C" {
#include "distribute/members/state.h"
}

namespace {

/** Adds 1 to the elements of its first view, and knows which thread, and so which device, did how
 * many; the first to come sleeps each time, or the n-th call fails. */
class Workers {
  public:
    Workers() {
        implementation.host_launcher = call;
        implementation.user = this;
    }

    std::map<std::thread::id, int64_t> n_threads_of;
    std::thread::id first;
    std::chrono::milliseconds first_sleeps{0};
    int fails_at = -1;
    polytile_implementation implementation = {};

  private:
    static int call(const polytile_sub_kernel *launch) {
        return static_cast<Workers *>(launch->user)->run(*launch);
    }

    bool come(const polytile_range &range) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (n_threads_of.empty())
            first = std::this_thread::get_id();
        n_threads_of[std::this_thread::get_id()] += range.hi - range.lo + 1;
        return n_calls_++ != fails_at;
    }

    int run(const polytile_sub_kernel &launch) {
        const polytile_view &view = launch.views[0];
        const polytile_range &range = launch.threads->range[0];
        if (!come(range))
            return 1;
        if (std::this_thread::get_id() == first)
            std::this_thread::sleep_for(first_sleeps);
        for (int64_t i = range.lo; i <= range.hi; i++)
            *reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                       i * view.stride_bytes[0]) += 1;
        return 0;
    }

    std::mutex mutex_;
    int n_calls_ = 0;
};

class GroupDeal : public QueueTest {
  protected:
    void open_guided(const std::string &devices) { open(devices, "guided"); }

    void open(const std::string &devices, const char *policy) {
        polytile_share_options share = {};
        share.policy = policy;
        share.layout = "block";
        ASSERT_EQ(polytile_queue_create_shared(ctx, devices.c_str(), &share, &queue), POLYTILE_OK)
            << error();
    }

    polytile_kernel *adding() { return create("add1[i]: inout x[i]", &workers.implementation); }

    void expect_all(const std::vector<float> &memory, float value) {
        EXPECT_EQ(memory, std::vector<float>(memory.size(), value));
    }

    /** What the log says of a call. */
    template <class Call> std::string log_of(const Call &call) {
        testing::internal::CaptureStderr();
        call();
        return testing::internal::GetCapturedStderr();
    }

    Workers workers;
    polytile_queue *queue = nullptr;
};

TEST_F(GroupDeal, ASlowDeviceTakesFewerPieces) {
    std::vector<float> memory(1600);
    open_guided("host,host,host(memory=1MiB)");
    polytile_array *x = wrap("x", memory);
    workers.first_sleeps = std::chrono::milliseconds(100);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, adding(), line(1600), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_all(memory, 1);
    ASSERT_GT(workers.n_threads_of.size(), 1U);
    EXPECT_LT(workers.n_threads_of[workers.first], 1600 / 3);
}

TEST_F(GroupDeal, ResultsOfPiecesAreAtHomeForWhoeverIsNext) {
    std::vector<float> memory(3200);
    open_guided("host(memory=4KiB),host(memory=3KiB),host");
    polytile_array *x = wrap("x", memory);
    polytile_kernel *kernel = adding();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    for (int k = 0; k < 20; k++)
        ASSERT_EQ(launch(queue, kernel, line(3200), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    expect_all(memory, 20);
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_all(memory, 20);
}

TEST_F(GroupDeal, AnArrayOfWhichNoThreadTouchesAnElementIsThereAllTheSame) {
    std::vector<float> memory(1600), untouched(40);
    open_guided("host,host,host");
    polytile_array *x = wrap("x", memory), *y = wrap("y", untouched);
    polytile_kernel *kernel = create("add1[i]: inout x[i]; in y[i+20:9]", &workers.implementation);
    ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, kernel, line(1600), {x, y}), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    expect_all(memory, 1);
    ASSERT_GT(workers.n_threads_of.size(), 0U);
}

/** All that a device does not know any more is uploaded again. */
TEST_F(GroupDeal, DevicesKeepTheRowsOfFewPieces) {
    std::vector<float> memory(400);
    polytile_report first, second;
    open("host(memory=8MiB,threads=1),host(memory=8MiB,threads=1)", "self(1)");
    polytile_array *x = wrap("x", memory);
    polytile_kernel *kernel = adding();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, kernel, line(400), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_get_report(queue, true, &first);
    ASSERT_EQ(launch(queue, kernel, line(400), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_get_report(queue, true, &second);
    EXPECT_EQ(first.h2d_bytes, 400 * 4);
    EXPECT_GE(second.h2d_bytes, (400 - 2 * 32) * 4);
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_all(memory, 2);
}

TEST_F(GroupDeal, AFailureIsToldAndLeavesTheQueueUsable) {
    for (const char *devices : {"host,host", "host(memory=4KiB),host",
                                "host(memory=4KiB),"
                                "host(memory=3KiB)"}) {
        Workers failing;
        std::vector<float> memory(3200);
        open_guided(devices);
        polytile_array *x = wrap("x", memory);
        polytile_kernel *kernel = create("add1[i]: inout x[i]", &failing.implementation);
        failing.fails_at = 1;
        ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, line(3200), {x}), POLYTILE_OK) << error();
        EXPECT_NE(polytile_queue_wait(queue), POLYTILE_OK);
        expect_says({"add1", "; left incomplete: x"});
        EXPECT_FALSE(polytile_array_is_complete(x));
        ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
        std::fill(memory.begin(), memory.end(), 7.0F);
        ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, line(3200), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
        expect_all(memory, 8);
        polytile_queue_destroy(queue);
    }
}

TEST_F(GroupDeal, TheLogSaysWhoRanWhatAndWhyNot) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    polytile_context_destroy(ctx);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    std::vector<float> memory(3200);
    open_guided("host(memory=1MiB),host");
    polytile_array *x = wrap("x", memory);
    polytile_array *t = make_internal(queue, "t", {3200});
    polytile_kernel *kernel = adding();
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    const auto run_on = [&](const Arrays &arrays) {
        return log_of([&] {
            for (polytile_array *array : arrays)
                EXPECT_EQ(launch(queue, kernel, line(3200), {array}), POLYTILE_OK) << error();
            EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        });
    };
    EXPECT_NE(run_on({x}).find("add1: rows by guided: "), std::string::npos);
    EXPECT_NE(run_on({t}).find("add1: owners compute, guided deals out no rows: an internal array"),
              std::string::npos);
    const std::string twice = run_on({x, x});
    EXPECT_NE(twice.find("what it writes is used again"), std::string::npos);
    EXPECT_NE(twice.find("what it uses lies with the devices"), std::string::npos);
    ASSERT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    expect_all(memory, 3);
}

} // namespace
