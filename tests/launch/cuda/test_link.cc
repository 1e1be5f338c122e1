#include "support/environment.h"
#include "support/failing_api.h"
#include "support/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>

extern "C" {
#include "launch/cuda/driver.h"
#include "launch/cuda/link.h"
#include "launch/cuda/runtime/fault.h"
#include "launch/device/link_cache.h"
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t mib = 1 << 20;

/** A GPU of a kind that this process has not seen yet, with streams, and a cache of its own. */
class CudaLink : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/polytile-links-XXXXXX";
        cache = mkdtemp(name);
        environment.set("POLYTILE_CACHE", cache.c_str());
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        gpu.device.object.context = ctx;
        gpu.api = pti_cuda_current_api;
        gpu.n_lanes = 2;
        for (int s = 0; s < pti_cuda_n_streams(&gpu); s++)
            ASSERT_EQ(gpu.api->cudaStreamCreateWithFlags(&gpu.stream[s], cudaStreamNonBlocking),
                      cudaSuccess);
        become_another_gpu();
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        fs::remove_all(cache);
        EXPECT_EQ(cuda.leaks(), "4 streams");
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.n_pageable_copies(), 0);
    }

    /** Links are remembered by UUID for as long as the process lives. */
    void become_another_gpu() {
        static int n_gpus = 0;
        n_gpus++;
        std::memcpy(properties.uuid.bytes, &n_gpus, sizeof n_gpus);
        properties.l2CacheSize = static_cast<int>(polytile_link_default.cache_bytes);
    }
    std::string key() const {
        char text[64];
        const unsigned char *byte = reinterpret_cast<const unsigned char *>(properties.uuid.bytes);
        std::snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-0000-0000-0000-000000000000-%d",
                      byte[0], byte[1], byte[2], byte[3], CUDART_VERSION);
        return text;
    }
    fs::path file() const { return cache / "links" / (key() + ".json"); }

    polytile_status find(int64_t max_device_bytes) {
        return pti_cuda_link(&gpu, &properties, max_device_bytes, &link);
    }

    void expect_default() { EXPECT_EQ(std::memcmp(&link, &polytile_link_default, sizeof link), 0); }
    void expect_measured() {
        EXPECT_EQ(pti_link_find_implausible(&link), nullptr);
        EXPECT_NE(link.upload_bytes_per_s, polytile_link_default.upload_bytes_per_s);
        EXPECT_NE(link.kernel_bytes_per_s, polytile_link_default.kernel_bytes_per_s);
        EXPECT_EQ(link.run_overhead_bytes, polytile_link_default.run_overhead_bytes);
    }
    void expect_says(const char *part) {
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(part), std::string::npos)
            << polytile_last_error(ctx);
    }

    Environment environment;
    FakeCuda cuda{1};
    fs::path cache;
    polytile_context *ctx = nullptr;
    pti_cuda_device gpu = {};
    cudaDeviceProp properties = {};
    polytile_link link = {};
};

TEST_F(CudaLink, IsMeasuredOnceAndKeptOnDisk) {
    ASSERT_EQ(find(INT64_MAX), POLYTILE_OK) << polytile_last_error(ctx);
    expect_measured();
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 1);
    polytile_link again, kept;
    ASSERT_EQ(pti_cuda_link(&gpu, &properties, 4 * mib, &again), POLYTILE_OK);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 1) << "what more memory measured is good for less";
    EXPECT_EQ(std::memcmp(&again, &link, sizeof link), 0);
    ASSERT_TRUE(pti_link_cache_read(ctx, key().c_str(), &kept)) << file();
    EXPECT_EQ(std::memcmp(&kept, &link, sizeof link), 0);
}

TEST_F(CudaLink, OnDiskIsNotMeasuredAgain) {
    polytile_link known = polytile_link_default;
    known.upload_bytes_per_s = 12.5e9;
    pti_link_cache_write(ctx, key().c_str(), &known);
    ASSERT_EQ(find(INT64_MAX), POLYTILE_OK);
    EXPECT_EQ(std::memcmp(&known, &link, sizeof link), 0);
    fs::remove(file());
    ASSERT_EQ(find(INT64_MAX), POLYTILE_OK);
    EXPECT_EQ(std::memcmp(&known, &link, sizeof link), 0);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 0);
}

