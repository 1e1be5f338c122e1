#include "launch/cases.h"
#include "support/failing_api.h"
#include "support/fake_cuda.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

/* The runtime that other tests stand on: it must be wrong where a GPU could be. */

namespace {

constexpr int n_seeds = 60;

const polytile_implementation &add() {
    return *all_cases()[0].implementation;
}

const void *symbol_of(const polytile_implementation &implementation) {
    return reinterpret_cast<const void *>(implementation.host);
}

/** Two streams, an event, an upload and a download between pinned memory and the device. */
struct Bench {
    explicit Bench(uint64_t seed, const FakeCuda::Options &options = FakeCuda::Options())
        : cuda(seed, options) {
        cuda.host().declare(byte_range(in.data(), sizeof in), cudaMemoryTypeHost);
        cuda.host().declare(byte_range(out.data(), sizeof out), cudaMemoryTypeHost);
        in.fill(1);
        out.fill(0);
        for (cudaStream_t &stream : streams)
            EXPECT_EQ(api().cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        EXPECT_EQ(api().cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
        void *memory = nullptr;
        EXPECT_EQ(api().cudaMalloc(&memory, sizeof in), cudaSuccess);
        device = static_cast<int *>(memory);
    }

    static const pti_cuda_api &api() { return *pti_cuda_current_api; }

    void upload() {
        EXPECT_EQ(
            api().cudaMemcpyAsync(device, in.data(), sizeof in, cudaMemcpyHostToDevice, streams[0]),
            cudaSuccess);
    }
    void download() {
        EXPECT_EQ(api().cudaMemcpyAsync(out.data(), device, sizeof out, cudaMemcpyDeviceToHost,
                                        streams[1]),
                  cudaSuccess);
    }
    void finish() {
        for (cudaStream_t stream : streams)
            EXPECT_EQ(api().cudaStreamSynchronize(stream), cudaSuccess);
    }

    FakeCuda cuda;
    std::array<int, 64> in, out;
    cudaStream_t streams[2] = {};
    cudaEvent_t event = nullptr;
    int *device = nullptr;
};

/** How many of many seeds a run of calls comes out right with. */
int n_right(const std::function<void(Bench &)> &calls) {
    int n = 0;
    for (int seed = 0; seed < n_seeds; seed++) {
        Bench bench(static_cast<uint64_t>(seed));
        calls(bench);
        n += bench.out == bench.in;
        EXPECT_EQ(bench.cuda.violations(), "");
    }
    return n;
}

TEST(FakeCuda, AMissingWaitShowsWithSomeSeed) {
    const int n = n_right([](Bench &bench) {
        bench.upload();
        bench.download();
        bench.finish();
    });
    EXPECT_GT(n, 0);
    EXPECT_LT(n, n_seeds);
}

TEST(FakeCuda, AWaitIsKept) {
    EXPECT_EQ(n_right([](Bench &bench) {
                  bench.upload();
                  Bench::api().cudaEventRecord(bench.event, bench.streams[0]);
                  Bench::api().cudaStreamWaitEvent(bench.streams[1], bench.event, 0);
                  bench.download();
                  bench.finish();
              }),
              n_seeds);
}

TEST(FakeCuda, AWaitForAnEventNeverRecordedIsNone) {
    EXPECT_LT(n_right([](Bench &bench) {
                  Bench::api().cudaStreamWaitEvent(bench.streams[1], bench.event, 0);
                  bench.upload();
                  Bench::api().cudaEventRecord(bench.event, bench.streams[0]);
                  bench.download();
                  bench.finish();
              }),
              n_seeds);
}

TEST(FakeCuda, AnEventCanBeRecordedAgainAndDestroyedBeforeItsWaitsAreOver) {
    EXPECT_EQ(n_right([](Bench &bench) {
                  bench.upload();
                  Bench::api().cudaEventRecord(bench.event, bench.streams[0]);
                  Bench::api().cudaStreamWaitEvent(bench.streams[1], bench.event, 0);
                  Bench::api().cudaEventRecord(bench.event, bench.streams[1]);
                  Bench::api().cudaEventDestroy(bench.event);
                  bench.download();
                  bench.finish();
              }),
              n_seeds);
}

TEST(FakeCuda, APinnedCopyReadsItsMemoryWhenItRuns) {
    Bench bench(1);
    bench.upload();
    bench.in.fill(2);
    bench.finish();
    EXPECT_EQ(bench.device[0], 2);
}

TEST(FakeCuda, APageableCopyIsDoneAtOnceAndCounted) {
    Bench bench(1);
    std::vector<int> pageable(64, 7);
    bench.upload();
    ASSERT_EQ(Bench::api().cudaMemcpyAsync(bench.device, pageable.data(), sizeof bench.in,
                                           cudaMemcpyHostToDevice, bench.streams[0]),
              cudaSuccess);
    EXPECT_EQ(bench.device[0], 7);
    EXPECT_EQ(bench.cuda.n_pageable_copies(), 1);
}

TEST(FakeCuda, QueryingAnEventLetsItHappenSoonerOrLater) {
    Bench bench(1);
    bench.upload();
    Bench::api().cudaEventRecord(bench.event, bench.streams[0]);
    EXPECT_EQ(bench.cuda.n_pending(), 2);
    while (Bench::api().cudaEventQuery(bench.event) == cudaErrorNotReady)
        continue;
    EXPECT_EQ(bench.cuda.n_pending(), 0);
    EXPECT_EQ(bench.device[0], 1);
}

TEST(FakeCuda, TimeGoesOnBetweenEvents) {
    Bench bench(1);
    cudaEvent_t events[2];
    float milliseconds = 0;
    for (cudaEvent_t &event : events) {
        Bench::api().cudaEventCreateWithFlags(&event, cudaEventDefault);
        Bench::api().cudaEventRecord(event, bench.streams[0]);
    }
    EXPECT_EQ(Bench::api().cudaEventElapsedTime(&milliseconds, events[0], events[1]),
              cudaErrorNotReady);
    Bench::api().cudaEventSynchronize(events[1]);
    EXPECT_EQ(Bench::api().cudaEventElapsedTime(&milliseconds, events[0], events[1]), cudaSuccess);
    EXPECT_GT(milliseconds, 0);
    EXPECT_EQ(Bench::api().cudaEventElapsedTime(&milliseconds, events[0], bench.event),
              cudaErrorInvalidResourceHandle);
}

TEST(FakeCuda, MemoryIsTakenInGranulesUntilItIsShort) {
    FakeCuda::Options options;
    options.total_bytes = 10 * FakeDeviceMemory::granule_bytes;
    options.streams_bytes = FakeDeviceMemory::granule_bytes;
    Bench bench(1, options);
    bench.cuda.memory().others_bytes = 4 * FakeDeviceMemory::granule_bytes;
    size_t free_bytes = 0, total_bytes = 0;
    Bench::api().cudaMemGetInfo(&free_bytes, &total_bytes);
    EXPECT_EQ(total_bytes, options.total_bytes);
    EXPECT_EQ(free_bytes, 4 * FakeDeviceMemory::granule_bytes);
    void *memory = nullptr;
    EXPECT_EQ(Bench::api().cudaMalloc(&memory, 4 * FakeDeviceMemory::granule_bytes + 1),
              cudaErrorMemoryAllocation);
    EXPECT_EQ(Bench::api().cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(Bench::api().cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(Bench::api().cudaMalloc(&memory, 4 * FakeDeviceMemory::granule_bytes), cudaSuccess);
    EXPECT_EQ(Bench::api().cudaFree(memory), cudaSuccess);
    EXPECT_EQ(bench.cuda.memory().free_bytes(), free_bytes);
    EXPECT_EQ(bench.cuda.memory().peak_bytes(), 6 * FakeDeviceMemory::granule_bytes);
}

TEST(FakeCuda, CopiesOutsideOfAllocationsAreRefused) {
    Bench bench(1);
    const size_t n_bytes = sizeof bench.in;
    const pti_cuda_api &api = Bench::api();
    EXPECT_EQ(api.cudaMemcpyAsync(bench.device + 1, bench.in.data(), n_bytes,
                                  cudaMemcpyHostToDevice, bench.streams[0]),
              cudaErrorInvalidValue);
    EXPECT_EQ(api.cudaMemcpyAsync(bench.in.data(), bench.out.data(), n_bytes,
                                  cudaMemcpyHostToDevice, bench.streams[0]),
              cudaErrorInvalidValue);
    EXPECT_EQ(api.cudaMemcpy2DAsync(bench.device, 64, bench.in.data(), 32, 33, 2,
                                    cudaMemcpyHostToDevice, bench.streams[0]),
              cudaErrorInvalidPitchValue);
    EXPECT_EQ(api.cudaMemset2DAsync(bench.device, 64, 0, 64, 5, bench.streams[0]),
              cudaErrorInvalidValue);
}

TEST(FakeCuda, APendingCopyWhoseMemoryGoesAwayIsAViolation) {
    Bench bench(1);
    std::vector<int> memory(64);
    const pti_cuda_api &api = Bench::api();
    ASSERT_EQ(api.cudaHostRegister(memory.data(), sizeof bench.in, 0), cudaSuccess);
    api.cudaMemcpyAsync(bench.device, memory.data(), sizeof bench.in, cudaMemcpyHostToDevice,
                        bench.streams[0]);
    ASSERT_EQ(api.cudaHostUnregister(memory.data()), cudaSuccess);
    bench.finish();
    EXPECT_NE(bench.cuda.violations(), "");
}

TEST(FakeCuda, HostMemoryIsRegisteredOnce) {
    Bench bench(1);
    std::vector<char> memory(100);
    const pti_cuda_api &api = Bench::api();
    cudaPointerAttributes attributes;
    EXPECT_EQ(api.cudaHostRegister(memory.data(), 100, 0), cudaSuccess);
    EXPECT_EQ(api.cudaHostRegister(memory.data() + 50, 10, 0),
              cudaErrorHostMemoryAlreadyRegistered);
    api.cudaPointerGetAttributes(&attributes, memory.data() + 99);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(bench.cuda.leaks(), "1 allocations, 2 streams, 1 events, 1 registrations");
    EXPECT_EQ(api.cudaHostUnregister(memory.data()), cudaSuccess);
    EXPECT_EQ(api.cudaHostUnregister(memory.data()), cudaErrorHostMemoryNotRegistered);
    api.cudaPointerGetAttributes(&attributes, memory.data());
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
    api.cudaPointerGetAttributes(&attributes, bench.device);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
}

TEST(FakeCuda, BoxesAreCopiedWithTheirPitches) {
    Bench bench(1);
    for (size_t k = 0; k < bench.in.size(); k++)
        bench.in[k] = static_cast<int>(k);
    bench.upload();
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = {bench.device, 4 * sizeof(int), 4, 4};
    parms.srcPos = {sizeof(int), 1, 2};
    parms.dstPtr = {bench.out.data(), 2 * sizeof(int), 2, 2};
    parms.extent = {2 * sizeof(int), 2, 2};
    parms.kind = cudaMemcpyDeviceToHost;
    ASSERT_EQ(Bench::api().cudaMemcpy3DAsync(&parms, bench.streams[0]), cudaSuccess);
    bench.finish();
    const int expected[] = {37, 38, 41, 42, 53, 54, 57, 58};
    EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), bench.out.begin()));
}

/** Launches of add over 8 threads in the bench's device memory. */
struct AddLaunch {
    explicit AddLaunch(const Bench &bench) : threads(bounds({0}, {7})) {
        for (int k = 0; k < 3; k++) {
            views[k].origin = bench.device + 8 * k;
            views[k].stride_bytes[0] = sizeof(int);
            views[k].resident = threads;
            arguments[1 + k] = &views[k];
        }
        arguments[0] = &threads;
    }

