#include "support/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <jansson.h>
#include <polytile/polytile.h>
#include <unistd.h>

extern "C" {
#include "launch/cuda/runtime/timing.h"
#include "launch/device/execution.h"
#include "launch/device/trace.h"
}

namespace {

/** Streams that know only time: an event happens when what its stream got before it has run. */
struct Gpu {
    int64_t end_ns[PTI_MAX_STREAMS] = {}; /* of all that was enqueued */
    int64_t now_ns = 0;
    int64_t step_ns = 0; /* that pass with every query */
    int64_t n_alive = 0, n_created = 0, n_records = 0, n_queries = 0, n_waits = 0;
    int64_t n_calls = 0, failing_call = -1;
    cudaError_t last_error = cudaSuccess;
};

struct Event {
    int64_t time_ns;
};

Gpu *gpu;

cudaError_t answer(cudaError_t error) {
    if (error != cudaSuccess)
        gpu->last_error = error;
    return error;
}

bool fails() {
    return gpu->n_calls++ == gpu->failing_call;
}

Event *event_of(cudaEvent_t event) {
    return reinterpret_cast<Event *>(event);
}

cudaError_t create(cudaEvent_t *event, unsigned flags) {
    EXPECT_EQ(flags, unsigned{cudaEventDefault}) << "only such an event takes the time";
    if (fails())
        return answer(cudaErrorMemoryAllocation);
    *event = reinterpret_cast<cudaEvent_t>(new Event{-1});
    gpu->n_alive++;
    gpu->n_created++;
    return cudaSuccess;
}

cudaError_t destroy(cudaEvent_t event) {
    delete event_of(event);
    gpu->n_alive--;
    return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    if (fails())
        return answer(cudaErrorInvalidValue);
    event_of(event)->time_ns = gpu->end_ns[reinterpret_cast<intptr_t>(stream) - 1];
    gpu->n_records++;
    return cudaSuccess;
}

cudaError_t query(cudaEvent_t event) {
    gpu->n_queries++;
    gpu->now_ns += gpu->step_ns;
    if (fails())
        return answer(cudaErrorInvalidValue);
    return answer(event_of(event)->time_ns <= gpu->now_ns ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t synchronize(cudaEvent_t event) {
    gpu->n_waits++;
    if (fails())
        return answer(cudaErrorInvalidValue);
    gpu->now_ns = std::max(gpu->now_ns, event_of(event)->time_ns);
    return cudaSuccess;
}

cudaError_t elapsed(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    const int64_t from_ns = event_of(from)->time_ns, to_ns = event_of(to)->time_ns;
    if (fails() || from_ns < 0 || to_ns < 0)
        return answer(cudaErrorInvalidValue);
    if (std::max(from_ns, to_ns) > gpu->now_ns)
        return answer(cudaErrorNotReady);
    *milliseconds = static_cast<float>(1e-6 * static_cast<double>(to_ns - from_ns));
    return cudaSuccess;
}

cudaError_t last_error() {
    const cudaError_t error = gpu->last_error;
    gpu->last_error = cudaSuccess;
    return error;
}

cudaError_t memory(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = *total_bytes = 1;
    return cudaSuccess;
}

pti_cuda_api api_of_gpu() {
    pti_cuda_api api{};
    api.cudaEventCreateWithFlags = create;
    api.cudaEventDestroy = destroy;
    api.cudaEventRecord = record;
    api.cudaEventQuery = query;
    api.cudaEventSynchronize = synchronize;
    api.cudaEventElapsedTime = elapsed;
    api.cudaGetLastError = last_error;
    api.cudaMemGetInfo = memory;
    return api;
}

class CudaTiming : public ::testing::Test {
  protected:
    void SetUp() override {
        gpu = &simulated;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        cuda.device.object.context = ctx;
        cuda.device.text = const_cast<char *>("cuda:0");
        cuda.api = &api;
        cuda.n_lanes = PTI_MAX_LANES;
        for (intptr_t s = 0; s < PTI_MAX_STREAMS; s++)
            cuda.stream[s] = reinterpret_cast<cudaStream_t>(s + 1);
        operand.name = const_cast<char *>("x");
        instance.kernel_name = const_cast<char *>("add");
        instance.operand = &operand;
        schedule.instance = &instance;
        schedule.n_launches = 1;
        schedule.launch = &launch;
        schedule.placement = &placement;
    }

    void TearDown() override {
        pti_cuda_timing_destroy(timing);
        EXPECT_EQ(polytile_device_trace(&cuda.device, nullptr), POLYTILE_OK);
        polytile_context_destroy(ctx);
        EXPECT_EQ(simulated.n_alive, 0) << "events are left";
        std::remove(path.c_str());
    }

    void create() {
        ASSERT_EQ(pti_cuda_timing_create(&cuda, &timing), POLYTILE_OK) << polytile_last_error(ctx);
    }

    void trace() { ASSERT_EQ(polytile_device_trace(&cuda.device, path.c_str()), POLYTILE_OK); }

    /** work: threads or bytes. */
    void add(pti_op_kind kind, int64_t work) {
        pti_op op{};
        op.kind = kind;
        op.bytes = kind == PTI_LAUNCH ? 0 : work;
        op.box = polytile_domain_from_extents(1, &work);
        ops.push_back(op);
    }

    polytile_status begin() {
        schedule.op = ops.data();
        schedule.n_ops = static_cast<int64_t>(ops.size());
        execution = {};
        execution.device = &cuda.device;
        execution.schedule = &schedule;
        execution.report = &report;
        execution.progress = pti_progress_begin(&schedule);
        pti_trace_run_begin(&cuda.device, &schedule);
        return pti_cuda_timing_begin(timing, &execution);
    }

    /** What an operation takes: 2 ns a thread, 1 ns a byte. */
    static int64_t time_ns(const pti_op &op) {
        return op.kind == PTI_LAUNCH ? 2 * op.box.range[0].hi + 2 : op.bytes;
    }

    pti_command command_of(int64_t k) const {
        pti_command command{};
        command.op = &ops[static_cast<size_t>(k)];
        command.index = k;
        return command;
    }

    polytile_status submit(int64_t k) {
        polytile_status status = POLYTILE_OK;
        const pti_command command = command_of(k);
        PTI_TRY(pti_cuda_timing_start(timing, &command));
        simulated.end_ns[pti_op_stream(command.op)] += time_ns(*command.op);
        PTI_TRY(pti_cuda_timing_stop(timing, &command));
        if (keeps_up)
            wait();
        PTI_TRY(pti_cuda_timing_harvest(timing));
    done:
        return status;
    }

    void wait() {
        for (const int64_t end_ns : simulated.end_ns)
            simulated.now_ns = std::max(simulated.now_ns, end_ns);
    }

    polytile_status submit_all() {
        polytile_status status = POLYTILE_OK;
        for (int64_t k = 0; k < schedule.n_ops && status == POLYTILE_OK; k++)
            status = submit(k);
        return status;
    }

    /** A run as the device makes it. */
    polytile_status run() {
        polytile_status status = begin();
        if (status == POLYTILE_OK)
            status = submit_all();
        wait();
        if (status == POLYTILE_OK)
            status = pti_cuda_timing_end(timing);
        pti_cuda_timing_abandon(timing);
        pti_trace_run_end(&cuda.device);
        return status;
    }

    double expected_s(bool of_launches) const {
        double sum_ns = 0;
        for (const pti_op &op : ops)
            sum_ns += (op.kind == PTI_LAUNCH) == of_launches ? static_cast<double>(time_ns(op)) : 0;
        return 1e-9 * sum_ns;
    }

    void expect_times_of_the_report() const {
        EXPECT_NEAR(report.compute_s, expected_s(true), 1e-6 * expected_s(true));
        EXPECT_NEAR(report.transfer_s, expected_s(false), 1e-6 * expected_s(false));
    }

    /** Operations of all streams with random work. */
    void add_random(int64_t n_of_each, Random *random) {
        for (int64_t k = 0; k < n_of_each; k++) {
            add(PTI_UPLOAD, random->number(1000, 90000));
            add(PTI_LAUNCH, random->number(1000, 90000));
            add(PTI_DOWNLOAD, random->number(1000, 90000));
        }
    }

    Gpu simulated;
    bool keeps_up = true; /* the GPU, with what is submitted */
    const pti_cuda_api api = api_of_gpu();
    polytile_context *ctx = nullptr;
    pti_cuda_device cuda = {};
    pti_cuda_timing *timing = nullptr;
    std::vector<pti_op> ops;
    pti_operand operand = {};
    pti_placement placement = {};
    pti_instance instance = {};
    pti_schedule_launch launch = {{&instance, nullptr}, 0, 0, 0};
    pti_schedule schedule = {};
    pti_execution execution = {};
    polytile_report report = {};
    const std::string path =
        ::testing::TempDir() + "polytile-" + std::to_string(getpid()) + ".json";
};

TEST_F(CudaTiming, CountsCopiesAmongTransfersAndFillsWithKernels) {
    add(PTI_UPLOAD, 1000);
    add(PTI_COPY, 20000);
    add(PTI_FILL, 300000);
    add(PTI_LAUNCH, 4000000);
    add(PTI_DOWNLOAD, 50000000);
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    EXPECT_EQ(simulated.n_records, 2 * 5);
    EXPECT_NEAR(report.compute_s, 8.3e-3, 1e-9);
    EXPECT_NEAR(report.transfer_s, 50.021e-3, 1e-8);
}

TEST_F(CudaTiming, OfLaunchesSideBySideTheLongerSideCounts) {
    schedule.n_lanes = 2;
    for (const int lane : {0, 1, 1}) {
        add(PTI_LAUNCH, 1000000);
        ops.back().lane = lane;
    }
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    EXPECT_NEAR(report.compute_s, 4e-3, 1e-9);
    EXPECT_EQ(report.transfer_s, 0);
}

TEST_F(CudaTiming, OfSomeHundredOperationsTellsTheTimeOfAll) {
    Random random(test_seed("CudaTiming.OfSomeHundredOperationsTellsTheTimeOfAll"));
    for (const int64_t n_of_each : {1, 15, 31, 32, 33, 3000, 40000}) {
        ops.clear();
        add_random(n_of_each, &random);
        create();
        simulated.n_records = 0;
        ASSERT_EQ(run(), POLYTILE_OK);
        EXPECT_GE(simulated.n_records, 2 * 3 * std::min(n_of_each, int64_t{16})) << n_of_each;
        EXPECT_LE(simulated.n_records, 2 * 3 * std::min(n_of_each, int64_t{32})) << n_of_each;
        expect_times_of_the_report();
        pti_cuda_timing_destroy(timing);
        timing = nullptr;
    }
}

TEST_F(CudaTiming, OfARareStreamIsNotDiluted) {
    for (int k = 0; k < 5000; k++)
        add(PTI_LAUNCH, 1000);
    add(PTI_DOWNLOAD, 123456);
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    expect_times_of_the_report();
}

TEST_F(CudaTiming, OfAnEmptyRunIsZero) {
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    EXPECT_EQ(report.compute_s, 0);
    EXPECT_EQ(report.transfer_s, 0);
}

TEST_F(CudaTiming, UsesItsEventsAgain) {
    Random random(1);
    add_random(2000, &random);
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    const int64_t n_created = simulated.n_created;
    for (int k = 0; k < 5; k++) {
        ASSERT_EQ(run(), POLYTILE_OK);
        expect_times_of_the_report();
    }
    EXPECT_EQ(simulated.n_created, n_created);
    trace();
    ASSERT_EQ(run(), POLYTILE_OK);
    expect_times_of_the_report();
    EXPECT_LE(simulated.n_created, 2 * 64 + 65) << "one look takes back what it finds";
}

TEST_F(CudaTiming, NeverWaitsForAGpuThatLagsBehind) {
    Random random(1);
    add_random(2000, &random);
    keeps_up = false;
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    expect_times_of_the_report();
    EXPECT_EQ(simulated.n_waits, 0);
    EXPECT_EQ(simulated.last_error, cudaSuccess) << "not being ready is no error";
}

TEST_F(CudaTiming, SeldomAsks) {
    Random random(1);
    add_random(100000, &random);
    keeps_up = false;
    create();
    ASSERT_EQ(run(), POLYTILE_OK);
    EXPECT_LE(simulated.n_queries, 3 * 300000 / 64);
}

TEST_F(CudaTiming, OfAFailedOperationIsForgotten) {
    Random random(1);
    add_random(10, &random);
    create();
    const int64_t n_created = simulated.n_created;
    for (int k = 0; k < 100; k++) {
        ASSERT_EQ(begin(), POLYTILE_OK);
        ASSERT_EQ(submit(0), POLYTILE_OK);
        const pti_command failed = command_of(1);
        ASSERT_EQ(pti_cuda_timing_start(timing, &failed), POLYTILE_OK);
        pti_cuda_timing_abandon(timing);
    }
    ASSERT_EQ(run(), POLYTILE_OK);
    expect_times_of_the_report();
    EXPECT_EQ(simulated.n_created, n_created);
}

TEST_F(CudaTiming, PassesOnEveryFailureAndCanBeUsedOn) {
    Random random(1);
    add_random(40, &random);
    trace();
    int64_t k = 0;
    for (bool failed = true; failed; k++) {
        simulated.n_calls = 0;
        simulated.failing_call = k;
        polytile_status status = pti_cuda_timing_create(&cuda, &timing);
        if (status == POLYTILE_OK)
            status = run();
        failed = simulated.n_calls > k;
        EXPECT_EQ(status, failed ? POLYTILE_DEVICE : POLYTILE_OK) << "call " << k;
        simulated.failing_call = -1;
        if (timing != nullptr) {
            EXPECT_EQ(run(), POLYTILE_OK) << "after call " << k;
        }
        pti_cuda_timing_destroy(timing);
        timing = nullptr;
        EXPECT_EQ(simulated.n_alive, 0) << "call " << k;
    }
    EXPECT_GT(k, 4 * 120);
}

/** Starts and lengths in a trace's file, of one track. */
std::vector<std::pair<int64_t, int64_t>> slices_of(const std::string &path, int64_t track) {
    std::vector<std::pair<int64_t, int64_t>> slices;
    json_error_t error;
    json_t *root = json_load_file(path.c_str(), 0, &error);
    EXPECT_NE(root, nullptr) << error.text;
    size_t k;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), k, event) {
        const std::string phase = json_string_value(json_object_get(event, "ph"));
        if (phase == "X" && json_integer_value(json_object_get(event, "tid")) == track)
            slices.emplace_back(
                std::llround(1e3 * json_number_value(json_object_get(event, "ts"))),
                std::llround(1e3 * json_number_value(json_object_get(event, "dur"))));
    }
    json_decref(root);
    return slices;
}

TEST_F(CudaTiming, OfATracedRunOfHoursIsExactToMicroseconds) {
    Random random(test_seed("CudaTiming.OfATracedRunOfHoursIsExactToMicroseconds"));
    for (int k = 0; k < 20000; k++)
        add(PTI_LAUNCH, random.chance(50) ? random.number(1, 20) : random.number(1, 1000000000));
    create();
    trace();
    ASSERT_EQ(run(), POLYTILE_OK);
    ASSERT_EQ(polytile_device_trace(&cuda.device, nullptr), POLYTILE_OK);
    const auto slices = slices_of(path, PTI_STREAM_COMPUTE);
    ASSERT_EQ(slices.size(), ops.size());
    int64_t start_ns = 0, end_ns = 0;
    for (size_t k = 0; k < ops.size(); k++) {
        const int64_t taken_ns = time_ns(ops[k]);
        EXPECT_NEAR(static_cast<double>(slices[k].first - slices[0].first),
                    static_cast<double>(start_ns), 20000);
        EXPECT_NEAR(static_cast<double>(slices[k].second), static_cast<double>(taken_ns), 1000);
        EXPECT_GE(slices[k].first, end_ns) << "slices of a stream follow each other";
        end_ns = slices[k].first + slices[k].second;
        start_ns += taken_ns;
    }
    EXPECT_GT(start_ns, INT64_C(3600000000000));
}

TEST_F(CudaTiming, PlacesOperationsOnTheHostsClock) {
    const int64_t start_ns = 77000000000, idle_ns = 5000000000;
    add(PTI_UPLOAD, 1000);
    add(PTI_LAUNCH, 1000);
    create();
    trace();
    for (int64_t &end_ns : simulated.end_ns)
        end_ns = start_ns; /* the GPU's clock is another one */
    ASSERT_EQ(begin(), POLYTILE_OK);
    for (int64_t &end_ns : simulated.end_ns)
        end_ns += idle_ns;
    ASSERT_EQ(submit_all(), POLYTILE_OK);
    ASSERT_EQ(pti_cuda_timing_end(timing), POLYTILE_OK);
    ASSERT_EQ(polytile_device_trace(&cuda.device, nullptr), POLYTILE_OK);
    for (const int64_t track : {PTI_STREAM_IN, PTI_STREAM_COMPUTE}) {
        const auto slices = slices_of(path, track);
        ASSERT_EQ(slices.size(), 1U);
        EXPECT_GE(slices[0].first, idle_ns);
        EXPECT_LT(slices[0].first, idle_ns + 1000000000) << "the trace began just before the run";
    }
}

TEST_F(CudaTiming, TellsTheProgressBarWhatIsDone) {
    Random random(1);
    add_random(30, &random);
    keeps_up = false;
    create();
    ASSERT_EQ(begin(), POLYTILE_OK);
    execution.progress.due_s = 1e18; /* it may be shown, and is not yet */
    ASSERT_EQ(submit_all(), POLYTILE_OK);
    EXPECT_EQ(execution.progress.n_done[PTI_STREAM_OUT], 0);
    simulated.step_ns = 20000;
    ASSERT_EQ(pti_cuda_timing_watch(timing), POLYTILE_OK);
    EXPECT_EQ(execution.progress.n_done[PTI_STREAM_OUT], schedule.n_ops);
    EXPECT_EQ(execution.progress.n_done[PTI_STREAM_COMPUTE], schedule.n_ops - 1);
    EXPECT_EQ(simulated.n_waits, 0);
    ASSERT_EQ(pti_cuda_timing_end(timing), POLYTILE_OK);
    expect_times_of_the_report();
}

TEST_F(CudaTiming, DoesNotWatchWithoutAProgressBar) {
    add(PTI_LAUNCH, 1000);
    keeps_up = false;
    create();
    ASSERT_EQ(begin(), POLYTILE_OK);
    pti_progress_end(&execution.progress);
    ASSERT_EQ(submit_all(), POLYTILE_OK);
    ASSERT_EQ(pti_cuda_timing_watch(timing), POLYTILE_OK);
    EXPECT_EQ(simulated.n_queries, 0);
}

} // namespace
