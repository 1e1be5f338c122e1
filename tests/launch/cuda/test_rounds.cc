#include "launch/cuda/failures.h"
#include "launch/cuda/launcher.h"
#include "support/environment.h"

#include <filesystem>
#include <set>
#include <unistd.h>
#include <vector>

extern "C" {
#include "launch/device/lanes.h"
#include "partition/prove/check.h"
#include "queue/queue.h"
}

/* Launchers that are called round by round, by the host or in loops on the GPU, and lanes, on a
 * runtime that needs no GPU. */

namespace {

/** The numbers of Collatz sequences, a sequence a thread, round by round: so each takes as many
 * rounds as it likes. state has the number at hand, and of the first thread of a sub-kernel whether
 * any of its sequences goes on. */
constexpr char collatz[] = "collatz[s]: in first[s]; scratch i32 state[s, 0:1]; out steps[s]";

int32_t *element(const polytile_view &view, int64_t i) {
    return reinterpret_cast<int32_t *>(static_cast<char *>(view.origin) + i * view.stride_bytes[0]);
}

int32_t *state_of(const polytile_view *views, int64_t s) {
    return element(views[1], s);
}

void note_whether_any_goes_on(const polytile_domain *threads, const polytile_view *views) {
    int32_t *any = &state_of(views, threads->range[0].lo)[1];
    *any = 0;
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++)
        *any |= state_of(views, s)[0] != 1;
}

void begin_sequences(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++) {
        state_of(views, s)[0] = *element(views[0], s);
        *element(views[2], s) = 0;
    }
    note_whether_any_goes_on(threads, views);
}

void go_on_with_sequences(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t s = threads->range[0].lo; s <= threads->range[0].hi; s++) {
        int32_t *number = state_of(views, s);
        if (*number == 1)
            continue;
        *number = *number % 2 == 0 ? *number / 2 : 3 * *number + 1;
        ++*element(views[2], s);
    }
    note_whether_any_goes_on(threads, views);
}

const char begin_symbol = 0, round_symbol = 0;

const polytile_view_shape shapes[] = {{sizeof(int32_t), 1, POLYTILE_SIGNED_NUMBER},
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

int launch_sequences(const polytile_sub_kernel *launch) {
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

int32_t count_steps(int64_t number) {
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

size_t count_streams(const Launcher &of) {
    std::set<void *> streams;
    for (const Call &call : of.calls)
        streams.insert(call.stream);
    return streams.size();
}

/** How often the launcher is called for another sub-kernel while that of the call before has not
 * ended. */
int count_changes(const Launcher &of) {
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
FakeCuda::Options without_loops() {
    FakeCuda::Options options;
    options.loop_error = cudaErrorNotSupported;
    return options;
}

TEST(CudaRounds, OfAllLanesGoOnSideBySide) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int n_lanes : {2, 3, 4, 8}) {
        FakeWorld world(static_cast<uint64_t>(n_lanes), without_loops());
        Sequences of(&world.cuda, "cuda:0(streams=" + std::to_string(n_lanes) + ")", 23);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_EQ(count_streams(of.launcher), static_cast<size_t>(n_lanes));
        EXPECT_GT(count_changes(of.launcher), 20) << n_lanes;
        world.expect_idle();
    }
}

TEST(CudaRounds, OfADeviceWithoutLanesFollowOneAnother) {
    FakeWorld world(1, without_loops());
    Sequences of(&world.cuda, "cuda:0(streams=1)", 23);
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    of.expect_right();
    EXPECT_EQ(count_streams(of.launcher), 1u);
}

TEST(CudaRounds, RunWithinLittleMemory) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int64_t memory_bytes : {2100, 3000, 4000}) {
        FakeWorld world(static_cast<uint64_t>(memory_bytes), without_loops());
        Sequences of(&world.cuda, "cuda:0(streams=4,memory=" + std::to_string(memory_bytes) + "B)",
                     300);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_GT(count_streams(of.launcher), 1u) << memory_bytes;
        world.expect_idle();
    }
}

