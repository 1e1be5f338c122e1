#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "launch/cuda/runtime/order.h"
}

/* The runtime here knows of each stream which operations are done before what it runs next: of
 * every stream all up to one of them. */

namespace {

using Done = std::array<int64_t, PTI_MAX_STREAMS>;

struct Event {
    Done done;
    bool is_recorded;
};

struct Runtime {
    Done done[PTI_MAX_STREAMS];
    std::set<Event *> events;
    int n_made, n_records, n_waits;
    int calls_before_failure; /* negative: none fails */
};

Runtime runtime;

cudaError_t answer() {
    return runtime.calls_before_failure-- == 0 ? cudaErrorUnknown : cudaSuccess;
}

/** Streams are numbered from 1 in the place of handles. */
Done &done_before(cudaStream_t stream) {
    return runtime.done[reinterpret_cast<intptr_t>(stream) - 1];
}

Event *event_of(cudaEvent_t handle) {
    Event *event = reinterpret_cast<Event *>(handle);
    EXPECT_EQ(runtime.events.count(event), 1u);
    return event;
}

cudaError_t make_event(cudaEvent_t *handle, unsigned flags) {
    EXPECT_EQ(flags, unsigned{cudaEventDisableTiming});
    const cudaError_t error = answer();
    if (error != cudaSuccess)
        return error;
    Event *event = new Event();
    runtime.events.insert(event);
    runtime.n_made++;
    *handle = reinterpret_cast<cudaEvent_t>(event);
    return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t handle) {
    Event *event = event_of(handle);
    runtime.events.erase(event);
    delete event;
    return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream) {
    runtime.n_records++;
    *event_of(handle) = {done_before(stream), true};
    return answer();
}

cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t handle, unsigned flags) {
    const Event *event = event_of(handle);
    Done &done = done_before(stream);
    EXPECT_EQ(flags, 0u);
    EXPECT_TRUE(event->is_recorded);
    runtime.n_waits++;
    for (size_t s = 0; s < done.size(); s++)
        done[s] = std::max(done[s], event->done[s]);
    return answer();
}

/** A schedule of operations of which only the kinds and the waits count. */
struct Schedule {
    void add(pti_op_kind kind, const std::vector<int64_t> &waits) {
        pti_op op = {};
        op.kind = kind;
        op.first_wait = static_cast<int64_t>(wait.size());
        op.n_waits = static_cast<int>(waits.size());
        ops.push_back(op);
        wait.insert(wait.end(), waits.begin(), waits.end());
    }
    const pti_schedule *get() {
        schedule.n_lanes = PTI_MAX_LANES;
        schedule.n_ops = static_cast<int64_t>(ops.size());
        schedule.op = ops.data();
        schedule.n_waits = static_cast<int64_t>(wait.size());
        schedule.wait = wait.data();
        return &schedule;
    }

    std::vector<pti_op> ops;
    std::vector<int64_t> wait;
    pti_schedule schedule = {};
};

Schedule random_schedule(Random &random, int64_t n_ops) {
    Schedule schedule;
    for (int64_t k = 0; k < n_ops; k++) {
        std::vector<int64_t> waits;
        for (int64_t w = random.number(0, 4); w > 0 && k > 0; w--)
            waits.push_back(random.number(std::max<int64_t>(0, k - 20), k - 1));
        const auto kind = static_cast<pti_op_kind>(random.number(PTI_UPLOAD, PTI_DOWNLOAD));
        schedule.add(kind, waits);
        if ((kind == PTI_LAUNCH || kind == PTI_FILL) && random.chance(50))
            schedule.ops.back().lane = static_cast<int>(random.number(1, 6));
    }
    return schedule;
}

/** Of a pipeline: upload, launch, download, and an upload into the same place. */
Schedule pipeline(int64_t n_superblocks) {
    Schedule schedule;
    for (int64_t k = 0; k < n_superblocks; k++) {
        const int64_t before = 3 * (k - 2);
        schedule.add(PTI_UPLOAD, k < 2 ? std::vector<int64_t>{} : std::vector<int64_t>{before + 1});
        schedule.add(PTI_LAUNCH, k < 2 ? std::vector<int64_t>{3 * k}
                                       : std::vector<int64_t>{before + 1, before + 2, 3 * k});
        schedule.add(PTI_DOWNLOAD, {3 * k + 1});
    }
    return schedule;
}

struct Gpu {
    Gpu() {
        runtime = {};
        runtime.calls_before_failure = -1;
        api.cudaEventCreateWithFlags = make_event;
        api.cudaEventDestroy = destroy_event;
        api.cudaEventRecord = record_event;
        api.cudaStreamWaitEvent = wait_for_event;
        api.cudaGetLastError = [] { return cudaSuccess; };
        api.cudaMemGetInfo = [](size_t *, size_t *) { return cudaSuccess; };
        polytile_context_create(&context);
        cuda.device.object.context = context;
        cuda.api = &api;
        cuda.n_lanes = PTI_MAX_LANES;
        for (intptr_t s = 0; s < PTI_MAX_STREAMS; s++)
            cuda.stream[s] = reinterpret_cast<cudaStream_t>(s + 1);
        EXPECT_EQ(pti_cuda_order_create(&cuda, &order), POLYTILE_OK);
    }
    ~Gpu() {
        pti_cuda_order_destroy(order);
        EXPECT_TRUE(runtime.events.empty());
        polytile_context_destroy(context);
    }
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    polytile_status submit(const pti_schedule *schedule, int64_t k) {
        pti_command command = {};
        command.op = &schedule->op[k];
        command.index = k;
        polytile_status status = pti_cuda_order_wait(order, &command);
        if (status != POLYTILE_OK)
            return status;
        const pti_stream stream = pti_op_stream(command.op);
        for (int w = 0; w < command.op->n_waits; w++) {
            const int64_t other = schedule->wait[command.op->first_wait + w];
            const pti_stream others = pti_op_stream(&schedule->op[other]);
            EXPECT_GE(runtime.done[stream][others], other + 1);
        }
        runtime.done[stream][stream] = k + 1;
        return pti_cuda_order_record(order, &command);
    }