TEST_F(CudaLink, TheCacheIsTheCardsOwn) {
    properties.l2CacheSize = 6 << 20;
    ASSERT_EQ(find(INT64_MAX), POLYTILE_OK);
    EXPECT_EQ(link.cache_bytes, 6 << 20);
    properties.l2CacheSize = 0;
    ASSERT_EQ(find(INT64_MAX), POLYTILE_OK);
    EXPECT_EQ(link.cache_bytes, 0);
}

TEST_F(CudaLink, ADamagedFileIsReplaced) {
    fs::create_directories(file().parent_path());
    std::ofstream(file()) << "{";
    testing::internal::CaptureStderr();
    EXPECT_EQ(find(INT64_MAX), POLYTILE_OK);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(file().string() + " is ignored"),
              std::string::npos);
    polytile_link kept;
    ASSERT_TRUE(pti_link_cache_read(ctx, key().c_str(), &kept));
    EXPECT_EQ(std::memcmp(&kept, &link, sizeof link), 0);
}

TEST_F(CudaLink, MeasuringStaysWithinItsMemory) {
    const size_t before = cuda.memory().peak_bytes();
    EXPECT_EQ(find(0), POLYTILE_OK);
    expect_default();
    EXPECT_EQ(find(2 * mib - 1), POLYTILE_OK);
    expect_default();
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 0);
    for (int64_t max_bytes : {2 * mib, 4 * mib - 1, 7 * mib, 33 * mib}) {
        become_another_gpu();
        ASSERT_EQ(find(max_bytes), POLYTILE_OK) << polytile_last_error(ctx);
        expect_measured();
        EXPECT_LE(cuda.memory().peak_bytes() - before, static_cast<size_t>(max_bytes));
        EXPECT_FALSE(fs::exists(file())) << "little memory gives no figures to keep for all time";
    }
}

TEST_F(CudaLink, MoreMemoryIsMeasuredAnew) {
    ASSERT_EQ(find(2 * mib), POLYTILE_OK);
    ASSERT_EQ(find(2 * mib + 1), POLYTILE_OK);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 1);
    ASSERT_EQ(find(6 * mib), POLYTILE_OK);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 2);
    ASSERT_EQ(find(2 * mib), POLYTILE_OK);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 2);
}

TEST_F(CudaLink, EveryGpuAndDriverIsMeasuredForItself) {
    ASSERT_EQ(find(2 * mib), POLYTILE_OK);
    properties.uuid.bytes[15]++;
    ASSERT_EQ(find(2 * mib), POLYTILE_OK);
    EXPECT_EQ(cuda.n_calls("cudaMalloc"), 2);
}

TEST_F(CudaLink, WithoutMemoryItIsTheDefault) {
    FailingApi failing;
    gpu.api = pti_cuda_current_api;
    for (const char *call : {"cudaMalloc", "cudaHostRegister"}) {
        failing.let_fail(1, call, cudaErrorMemoryAllocation);
        EXPECT_EQ(find(2 * mib), POLYTILE_OK) << polytile_last_error(ctx);
        expect_default();
        EXPECT_EQ(failing.failed(), call);
        EXPECT_EQ(cuda.leaks(), "4 streams");
    }
    EXPECT_EQ(find(2 * mib), POLYTILE_OK);
    expect_measured();
}

TEST_F(CudaLink, AFailingCallIsNamedAndNothingStays) {
    const struct {
        const char *call;
        int n; /* of its calls in one measurement, at least */
    } rows[] = {
        {"cudaDriverGetVersion", 1}, {"cudaMalloc", 1},
        {"cudaHostRegister", 1},     {"cudaMemcpyAsync", 700},
        {"cudaMemset2DAsync", 600},  {"cudaStreamSynchronize", 50},
        {"cudaHostUnregister", 1},   {"cudaFree", 1},
    };
    FailingApi failing;
    gpu.api = pti_cuda_current_api;
    for (const auto &row : rows) {
        for (int n = 1; n <= row.n; n += 1 + row.n / 7) {
            failing.let_fail(n, row.call, cudaErrorUnknown);
            EXPECT_EQ(find(2 * mib), POLYTILE_DEVICE) << row.call << " " << n;
            expect_says((std::string(row.call) + " failed").c_str());
            EXPECT_EQ(cuda.leaks(), "4 streams") << row.call << " " << n;
            EXPECT_EQ(cuda.n_pending(), 0) << row.call << " " << n;
        }
    }
    pti_cuda_fault fault;
    EXPECT_FALSE(pti_cuda_fault_find(gpu.api, gpu.number, &fault)) << fault.text;
    EXPECT_EQ(find(2 * mib), POLYTILE_OK) << "and it can be measured after all";
    expect_measured();
}

