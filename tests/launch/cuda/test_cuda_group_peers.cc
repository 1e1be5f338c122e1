#include "launch/cuda/product.h"
#include "support/environment.h"
#include "support/failing_api.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>

/* Queues over several GPUs that are linked, or not, on a runtime that needs none. */

namespace {

/** The bytes of one product, which must be right. */
Bytes bytes_of_product(int n_devices, bool are_linked, const std::string &options, int64_t n,
                       uint64_t seed) {
    FakeCuda cuda(seed, gpus(n_devices, are_linked));
    add_program_kernels(cuda);
    Bytes before, after;
    {
        Product product(devices_text(n_devices, options), n);
        before = bytes_of(cuda, n_devices);
        EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
        product.expect_right();
        after = bytes_of(cuda, n_devices);
        EXPECT_EQ(product.report.h2d_bytes, after.up - before.up);
        EXPECT_EQ(product.report.p2p_bytes, after.between - before.between);
        EXPECT_EQ(cuda.n_pending(), 0);
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return {after.up - before.up, after.between - before.between};
}

TEST(GroupPeers, WhatAllReadCrossesTheHostLinkOnce) {
    const int64_t n = 64, array_bytes = 4 * n * n;
    for (const char *options : {"(memory=1MiB)", "(memory=1MiB,threads=1)", ""}) {
        const Bytes bytes = bytes_of_product(2, true, options, n, 1);
        EXPECT_EQ(bytes.up, 2 * array_bytes) << options;
        EXPECT_EQ(bytes.between, array_bytes) << options;
    }
}

TEST(GroupPeers, WithoutLinksAllGoesThroughTheHost) {
    const int64_t n = 64, array_bytes = 4 * n * n;
    const Bytes bytes = bytes_of_product(2, false, "(memory=1MiB)", n, 1);
    EXPECT_EQ(bytes.up, 3 * array_bytes);
    EXPECT_EQ(bytes.between, 0);
}

/** Each of four needs half of A and half of B. */
TEST(GroupPeers, OfFourEachPairSharesItsPanels) {
    const int64_t n = 64, array_bytes = 4 * n * n;
    const Bytes bytes = bytes_of_product(4, true, "(memory=1MiB)", n, 1);
    EXPECT_EQ(bytes.up, 2 * array_bytes);
    EXPECT_EQ(bytes.between, 2 * array_bytes);
}

/** Panels that come and go while the devices run, each over memory that others still copy from. */
TEST(GroupPeers, PanelsThatDoNotStayCrossOnceToo) {
    Random random(test_seed("GroupPeers.PanelsThatDoNotStayCrossOnceToo"));
    for (int64_t round = 0; round < scaled(12) && !testing::Test::HasFailure(); round++) {
        const std::string options = "(memory=" + std::to_string(random.one_of({9, 12, 17, 24})) +
                                    "KiB,threads=" + std::to_string(random.number(1, 2)) + ")";
        const int n_devices = static_cast<int>(random.one_of({2, 2, 4}));
        const int64_t n = random.one_of({64, 80, 96});
        const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
        const Bytes apart = bytes_of_product(n_devices, false, options, n, seed);
        const Bytes linked = bytes_of_product(n_devices, true, options, n, seed);
        EXPECT_EQ(linked.up + linked.between, apart.up);
        EXPECT_GE(linked.between, 4 * n * n) << n_devices << options << " n " << n;
    }
}

TEST(GroupPeers, ItIsToldWhichDevicesAreLinked) {
    for (const bool are_linked : {true, false}) {
        FakeCuda cuda(1, gpus(2, are_linked));
        add_program_kernels(cuda);
        Environment environment;
        environment.set("POLYTILE_LOG", "info");
        testing::internal::CaptureStderr();
        { const Product product("cuda:0,cuda:1,host", 8); }
        const std::string log = testing::internal::GetCapturedStderr();
        const char *const said = are_linked ? "cuda:0 and cuda:1 copy from each other's memory"
                                            : "cuda:0 and cuda:1 do not copy from each other's "
                                              "memory (CUDA finds no link between them)";
        EXPECT_NE(log.find(said), std::string::npos) << log;
        EXPECT_NE(log.find("(a host has no such memory)"), std::string::npos) << log;
    }
}

/** Failures that a run may get over; those of what waits at its end are told by what comes next. */
bool may_be_survived(const std::string &call) {
    const char *const calls[] = {"cudaMalloc",
                                 "cudaHostRegister",
                                 "cudaGetLastError",
                                 "cudaDeviceCanAccessPeer",
                                 "cudaDeviceEnablePeerAccess",
                                 "cudaEventSynchronize"};
    return std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

/** Whether the call that was to fail came. */
bool survives(const std::string &devices, int64_t n_th, const std::string &name) {
    FakeCuda cuda(static_cast<uint64_t>(n_th), gpus(2, true));
    FailingApi failing;
    bool has_failed = false;
    add_program_kernels(cuda);
    {
        Product product(devices, 48);
        EXPECT_EQ(product.status, POLYTILE_OK) << product.error();
        failing.let_unpinning_linger(300);
        failing.let_fail(n_th, name, cudaErrorUnknown);
        const polytile_status status = product.run();
        failing.stop();
        has_failed = !failing.failed().empty();
        if (status == POLYTILE_OK) {
            EXPECT_TRUE(!has_failed || may_be_survived(failing.failed())) << failing.failed();
            product.expect_right();
        } else {
            EXPECT_EQ(status, POLYTILE_DEVICE) << product.error();
            EXPECT_NE(product.error().find(failing.failed()), std::string::npos) << product.error();
            EXPECT_TRUE(product.is_marked());
        }
        EXPECT_EQ(cuda.n_pending(), 0) << failing.failed();
        EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
        product.expect_right();
    }
    EXPECT_EQ(cuda.violations(), "") << failing.failed();
    EXPECT_EQ(cuda.leaks(), "") << failing.failed();
    return has_failed;
}

/** Each call fails in turn until it does not come any more. */
void let_calls_fail(const std::string &devices) {
    const char *const calls[] = {
        "cudaMemcpyPeerAsync", "cudaMemcpy3DPeerAsync", "cudaEventCreateWithFlags",
        "cudaEventRecord",     "cudaStreamWaitEvent",   "cudaEventSynchronize",
        "cudaMemcpyAsync",     "cudaMemcpy2DAsync",     "cudaStreamSynchronize"};
    for (const char *call : calls) {
        int64_t n = 1;
        while (n <= scaled(12) && survives(devices, n, call) && !testing::Test::HasFailure())
            n++;
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "call " << n << " of " << call << ", " << devices;
            return;
        }
    }
}

TEST(GroupPeers, EveryFailingCallIsToldAndSurvived) {
    for (const char *options : {"(memory=1MiB)", "(memory=12KiB)", "(memory=12KiB,threads=1)"})
        let_calls_fail(devices_text(2, options));
}

/** With one thread to copy it pays to pin what with several goes through buffers: what one device
 * pins and unpins, the other may be about to upload. */
TEST(GroupPeers, DevicesThatPinDifferentlySurviveToo) {
    let_calls_fail("cuda:0(memory=12KiB,threads=1),cuda:1(memory=12KiB,threads=8)");
}

TEST(GroupPeers, LinksThatCannotBeOpenedAreDoneWithout) {
    for (const char *call : {"cudaDeviceCanAccessPeer", "cudaDeviceEnablePeerAccess"}) {
        FakeCuda cuda(1, gpus(2, true));
        FailingApi failing;
        add_program_kernels(cuda);
        {
            failing.let_fail(1, call, cudaErrorUnknown);
            Product product("cuda:0,cuda:1", 32);
            EXPECT_EQ(failing.failed(), call);
            EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
            product.expect_right();
            EXPECT_EQ(product.report.p2p_bytes, 0);
        }
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
    }
}

/** Links stay open: another queue finds them so. */
TEST(GroupPeers, LinksThatAreOpenAreUsedAgain) {
    FakeCuda cuda(1, gpus(2, true));
    add_program_kernels(cuda);
    for (int queue = 0; queue < 2; queue++) {
        Product product("cuda:0,cuda:1", 32);
        EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
        product.expect_right();
        EXPECT_EQ(product.report.p2p_bytes, product.array_bytes());
    }
    EXPECT_EQ(cuda.violations(), "");
}

int64_t run_program(const std::string &devices, const FakeCuda::Options &gpus, uint64_t seed) {
    int64_t n_launched = 0;
    FakeCuda cuda(seed, gpus);
    add_program_kernels(cuda);
    {
        Random random(seed);
        Program::Options options;
        options.n = random.one_of({5, 16, 24});
        options.n_steps = static_cast<int>(random.one_of({5, 30, 60}));
        options.implementations = &fake_program_kernels();
        Program program(devices, options, &random);
        program.run();
        n_launched = program.n_launched();
        EXPECT_EQ(cuda.n_pending(), 0);
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return n_launched;
}

TEST(GroupPeers, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("GroupPeers.ResultsAreThoseOfRunningInOrder"));
    const int64_t n_rounds = scaled(40);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        std::string devices;
        const int n_devices = static_cast<int>(random.one_of({2, 2, 3, 4}));
        for (int device = 0; device < n_devices; device++)
            devices += (device ? ",cuda:" : "cuda:") + std::to_string(device) + "(memory=" +
                       std::to_string(random.one_of({6 << 10, 9 << 10, 14 << 10, 1 << 20})) +
                       "B,threads=" + std::to_string(random.number(1, 2)) + ")";
        devices += random.chance(10) ? ",host" : "";
        const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
        n_run += run_program(devices, gpus(n_devices, random.chance(75)), seed) > 0;
        if (testing::Test::HasFailure())
            ADD_FAILURE() << devices << " seed " << seed;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

} // namespace
