#include "graph/stream/line_streams.h"

extern "C" {
#include "graph/stream/stream.h"
}

#include <atomic>
#include <set>
#include <thread>

/* Firings that take less than to wake a thread. */

namespace {

using line_streams::Body;
using line_streams::Lines;

enum class Way { LAUNCHER, BODY };

const char one_thread_each[] =
    "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(memory=1MiB,threads=1)\"] }";

class ShortFirings : public line_streams::Streams {
  protected:
    void begin_chain(Way way_of_first, Way way_of_second, const char *machine = one_thread_each) {
        parse(
            "digraph { { node [type=i64, extents=4]; x; m; y }\n"
            "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=a]; g [on=b] }\n"
            "x -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }");
        ASSERT_EQ(bind_as(way_of_first, "f", &first), POLYTILE_OK) << error();
        ASSERT_EQ(bind_as(way_of_second, "g", &second), POLYTILE_OK) << error();
        ASSERT_EQ(begin(machine), POLYTILE_OK) << error();
    }

    polytile_status bind_as(Way way, const char *name, Body *body) {
        return way == Way::BODY ? bind_body(name, body) : bind(name, body);
    }

    void run_frames(int64_t n_frames) {
        for (int64_t f = 0; f < n_frames; f++) {
            call_all_short();
            ASSERT_EQ(push(f), POLYTILE_OK) << said;
            ASSERT_EQ(pull(), POLYTILE_OK) << said;
        }
        call_all_short();
    }

    void stop_threads() {
        pti_stream_stop(stream);
        stream->is_stopping = false;
        for (int l = 0; l < stream->n_lanes; l++)
            stream->lane[l].has_thread = false;
    }

    pti_stream_lane *find_unit(const std::string &name) {
        int l = 0;
        while (!stream->lane[l].is_unit || stream->lane[l].name != name)
            l++;
        return &stream->lane[l];
    }

    /** Units of which others may run a firing. */
    int count_short() const {
        int n_short = 0;
        pthread_mutex_lock(&stream->mutex);
        for (int l = 0; l < stream->n_lanes; l++)
            n_short += stream->lane[l].is_unit &&
                       pti_stream_is_short(&stream->lane[l], stream->lane[l].task[0]);
        pthread_mutex_unlock(&stream->mutex);
        return n_short;
    }

    /** Let all tasks count as short, whatever this machine does beside. */
    void call_all_short() { call_all(0); }
    void call_all_long() { call_all(1e-3); }

    void call_all(double seconds) {
        pthread_mutex_lock(&stream->mutex);
        for (int t = 0; t < stream->order.n_tasks; t++)
            stream->recent_s[t] = seconds;
        pthread_mutex_unlock(&stream->mutex);
    }