    /** Run a schedule up to an error; every operation must find done what it waits for. */
    polytile_status run(const pti_schedule *schedule) {
        std::fill(std::begin(runtime.done), std::end(runtime.done), Done{});
        runtime.n_records = runtime.n_waits = 0;
        polytile_status status = pti_cuda_order_begin(order, schedule);
        for (int64_t k = 0; k < schedule->n_ops && status == POLYTILE_OK; k++)
            status = submit(schedule, k);
        pti_cuda_order_end(order);
        return status;
    }

    polytile_context *context = nullptr;
    pti_cuda_api api = {};
    pti_cuda_device cuda = {};
    pti_cuda_order *order = nullptr;
};

TEST(CudaOrder, LetsEveryOperationFindDoneWhatItWaitsFor) {
    Random random(test_seed("CudaOrder.LetsEveryOperationFindDoneWhatItWaitsFor"));
    Gpu gpu;
    for (int64_t round = 0; round < scaled(300) && !HasFailure(); round++) {
        Schedule schedule = random_schedule(random, random.number(0, 200));
        EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
        EXPECT_LE(runtime.n_records, runtime.n_waits);
    }
}

TEST(CudaOrder, EnqueuesNoWaitThatTheStreamsImply) {
    const struct {
        std::vector<std::pair<pti_op_kind, std::vector<int64_t>>> ops;
        int n_records, n_waits;
    } rows[] = {
        {{{PTI_UPLOAD, {}}, {PTI_UPLOAD, {0}}, {PTI_COPY, {0, 1}}}, 0, 0},
        {{{PTI_FILL, {}}, {PTI_FILL, {0}}, {PTI_LAUNCH, {0, 1}}}, 0, 0},
        {{{PTI_UPLOAD, {}}, {PTI_LAUNCH, {0}}, {PTI_LAUNCH, {0}}, {PTI_DOWNLOAD, {2}}}, 2, 2},
        {{{PTI_UPLOAD, {}}, {PTI_UPLOAD, {}}, {PTI_LAUNCH, {1}}, {PTI_LAUNCH, {0}}}, 1, 1},
        {{{PTI_UPLOAD, {}}, {PTI_LAUNCH, {0}}, {PTI_DOWNLOAD, {0}}}, 1, 2},
        {{{PTI_UPLOAD, {}}, {PTI_UPLOAD, {}}, {PTI_LAUNCH, {0, 1}}}, 1, 1},
    };
    for (const auto &row : rows) {
        Gpu gpu;
        Schedule schedule;
        for (const auto &[kind, waits] : row.ops)
            schedule.add(kind, waits);
        EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
        SCOPED_TRACE(&row - rows);
        EXPECT_EQ(runtime.n_records, row.n_records);
        EXPECT_EQ(runtime.n_waits, row.n_waits);
    }
}

TEST(CudaOrder, UsesItsEventsAgain) {
    Gpu gpu;
    const int n_at_first = runtime.n_made;
    Schedule schedule = pipeline(10000);
    EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
    EXPECT_GT(runtime.n_records, n_at_first);
    EXPECT_EQ(runtime.n_made, n_at_first);
}

TEST(CudaOrder, MakesAsManyEventsAsAreWaitedForAtOnce) {
    Gpu gpu;
    Schedule schedule;
    const int64_t n = 1000;
    for (int64_t k = 0; k < n; k++)
        schedule.add(PTI_UPLOAD, {});
    for (int64_t k = 0; k < n; k++)
        schedule.add(PTI_LAUNCH, {k});
    for (int run = 0; run < 2; run++) {
        EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
        EXPECT_EQ(runtime.n_made, n);
    }
}

TEST(CudaOrder, TakesBackAllEventsOfARunThatFailed) {
    Gpu gpu;
    Schedule schedule = pipeline(30);
    ASSERT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
    const int n_calls = runtime.n_records + runtime.n_waits, n_made = runtime.n_made;
    for (int k = 0; k < n_calls; k++) {
        runtime.calls_before_failure = k;
        EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_DEVICE);
        EXPECT_NE(std::string(polytile_last_error(gpu.context)).find("Event"), std::string::npos);
        runtime.calls_before_failure = -1;
        EXPECT_EQ(gpu.run(schedule.get()), POLYTILE_OK);
        EXPECT_EQ(runtime.n_made, n_made);
    }
}

TEST(CudaOrder, LeavesNothingBehindWhenItsFirstEventsCannotBeMade) {
    Gpu gpu;
    const size_t n_events = runtime.events.size();
    pti_cuda_order *order = nullptr;
    runtime.calls_before_failure = 5;
    EXPECT_EQ(pti_cuda_order_create(&gpu.cuda, &order), POLYTILE_DEVICE);
    EXPECT_EQ(order, nullptr);
    EXPECT_EQ(runtime.events.size(), n_events);
}

} // namespace
