#ifndef POLYTILE_TESTS_LAUNCH_CUDA_SEQUENCES_H
#define POLYTILE_TESTS_LAUNCH_CUDA_SEQUENCES_H

#include "launch/cuda/failures.h"
#include "launch/cuda/launcher.h"
#include "support/environment.h"

#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "queue/queue.h"
}

/* A launcher that is called round by round, and its runs on a queue. */

namespace sequences {

/** The numbers of Collatz sequences, a sequence a thread, round by round: so each takes as many
 * rounds as it likes. state has the number at hand, and of the first thread of a sub-kernel whether
 * any of its sequences goes on. */
inline constexpr char collatz[] =
    "collatz[s]: in first[s]; scratch i32 state[s, 0:1]; out steps[s]";

inline int32_t *element(const polytile_view &view, int64_t i) {
    return reinterpret_cast<int32_t *>(static_cast<char *>(view.origin) + i * view.stride_bytes[0]);
}

inline int32_t *state_of(const polytile_view *views, int64_t s) {
    return element(views[1], s);
}

inline void note_whether_any_goes_on(const polytile_domain *threads, const polytile_view *views) {
    int32_t *any = &state_of(views, threads->range[0].lo)[1];
    *any = 0;
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++)
        *any |= state_of(views, s)[0] != 1;
}

inline void begin_sequences(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++) {
        state_of(views, s)[0] = *element(views[0], s);
        *element(views[2], s) = 0;
    }
    note_whether_any_goes_on(threads, views);
}

inline void go_on_with_sequences(const polytile_domain *threads, const polytile_view *views,
                                 void *) {
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++) {
        int32_t *number = state_of(views, s);
        if (*number == 1)
            continue;
        *number = *number % 2 == 0 ? *number / 2 : 3 * *number + 1;
        ++*element(views[2], s);
    }
    note_whether_any_goes_on(threads, views);
}

inline const char begin_symbol = 0, round_symbol = 0;

inline const polytile_view_shape shapes[] = {{sizeof(int32_t), 1, POLYTILE_SIGNED_NUMBER},
                                             {sizeof(int32_t), 2, POLYTILE_SIGNED_NUMBER},
                                             {sizeof(int32_t), 1, POLYTILE_SIGNED_NUMBER}};

struct Call {
    int64_t first;
    int64_t last;
    int64_t round;
    void *stream;
};

struct Launcher {
    std::vector<Call> calls;
    int fails_from = 0;       /* this call on; 0: none */
    bool waits = false;       /* which a launcher must not, for the GPU */
    bool steps_twice = false; /* in each round but the first */
};

inline int launch_sequences(const polytile_sub_kernel *launch) {
    auto *of = static_cast<Launcher *>(launch->user);
    const int64_t s = launch->threads->range[0].lo;
    const int64_t round = launch->repetition->round;
    EXPECT_EQ(launch->repetition->condition, nullptr);
    of->calls.push_back({s, launch->threads->range[0].hi, round, launch->stream});
    if (of->fails_from > 0 && static_cast<int>(of->calls.size()) >= of->fails_from)
        return 7;
    if (of->waits)
        pti_cuda_current_api->cudaStreamSynchronize(static_cast<cudaStream_t>(launch->stream));
    launch->repetition->condition = &state_of(launch->views, s)[1];
    if (launch->stream == nullptr) {
        (round == 0 ? begin_sequences : go_on_with_sequences)(launch->threads, launch->views,
                                                              nullptr);
        return 0;
    }
    if (of->steps_twice && round > 0 && launch_over(&round_symbol, *launch) != cudaSuccess)
        return 1;
    return launch_over(round == 0 ? &begin_symbol : &round_symbol, *launch) == cudaSuccess ? 0 : 1;
}

inline int32_t count_steps(int64_t number) {
    int32_t n = 0;
    for (; number != 1; n++)
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
    return n;
}

/** Sequences on a queue of a device. */
class Sequences {
  public:
    Sequences(FakeCuda *cuda, const std::string &device, int n) : n_(n) {
        polytile_implementation body = {};
        if (cuda != nullptr) {
            body.n_indices = 1;
            body.n_views = 3;
            body.views = shapes;
            body.host = begin_sequences;
            cuda->add_kernel(&begin_symbol, body);
            body.host = go_on_with_sequences;
            cuda->add_kernel(&round_symbol, body);
        }
        for (int s = 0; s < n; s++)
            first_.push_back(s % 7 == 0 ? 1 : 3 * s + 1);
        steps_.assign(static_cast<size_t>(n), -1);
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        implementation_.cuda_launcher = implementation_.host_launcher = launch_sequences;
        implementation_.cuda_launcher_overlaps = true;
        implementation_.user = &launcher;
        status = polytile_queue_create(ctx, device.c_str(), &queue);
        const int64_t extent = n;
        if (status == POLYTILE_OK) {
            expect_ok(polytile_kernel_create(ctx, collatz, &implementation_, &kernel));
            expect_ok(polytile_array_wrap(ctx, "first", POLYTILE_I32, 1, &extent, first_.data(),
                                          &array[0]));
            expect_ok(polytile_array_wrap(ctx, "steps", POLYTILE_I32, 1, &extent, steps_.data(),
                                          &array[1]));
        }
    }
    ~Sequences() { polytile_context_destroy(ctx); }
    Sequences(const Sequences &) = delete;
    Sequences &operator=(const Sequences &) = delete;