/** In a round of the host, in a first one, and in one that is captured. */
TEST(CudaRounds, TellTheSubKernelWhoseLauncherFails) {
    for (const bool has_loops : {false, true})
        for (const int fails_from : {1, 2, 3, 4, 8}) {
            FakeWorld world(1, has_loops ? FakeCuda::Options() : without_loops());
            Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
            of.launcher.fails_from = fails_from;
            EXPECT_EQ(of.run(), POLYTILE_DEVICE);
            EXPECT_NE(of.first_error.find("the launcher returned 7"), std::string::npos)
                << of.first_error;
            of.launcher.fails_from = 0;
            EXPECT_EQ(of.run(), POLYTILE_OK) << of.error();
            of.expect_right();
            world.expect_idle();
        }
}

/** Whether a call belongs to a loop, or may do so: without it the host enqueues the rounds. */
bool may_be_of_a_loop(const std::string &call) {
    return call.compare(0, 9, "cudaGraph") == 0 || call.compare(0, 11, "cudaLibrary") == 0 ||
           call.find("Capture") != std::string::npos || call == "cudaLaunchKernel" ||
           call == "cudaSetDevice";
}

/** Whether a run has an n-th call; it fails, and a second run does not. */
bool survives_failing_call(int64_t n, const FakeCuda::Options &options) {
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

void expect_every_failing_call_is_survived(const FakeCuda::Options &options, int64_t apart) {
    int64_t n = 1;
    while (survives_failing_call(n, options) && !testing::Test::HasFailure())
        n += apart;
    EXPECT_GT(n, 100);
    EXPECT_FALSE(testing::Test::HasFailure()) << "call " << n;
}

TEST(CudaRounds, SurviveEveryCallThatFails) {
    expect_every_failing_call_is_survived(without_loops(), scaled(7) == 7 ? 1 : 21);
}

#if CUDART_VERSION >= 13000

TEST(CudaLoops, SurviveEveryCallThatFails) {
    expect_every_failing_call_is_survived(FakeCuda::Options(), scaled(7) == 7 ? 1 : 5);
}

TEST(CudaLoops, RunAllRoundsButTheFirstOnTheGpu) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int n_lanes : {1, 2, 4, 8})
        for (int k = 0; k < 5; k++) {
            FakeWorld world(static_cast<uint64_t>(10 * n_lanes + k));
            Sequences of(&world.cuda, "cuda:0(streams=" + std::to_string(n_lanes) + ")", 23);
            for (int run = 0; run < 3; run++) {
                ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
                of.expect_right();
            }
            EXPECT_EQ(count_streams(of.launcher), static_cast<size_t>(n_lanes));
            EXPECT_EQ(of.launcher.calls.size(), 2 * of.sub_kernels().size());
            EXPECT_EQ(world.cuda.n_looped(), 3 * of.count_rounds());
            EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), n_lanes);
            world.expect_idle();
        }
}

/** Another executable graph takes the place of one that cannot become it, and may still run. */
TEST(CudaLoops, MayHaveOtherNodesFromLaunchToLaunch) {
    FakeWorld world(11);
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    for (const bool steps_twice : {false, true, false}) {
        of.launcher.steps_twice = steps_twice;
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
    }
    EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), 3 * 4);
    EXPECT_EQ(world.cuda.n_calls("cudaGraphExecDestroy"), 2 * 4);
    world.expect_idle();
}

TEST(CudaLoops, RunWithinLittleMemory) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    for (const int64_t memory_bytes : {2100, 3000, 4000}) {
        FakeWorld world(static_cast<uint64_t>(memory_bytes));
        Sequences of(&world.cuda, "cuda:0(streams=4,memory=" + std::to_string(memory_bytes) + "B)",
                     300);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
        EXPECT_GT(world.cuda.n_looped(), 300);
        world.expect_idle();
    }
}

TEST(CudaLoops, AreLeftToTheHostWhereCudaHasNone) {
    FakeWorld world(1, without_loops());
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    of.expect_right();
    EXPECT_EQ(world.cuda.n_looped(), 0);
    EXPECT_EQ(world.cuda.n_calls("cudaGraphInstantiate"), 1);
    world.expect_idle();
}

