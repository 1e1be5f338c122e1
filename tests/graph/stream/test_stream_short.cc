#include "graph/stream/line_streams.h"

extern "C" {
#include "graph/stream/stream.h"
}

#include <atomic>
#include <thread>

/* Firings that take less than to wake a thread. */

namespace {

using line_streams::Body;
using line_streams::Lines;

class ShortFirings : public line_streams::Streams {
  protected:
    void begin_chain() {
        parse(
            "digraph { { node [type=i64, extents=4]; x; m; y }\n"
            "{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=a]; g [on=b] }\n"
            "x -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }");
        ASSERT_EQ(bind("f", &first), POLYTILE_OK) << error();
        ASSERT_EQ(bind("g", &second), POLYTILE_OK) << error();
        ASSERT_EQ(
            begin("digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"] }"),
            POLYTILE_OK)
            << error();
    }

    /** Let all tasks count as short, whatever this machine does beside. */
    void call_all_short() {
        pthread_mutex_lock(&stream->mutex);
        for (int t = 0; t < stream->order.n_tasks; t++)
            stream->recent_s[t] = 0;
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
        add_one.run(of);
        return of[0][0] % 7 == 3 ? 1 : 0;
    };
    second.run = [&](const Lines &of) {
        n_here += std::this_thread::get_id() == program;
        return add_one.run(of);
    };
    begin_chain();
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
            EXPECT_TRUE(says("frame " + std::to_string(f) + ": actor f: ")) << said;
        } else {
            EXPECT_EQ(status, POLYTILE_OK) << said;
            EXPECT_EQ(value, f + 2);
        }
    }
    EXPECT_GT(n_here, 0);
}

TEST_F(ShortFirings, MayWaitForWhatTheProgramDoesAfterAPush) {
    std::atomic<int64_t> n_let{0};
    first.run = [&](const Lines &of) {
        while (n_let <= of[0][0])
            std::this_thread::yield();
        return add_one.run(of);
    };
    second.run = add_one.run;
    begin_chain();
    for (int64_t f = 0; f < 300; f++) {
        int64_t value = 0;
        call_all_short();
        ASSERT_EQ(push(f), POLYTILE_OK) << said;
        n_let++;
        ASSERT_EQ(pull(&value), POLYTILE_OK) << said;
        EXPECT_EQ(value, f + 2);
    }
}

TEST_F(ShortFirings, AreThoseThatWereMeasured) {
    first.run = second.run = add_one.run;
    begin_chain();
    const auto is_any_short = [&] {
        bool is = false;
        pthread_mutex_lock(&stream->mutex);
        for (int l = 0; l < stream->n_lanes; l++)
            is = is || pti_stream_is_short(&stream->lane[l], stream->lane[l].task[0]);
        pthread_mutex_unlock(&stream->mutex);
        return is;
    };
    call_all_short();
    EXPECT_FALSE(is_any_short()) << "nothing is known of the first frames";
    for (int64_t f = 0; f < 100; f++) {
        ASSERT_EQ(push(f), POLYTILE_OK) << said;
        ASSERT_EQ(pull(), POLYTILE_OK) << said;
    }
    call_all_short();
    EXPECT_TRUE(is_any_short());
    pthread_mutex_lock(&stream->mutex);
    for (int t = 0; t < stream->order.n_tasks; t++)
        stream->recent_s[t] = 1e-3;
    pthread_mutex_unlock(&stream->mutex);
    EXPECT_FALSE(is_any_short());
}

} // namespace