    Body first{[](const Lines &) { return 0; }};
    Body second{[](const Lines &) { return 0; }};
};

TEST_F(ShortFirings, RunOnTheProgramsThreadWhileItWaitsAndLeaveWhatTheyWould) {
    const std::thread::id program = std::this_thread::get_id();
    std::atomic<int> n_here{0};
    first.run = [&](const Lines &of) {
        n_here += std::this_thread::get_id() == program;
        return add_one.run(of);
    };
    second.run = [&](const Lines &of) {
        EXPECT_NE(std::this_thread::get_id(), program);
        add_one.run(of);
        return of[0][0] % 7 == 4 ? 1 : 0;
    };
    begin_chain(Way::BODY, Way::LAUNCHER);
    const int64_t most_frames = 20000, least_frames = 200;
    for (int64_t f = 0; f < most_frames && (f < least_frames || n_here == 0); f++) {
        int64_t value = 0, frame = -1;
        call_all_short();
        ASSERT_EQ(push(f), POLYTILE_OK) << said;
        EXPECT_EQ(said, "");
        const polytile_status status = pull(&value, &frame);
        EXPECT_EQ(frame, f);
        if (f % 7 == 3) {
            EXPECT_EQ(status, POLYTILE_DEVICE) << said;
            EXPECT_TRUE(says("frame " + std::to_string(f) + ": actor g: ")) << said;
        } else {
            EXPECT_EQ(status, POLYTILE_OK) << said;
            EXPECT_EQ(value, f + 2);
        }
    }
    EXPECT_GT(n_here, 0);
}

/** A launcher of the next frame is still at it when the program pulls this one. */
TEST_F(ShortFirings, OfLaunchersMayWaitForWhatTheProgramDoesAfterAPushOrAPull) {
    std::atomic<int64_t> n_let{1};
    std::set<std::thread::id> threads[2];
    first.run = [&](const Lines &of) {
        threads[0].insert(std::this_thread::get_id());
        while (n_let <= of[0][0])
            std::this_thread::yield();
        return add_one.run(of);
    };
    second.run = [&](const Lines &of) {
        threads[1].insert(std::this_thread::get_id());
        return add_one.run(of);
    };
    begin_chain(Way::LAUNCHER, Way::LAUNCHER);
    ASSERT_EQ(push(0), POLYTILE_OK) << said;
    for (int64_t f = 0; f < 300; f++) {
        int64_t value = 0;
        call_all_short();
        ASSERT_EQ(push(f + 1), POLYTILE_OK) << said;
        call_all_short();
        ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_EQ(value, f + 2);
        n_let++;
    }
    ASSERT_EQ(pull(), POLYTILE_OK) << said;
    EXPECT_EQ(threads[0].size(), 1U);
    EXPECT_EQ(threads[1].size(), 1U);
}

TEST_F(ShortFirings, AreThoseThatWereMeasured) {
    first.run = second.run = add_one.run;
    begin_chain(Way::BODY, Way::BODY);
    call_all_short();
    EXPECT_EQ(count_short(), 0) << "nothing is known of the first frames";
    run_frames(100);
    EXPECT_EQ(count_short(), 2);
    call_all_long();
    EXPECT_EQ(count_short(), 0);
}

TEST_F(ShortFirings, AreBodiesOfUnitsOfOneThread) {
    first.run = second.run = add_one.run;
    begin_chain(Way::LAUNCHER, Way::BODY);
    run_frames(100);
    EXPECT_EQ(count_short(), 1);
}

/** Each thread that called for two would have a team of its own. */
TEST_F(ShortFirings, AreNoneOfUnitsOfSeveralThreads) {
    first.run = second.run = add_one.run;
    begin_chain(Way::BODY, Way::BODY,
                "digraph { a [device=\"host(threads=2)\"]; b [device=\"host(threads=1)\"] }");
    run_frames(100);
    EXPECT_EQ(count_short(), 1);
}

/** No thread of the stream is left, so that this one takes the place of unit a's. */
TEST_F(ShortFirings, WaitForALongerOneOfTheThreadsOwnUnit) {
    int64_t value = 0;
    first.run = second.run = add_one.run;
    begin_chain(Way::BODY, Way::BODY);
    run_frames(100);
    stop_threads();
    pti_stream_lane *own = find_unit("a"), *other = find_unit("b");
    const int long_task = own->task[0], short_task = other->task[0];
    call_all_long();
    ASSERT_EQ(push(100), POLYTILE_OK) << said;
    pthread_mutex_lock(&stream->mutex);
    pti_stream_do_task(own, long_task);
    pthread_mutex_unlock(&stream->mutex);
    ASSERT_EQ(push(101), POLYTILE_OK) << said;
    call_all_short();
    pthread_mutex_lock(&stream->mutex);
    stream->recent_s[long_task] = 1e-3;
    for (int k = 0; k < 1000; k++)
        pti_stream_hand_on(own);
    EXPECT_EQ(pti_stream_find_ready(own), long_task);
    EXPECT_EQ(stream->done[short_task], 100);
    pti_stream_do_task(own, long_task);
    for (int k = 0; k < 1000; k++) {
        stream->recent_s[short_task] = 1e-7; /* however long it takes here */
        pti_stream_hand_on(own);
    }
    const int64_t n_done = stream->done[short_task];
    pthread_mutex_unlock(&stream->mutex);
    ASSERT_EQ(n_done, 102);
    for (int64_t f = 100; f < 102; f++) {
        ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_EQ(value, f + 2);
    }
}

TEST_F(ShortFirings, LeaveErrorsOfTheProgramWhereTheyGo) {
    first.run = second.run = add_one.run;
    begin_chain(Way::BODY, Way::BODY);
    pti_error aside = {};
    pti_redirect_errors(&aside);
    run_frames(1);
    EXPECT_TRUE(pti_errors_are_redirected());
    pti_redirect_errors(nullptr);
}

} // namespace