    polytile_status run() {
        const int64_t block = 1, extent = n_;
        const polytile_domain all = polytile_domain_from_extents(1, &extent);
        polytile_launch_options options = {};
        options.plan.block = &block;
        launcher.calls.clear();
        status = polytile_queue_attach(queue, 2, array);
        if (status != POLYTILE_OK)
            return status;
        status = polytile_queue_launch(queue, kernel, &all, 2, array, &options);
        if (status == POLYTILE_OK)
            status = polytile_queue_wait(queue);
        const std::string failed = error();
        const polytile_status detached = polytile_queue_detach(queue, 2, array);
        if (status != POLYTILE_OK)
            first_error = failed;
        return status == POLYTILE_OK ? detached : status;
    }

    void expect_right() const {
        for (int s = 0; s < n_; s++)
            EXPECT_EQ(steps_[static_cast<size_t>(s)], count_steps(first_[static_cast<size_t>(s)]))
                << s;
    }

    /** The first and the last sequence of each sub-kernel. */
    std::set<std::pair<int64_t, int64_t>> sub_kernels() const {
        std::set<std::pair<int64_t, int64_t>> found;
        for (const Call &call : launcher.calls)
            found.insert({call.first, call.last});
        return found;
    }
    /** But the first ones of all sub-kernels. */
    int64_t count_rounds() const {
        int64_t n = 0;
        for (const auto &[first, last] : sub_kernels()) {
            int32_t most = 0;
            for (int64_t s = first; s <= last; s++)
                most = std::max(most, count_steps(first_[static_cast<size_t>(s)]));
            n += most;
        }
        return n;
    }

    void expect_ok(polytile_status of) { EXPECT_EQ(of, POLYTILE_OK) << error(); }
    std::string error() const { return polytile_last_error(ctx); }

    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array[2] = {};
    Launcher launcher;
    polytile_status status = POLYTILE_OK;
    std::string first_error;

  private:
    int n_;
    polytile_implementation implementation_ = {};
    std::vector<int32_t> first_, steps_;
};

inline size_t count_streams(const Launcher &of) {
    std::set<void *> streams;
    for (const Call &call : of.calls)
        streams.insert(call.stream);
    return streams.size();
}

/** How often the launcher is called for another sub-kernel while that of the call before has not
 * ended. */
inline int count_changes(const Launcher &of) {
    std::map<int64_t, int64_t> last_round;
    for (const Call &call : of.calls)
        last_round[call.first] = call.round;
    int n = 0;
    for (size_t k = 1; k < of.calls.size(); k++)
        n += of.calls[k].first != of.calls[k - 1].first &&
             of.calls[k - 1].round < last_round[of.calls[k - 1].first];
    return n;
}

/** A GPU whose graphs have no WHILE nodes. */
inline FakeCuda::Options without_loops() {
    FakeCuda::Options options;
    options.loop_error = cudaErrorNotSupported;
    return options;
}

/** Whether a call belongs to a loop, or may do so: without it the host enqueues the rounds. */
inline bool may_be_of_a_loop(const std::string &call) {
    return call.compare(0, 9, "cudaGraph") == 0 || call.compare(0, 11, "cudaLibrary") == 0 ||
           call.find("Capture") != std::string::npos || call == "cudaLaunchKernel" ||
           call == "cudaSetDevice";
}

/** Whether a run has an n-th call; it fails, and a second run does not. */
inline bool survives_failing_call(int64_t n, const FakeCuda::Options &options) {
    FakeWorld world(static_cast<uint64_t>(n), options);
    FailingApi failing;
    bool has_failed = false;
    {
        Sequences of(&world.cuda, "cuda:0(streams=3,memory=1MiB)", 4);
        EXPECT_EQ(of.status, POLYTILE_OK) << of.error();
        failing.let_fail(n);
        const polytile_status status = of.run();
        failing.stop();
        has_failed = !failing.failed().empty();
        if (status == POLYTILE_OK) {
            EXPECT_TRUE(!has_failed || may_be_survived(failing.failed()) ||
                        may_be_of_a_loop(failing.failed()))
                << failing.failed();
            of.expect_right();
        } else {
            EXPECT_TRUE((of.first_error + of.error()).find(failing.failed()) != std::string::npos ||
                        (failing.failed() == "cudaLaunchKernel" &&
                         of.first_error.find("the launcher returned 1") != std::string::npos))
                << failing.failed() << ": " << of.first_error;
        }
        EXPECT_EQ(of.run(), POLYTILE_OK) << failing.failed() << ": " << of.error();
        of.expect_right();
        world.expect_idle();
    }
    world.expect_nothing_taken();
    return has_failed;
}

inline void expect_every_failing_call_is_survived(const FakeCuda::Options &options, int64_t apart) {
    int64_t n = 1;
    while (survives_failing_call(n, options) && !testing::Test::HasFailure())
        n += apart;
    EXPECT_GT(n, 100);
    EXPECT_FALSE(testing::Test::HasFailure()) << "call " << n;
}

} // namespace sequences

#endif