TEST(CudaLoops, AreLeftToTheHostIfTheLauncherCannotBeCaptured) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    FakeWorld world(1);
    Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
    of.launcher.waits = true;
    testing::internal::CaptureStderr();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    const std::string log = testing::internal::GetCapturedStderr();
    const size_t at = log.find("the host enqueues each round of its launcher on cuda:0");
    EXPECT_NE(at, std::string::npos) << log;
    EXPECT_EQ(log.find("the host enqueues each round", at + 1), std::string::npos) << log;
    of.expect_right();
    EXPECT_EQ(world.cuda.n_looped(), 0);
    world.expect_idle();
}

/** Rounds without end, of which one cancels the run. */
struct Endless {
    static int enqueue(const polytile_sub_kernel *launch) {
        const auto *of = static_cast<const Endless *>(launch->user);
        EXPECT_LT(launch->repetition->round, 2) << of->n_rounds;
        launch->repetition->condition = element(launch->views[0], launch->threads->range[0].lo);
        return launch_over(&round_symbol, *launch) == cudaSuccess ? 0 : 1;
    }
    static void run(const polytile_domain *threads, const polytile_view *views, void *user) {
        auto *of = static_cast<Endless *>(user);
        *element(views[0], threads->range[0].lo) = 1;
        if (++of->n_rounds == 1000)
            polytile_device_cancel(of->device);
    }

    polytile_device *device = nullptr;
    int n_rounds = 0;
};

TEST(CudaLoops, EndWhenTheirRunIsCancelled) {
    for (const int64_t n : {1, 40}) {
        FakeWorld world(static_cast<uint64_t>(n));
        Endless endless;
        std::vector<int32_t> memory(static_cast<size_t>(n));
        polytile_implementation body = {}, launcher = {};
        polytile_context *ctx = nullptr;
        polytile_kernel *kernel = nullptr;
        polytile_array *x = nullptr;
        body.n_indices = body.n_views = 1;
        body.views = shapes;
        body.host = Endless::run;
        body.user = launcher.user = &endless;
        world.cuda.add_kernel(&round_symbol, body);
        launcher.cuda_launcher = Endless::enqueue;
        launcher.cuda_launcher_overlaps = true;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "cuda:0(streams=4,memory=1MiB)", &endless.device),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "endless[i]: inout x[i]", &launcher, &kernel),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_I32, 1, &n, memory.data(), &x),
                  POLYTILE_OK);
        const polytile_domain threads = polytile_domain_from_extents(1, &n);
        EXPECT_EQ(polytile_run(endless.device, kernel, &threads, 1, &x, nullptr),
                  POLYTILE_CANCELLED)
            << polytile_last_error(ctx);
        EXPECT_GE(endless.n_rounds, 1000);
        EXPECT_GT(world.cuda.n_looped(), 900);
        polytile_context_destroy(ctx);
        world.expect_idle();
        world.expect_nothing_taken();
    }
}

TEST(CudaLoops, OfAKernelThatFaultsEndWithTheGpu) {
    for (const int64_t nth : {2, 5, 30}) {
        FakeWorld world(static_cast<uint64_t>(nth));
        {
            Sequences of(&world.cuda, "cuda:0(streams=4)", 23);
            world.cuda.let_kernel_fault(nth);
            EXPECT_EQ(of.run(), POLYTILE_DEVICE);
            EXPECT_NE(of.first_error.find("faulted"), std::string::npos) << of.first_error;
        }
        EXPECT_EQ(world.cuda.violations(), "");
        world.expect_nothing_taken();
    }
}

#endif

TEST(CudaRounds, OpeningADeviceOfManyStreamsSurvivesEveryCallThatFails) {
    int64_t n = 1;
    for (bool has_failed = true; has_failed; n++) {
        FakeWorld world(static_cast<uint64_t>(n));
        FailingApi failing;
        failing.let_fail(n);
        {
            Session session;
            session.try_to_open("cuda:0(streams=auto)");
            failing.stop();
            EXPECT_EQ(session.status == POLYTILE_OK, session.error().empty());
        }
        world.expect_nothing_taken();
        has_failed = !failing.failed().empty();
    }
    EXPECT_GT(n, 32);
}

TEST(CudaRounds, OfTheHostFollowOneAnother) {
    for (const char *device : {"host(threads=2)", "host(memory=64KiB)"}) {
        Sequences of(nullptr, device, 23);
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
        of.expect_right();
    }
}