    cudaError_t launch(const Bench &bench, dim3 grid, dim3 block) {
        return Bench::api().cudaLaunchKernel(symbol_of(add()), grid, block, arguments, 0,
                                             bench.streams[0]);
    }

    polytile_domain threads;
    polytile_view views[3] = {};
    void *arguments[4];
};

TEST(FakeCuda, KernelsRunOverTheirBoxWithTheArgumentsOfTheCall) {
    Bench bench(1);
    bench.cuda.add_kernel(symbol_of(add()), add());
    AddLaunch of(bench);
    bench.in.fill(0x40000000); /* 2.0f */
    bench.upload();
    ASSERT_EQ(of.launch(bench, {2, 1, 1}, {4, 1, 1}), cudaSuccess);
    of = AddLaunch(bench);
    of.views[0].origin = nullptr;
    bench.finish();
    EXPECT_EQ(reinterpret_cast<float *>(bench.device)[16], 4.0f);
    EXPECT_EQ(bench.cuda.violations(), "");
}

TEST(FakeCuda, GridsMustCoverTheBoxWithinCudasLimits) {
    Bench bench(1);
    bench.cuda.add_kernel(symbol_of(add()), add());
    AddLaunch of(bench);
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {7, 1, 1}), cudaErrorInvalidConfiguration);
    EXPECT_NE(bench.cuda.violations(), "");
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {1025, 1, 1}), cudaErrorInvalidConfiguration);
    EXPECT_EQ(of.launch(bench, {8, 65536, 1}, {1, 1, 1}), cudaErrorInvalidConfiguration);
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {8, 1, 65}), cudaErrorInvalidConfiguration);
}