/* The list of devices. */

class CudaList : public testing::Test {
  protected:
    void SetUp() override {
        environment.set("POLYTILE_CACHE", "off");
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    static FakeCuda::Options gpus(int n_devices) {
        FakeCuda::Options options;
        options.n_devices = n_devices;
        options.total_bytes = 16 << 20;
        return options;
    }

    Environment environment;
    polytile_context *ctx = nullptr;
    polytile_device_info infos[3] = {};
    int n_infos = 0;
};

TEST_F(CudaList, HasNoEntryWithoutADriver) {
    FakeCuda::Options none = gpus(0);
    none.no_gpu_error = cudaErrorInsufficientDriver;
    FakeCuda cuda(1, none);
    EXPECT_EQ(pti_cuda_list(ctx, 3, infos, &n_infos), POLYTILE_OK);
    EXPECT_EQ(n_infos, 0);
    EXPECT_STREQ(polytile_last_error(ctx), "");
}

TEST_F(CudaList, SaysWhyCudaCannotCount) {
    FakeCuda::Options none = gpus(0);
    none.no_gpu_error = cudaErrorSystemDriverMismatch;
    FakeCuda cuda(1, none);
    EXPECT_EQ(pti_cuda_list(ctx, 3, infos, &n_infos), POLYTILE_OK);
    EXPECT_EQ(n_infos, 1);
    EXPECT_STREQ(infos[0].text, "cuda:0");
    EXPECT_NE(std::string(infos[0].description).find("cannot be used: cuda:0: CUDA finds no GPU"),
              std::string::npos)
        << infos[0].description;
}

TEST_F(CudaList, HasOneEntryAGpuAsFarAsThereIsRoom) {
    FakeCuda cuda(1, gpus(3));
    n_infos = 1;
    EXPECT_EQ(pti_cuda_list(ctx, 3, infos, &n_infos), POLYTILE_OK);
    EXPECT_EQ(n_infos, 4);
    EXPECT_STREQ(infos[0].text, "") << "what others listed is left alone";
    for (int k = 1; k < 3; k++) {
        EXPECT_EQ(infos[k].text, "cuda:" + std::to_string(k - 1));
        EXPECT_EQ(std::string(infos[k].description).find("Fake GPU, compute capability 9.0, CUDA"),
                  0u)
            << infos[k].description;
        EXPECT_EQ(infos[k].memory_bytes, 16 << 20);
        EXPECT_EQ(infos[k].n_threads, 0);
        EXPECT_EQ(pti_link_find_implausible(&infos[k].link), nullptr);
    }
    EXPECT_EQ(cuda.leaks(), "");
    EXPECT_EQ(cuda.violations(), "");
}

TEST_F(CudaList, SaysWhyAGpuCannotBeUsed) {
    FakeCuda cuda(1, gpus(2));
    FailingApi failing;
    failing.let_fail(1, "cudaStreamCreateWithFlags", cudaErrorDevicesUnavailable);
    EXPECT_EQ(pti_cuda_list(ctx, 3, infos, &n_infos), POLYTILE_OK);
    EXPECT_EQ(n_infos, 2);
    EXPECT_EQ(std::string(infos[0].description)
                  .find("cannot be used: cuda:0: cudaStreamCreateWithFlags failed"),
              0u)
        << infos[0].description;
    EXPECT_EQ(infos[0].link.upload_bytes_per_s, 0);
    EXPECT_EQ(infos[0].memory_bytes, 16 << 20);
    EXPECT_GT(infos[1].link.upload_bytes_per_s, 0);
    EXPECT_STREQ(polytile_last_error(ctx), "");
    EXPECT_EQ(cuda.leaks(), "");
}

} // namespace