/* Lanes of kernels whose threads have a whole thread block each. */

/** A case whose threads are said to be much work. */
Case in_lanes(const Case &of, polytile_implementation *implementation) {
    Case made = of;
    *implementation = *of.implementation;
    implementation->cuda_lanes = 256;
    made.implementation = implementation;
    return made;
}

TEST(CudaLanes, ComputeTheSameAsOneStream) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaLanes.ComputeTheSameAsOneStream"));
    int n_run = 0, n_in_lanes = 0;
    for (int64_t round = scaled(4); round > 0; round--)
        for (const Case &of : FakeWorld::cases().all()) {
            FakeWorld world(random.number(1, 1000000));
            Session session;
            polytile_implementation implementation;
            const Case made = in_lanes(of, &implementation);
            Scene scene(session.ctx, made, random.number(8, 40), &random);
            const std::string memory = std::to_string(random.number(600, 20000));
            const std::string streams = std::to_string(random.number(2, 8));
            polytile_device *device =
                session.open("cuda:0(streams=" + streams + ",memory=" + memory + "B)");
            polytile_launch_options options = scene.options;
            options.plan.limit_bytes = polytile_device_get_limit(device);
            options.plan.n_streams = std::stol(streams);
            polytile_plan *plan = nullptr;
            if (polytile_plan_create(scene.kernel, &scene.domain,
                                     static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                     &options, &plan) != POLYTILE_OK)
                continue;
            n_in_lanes += plan->schedule->n_lanes > 1;
            scene.compute_expected(plan->instance);
            polytile_plan_destroy(plan);
            ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK)
                << of.declaration << ": " << session.error();
            expect_right(scene);
            world.expect_idle();
            n_run++;
            ASSERT_FALSE(HasFailure()) << of.declaration << ", " << streams << ", " << memory;
        }
    EXPECT_GT(n_run, 10);
    EXPECT_GT(n_in_lanes, 5);
}

TEST(CudaLanes, AutoRunsLaunchesInEachNumberAndKeepsToOne) {
    FakeWorld world(3);
    Session session;
    Random random(3);
    polytile_implementation implementation;
    const Case made = in_lanes(FakeWorld::cases().of("add[i]"), &implementation);
    Scene scene(session.ctx, made, 300, &random);
    polytile_device *device = session.open("cuda:0(streams=auto,memory=64KiB)");
    for (int k = 0; k < 30; k++)
        ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain, 3, scene.arrays.data(),
                                   &scene.options, &plan),
              POLYTILE_OK);
    scene.compute_expected(plan->instance);
    polytile_plan_destroy(plan);
    expect_right(scene);
    world.expect_idle();
}

/** How many launches in a number of lanes a device has learnt from. */
int count_learnt(const polytile_device *device, int trial) {
    int n = 0;
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        n += device->lane_times[k].n_runs[trial];
    return n;
}

/** Whether a device still learns of any launches, so that windows are cut for it. */
bool is_learning(const polytile_device *device) {
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        if (device->lane_times[k].key != 0 &&
            pti_lanes_are_learnt(device, device->lane_times[k].key))
            return true;
    return false;
}

/** Run a launch so often on a device with streams=auto, and tell how many runs in a lane it then
 * knows of. */