TEST(FakeCuda, UnknownSymbolsAreNoKernels) {
    Bench bench(1);
    AddLaunch of(bench);
    cudaFuncAttributes attributes;
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {8, 1, 1}), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(Bench::api().cudaFuncGetAttributes(&attributes, symbol_of(add())),
              cudaErrorInvalidDeviceFunction);
}

TEST(FakeCuda, AFaultEndsEverythingButGivingBack) {
    Bench bench(1);
    bench.cuda.add_kernel(symbol_of(add()), add());
    bench.cuda.let_kernel_fault(2);
    AddLaunch of(bench);
    const pti_cuda_api &api = Bench::api();
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {8, 1, 1}), cudaSuccess);
    bench.finish();
    EXPECT_EQ(of.launch(bench, {1, 1, 1}, {8, 1, 1}), cudaSuccess);
    EXPECT_EQ(api.cudaStreamSynchronize(bench.streams[0]), cudaErrorIllegalAddress);
    int n_devices = 0;
    void *memory = nullptr;
    EXPECT_EQ(api.cudaGetDeviceCount(&n_devices), cudaErrorIllegalAddress);
    EXPECT_EQ(api.cudaMalloc(&memory, 1), cudaErrorIllegalAddress);
    EXPECT_EQ(api.cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(api.cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(api.cudaFree(bench.device), cudaErrorIllegalAddress);
    EXPECT_EQ(bench.cuda.leaks(), "2 streams, 1 events");
}

TEST(FakeCuda, WithoutGpusEveryCallSaysSo) {
    FakeCuda::Options options;
    options.n_devices = 0;
    options.no_gpu_error = cudaErrorInsufficientDriver;
    FakeCuda cuda(1, options);
    int n_devices = 0;
    EXPECT_EQ(pti_cuda_current_api->cudaGetDeviceCount(&n_devices), cudaErrorInsufficientDriver);
    EXPECT_EQ(pti_cuda_current_api->cudaSetDevice(0), cudaErrorInsufficientDriver);
}

TEST(FakeCuda, EachCallCanFailOnce) {
    FakeCuda cuda(1);
    FailingApi failing;
    const pti_cuda_api &api = *pti_cuda_current_api;
    void *memory = nullptr;
    failing.let_fail(2);
    EXPECT_EQ(api.cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(failing.failed(), "");
    EXPECT_EQ(api.cudaMalloc(&memory, 1), cudaErrorMemoryAllocation);
    EXPECT_EQ(failing.failed(), "cudaMalloc");
    EXPECT_EQ(api.cudaMalloc(&memory, 1), cudaSuccess);
    failing.let_fail(1, "cudaFree", cudaErrorLaunchFailure);
    EXPECT_EQ(api.cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(api.cudaFree(memory), cudaErrorLaunchFailure);
    EXPECT_EQ(cuda.leaks(), "");
    EXPECT_EQ(cuda.n_calls("cudaSetDevice"), 2);
}

} // namespace