int run_and_count(polytile_context *ctx, FakeWorld &world, int n_runs) {
    const int64_t n = 300;
    std::vector<float> memory[3];
    polytile_implementation implementation;
    const Case made = in_lanes(world.cases().of("add[i]"), &implementation);
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[3] = {};
    EXPECT_EQ(polytile_device_open(ctx, "cuda:0(streams=auto,memory=64KiB)", &device), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_kernel_create(ctx, made.declaration, &implementation, &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    for (int a = 0; a < 3; a++) {
        memory[a].assign(static_cast<size_t>(n), 1);
        EXPECT_EQ(polytile_array_wrap(ctx, made.arrays[static_cast<size_t>(a)].name, POLYTILE_F32,
                                      1, &n, memory[a].data(), &arrays[a]),
                  POLYTILE_OK);
    }
    const polytile_domain threads = polytile_domain_from_extents(1, &n);
    for (int k = 0; k < n_runs; k++)
        EXPECT_EQ(polytile_run(device, kernel, &threads, 3, arrays, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
    const int n_learnt = count_learnt(device, 0);
    polytile_device_close(device);
    for (polytile_array *array : arrays)
        polytile_array_destroy(array);
    return n_learnt;
}

TEST(CudaLanes, AutoKnowsWhatEarlierDevicesOfTheContextMeasured) {
    FakeWorld world(6);
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(run_and_count(ctx, world, 1), 1);
    EXPECT_EQ(run_and_count(ctx, world, 1), 1);
    EXPECT_GE(run_and_count(ctx, world, 30), 2);
    EXPECT_EQ(run_and_count(ctx, world, 1), 4);
    polytile_context_destroy(ctx);
    world.expect_nothing_taken();
}

TEST(CudaLanes, AutoKnowsWhatEarlierProcessesMeasuredWhereThatIsAsked) {
    const std::string folder = testing::TempDir() + "lanes-" + std::to_string(getpid());
    for (const char *keeps : {"0", "1"}) {
        Environment environment;
        environment.set("POLYTILE_CACHE", folder.c_str());
        environment.set("POLYTILE_SPEEDS", keeps);
        FakeWorld world(7);
        for (const bool is_first : {true, false}) {
            polytile_context *ctx = nullptr;
            ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
            const int n_learnt = run_and_count(ctx, world, is_first ? 30 : 1);
            EXPECT_EQ(n_learnt == 4, is_first ? n_learnt == 4 : keeps[0] == '1') << n_learnt;
            polytile_context_destroy(ctx);
        }
    }
    std::filesystem::remove_all(folder);
}

/** One thread is in one lane, whatever is chosen. */
TEST(CudaLanes, AutoLearnsNothingOfTwoLanesFromLaunchesInOne) {
    FakeWorld world(4);
    Session session;
    Random random(4);
    polytile_implementation implementation;
    const Case made = in_lanes(FakeWorld::cases().of("add[i]"), &implementation);
    Scene scene(session.ctx, made, 1, &random);
    polytile_device *device = session.open("cuda:0(streams=auto,memory=64KiB)");
    for (int k = 0; k < 6; k++)
        ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    EXPECT_EQ(count_learnt(device, 0), 2);
    EXPECT_EQ(count_learnt(device, 1), 0);
    EXPECT_FALSE(is_learning(device));
}

TEST(CudaLanes, AutoOfAQueueLearnsNothingOfTwoLanesFromLaunchesInOne) {
    FakeWorld world(5);
    Sequences of(&world.cuda, "cuda:0(streams=auto)", 1);
    for (int k = 0; k < 6; k++)
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    EXPECT_EQ(count_learnt(of.queue->device, 0), 2);
    EXPECT_EQ(count_learnt(of.queue->device, 1), 0);
    EXPECT_FALSE(is_learning(of.queue->device));
}

/** Launches over few and over all sequences are queued together: what both take tells nothing. */
TEST(CudaLanes, AutoOfAQueueLearnsFromLaunchesThatAreQueuedWithOthers) {
    FakeWorld world(8);
    Sequences of(&world.cuda, "cuda:0(streams=auto)", 23);
    ASSERT_EQ(polytile_queue_attach(of.queue, 2, of.array), POLYTILE_OK) << of.error();
    for (int k = 0; k < 30; k++) {
        polytile_queue_pause(of.queue);
        for (const int64_t n : {11, 23, 11}) {
            const polytile_domain threads = polytile_domain_from_extents(1, &n);
            ASSERT_EQ(polytile_queue_launch(of.queue, of.kernel, &threads, 2, of.array, nullptr),
                      POLYTILE_OK)
                << of.error();
        }
        polytile_queue_resume(of.queue);
        ASSERT_EQ(polytile_queue_wait(of.queue), POLYTILE_OK) << of.error();
    }
    for (int trial = 0; trial < 2; trial++)
        EXPECT_GE(count_learnt(of.queue->device, trial), 4) << trial;
    ASSERT_EQ(polytile_queue_detach(of.queue, 2, of.array), POLYTILE_OK) << of.error();
    of.expect_right();
    world.expect_idle();
}

} /* namespace */
