#include "launch/cuda/failures.h"
#include "support/environment.h"

#include <climits>
#include <malloc.h>
#include <polytile/message_ring.h>

extern "C" {
#include "launch/cuda/driver.h"
#include "launch/cuda/runtime/cuda.h"
}

/* What goes wrong with a GPU, on a runtime that needs none. */

namespace {

/** Keeps what is freed for the next that asks, for a while: the system would zero the large buffers
 * of each device anew. */
class KeptHeap {
  public:
    KeptHeap() {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, INT_MAX);
    }
    ~KeptHeap() {
        mallopt(M_MMAP_MAX, 65536);
        mallopt(M_TRIM_THRESHOLD, 128 * 1024);
        malloc_trim(0);
    }
    KeptHeap(const KeptHeap &) = delete;
    KeptHeap &operator=(const KeptHeap &) = delete;
};

TEST(CudaFaults, EveryCallOfARunCanFail) {
    const KeptHeap heap;
    expect_every_failing_call_is_survived<FakeWorld>();
}

TEST(CudaFaults, EveryCallOfOpeningCanFail) {
    expect_opening_survives_every_failing_call<FakeWorld>();
}

/** What every later use of a GPU says on which a kernel of jacobi faulted. */
void expect_gone(const Session &session) {
    EXPECT_EQ(session.status, POLYTILE_DEVICE);
    EXPECT_TRUE(session.says("cuda:0 cannot be used any more in this process, since a run on it "
                             "faulted (cuda:0: a sub-kernel of jacobi faulted ("))
        << session.error();
    EXPECT_TRUE(session.says("cudaErrorIllegalAddress), found by cuda")) << session.error();
    EXPECT_TRUE(session.says("; other devices can")) << session.error();
}

/** A pipeline of several superblocks, one of whose kernels faults. */
TEST(CudaFaults, AKernelsFaultEndsTheGpuForEveryHandleOfTheProcess) {
    const SceneToFail of = {"jacobi[i, j]", 50, 8192, false};
    FakeWorld world(1);
    {
        PlannedScene<FakeWorld> planned(of);
        Session &session = planned.session;
        Session other;
        Random random(2);
        polytile_device *second = other.open("cuda:0(memory=64KiB)");
        Scene scale(other.ctx, FakeWorld::cases().of("scale[i]"), 100, &random);
        world.cuda.let_kernel_fault(3);
        EXPECT_EQ(planned.run(), POLYTILE_DEVICE);
        EXPECT_TRUE(session.says("cuda:0: a sub-kernel of jacobi faulted (an illegal memory access "
                                 "was encountered, cudaErrorIllegalAddress), found by cuda"))
            << session.error();
        EXPECT_FALSE(session.says(" failed:")) << "what found the fault is not to blame";
        EXPECT_FALSE(session.says("any more")) << session.error();
        expect_whole_or_marked(planned.scene, planned.plan->instance, session.error());

        EXPECT_EQ(planned.run(), POLYTILE_DEVICE);
        expect_gone(session);
        EXPECT_EQ(other.run(second, scale, scale.options), POLYTILE_DEVICE);
        expect_gone(other);
        EXPECT_EQ(session.try_to_open("cuda:0"), nullptr);
        expect_gone(session);

        polytile_device *host = session.open("host");
        EXPECT_EQ(session.run(host, planned.scene, planned.scene.options), POLYTILE_OK)
            << session.error();
    }
    world.expect_nothing_taken();
}

TEST(CudaFaults, AGpuThatFaultedIsListedWithTheReason) {
    FakeWorld world(1);
    PlannedScene<FakeWorld> planned({"jacobi[i, j]", 50, 8192, false});
    world.cuda.let_kernel_fault(3);
    EXPECT_EQ(planned.run(), POLYTILE_DEVICE);
    polytile_device_info infos[2] = {};
    int n_infos = 0;
    EXPECT_EQ(pti_cuda_list(planned.session.ctx, 2, infos, &n_infos), POLYTILE_OK);
    EXPECT_EQ(n_infos, 1);
    EXPECT_STREQ(infos[0].text, "cuda:0");
    EXPECT_EQ(std::string(infos[0].description)
                  .find("cannot be used: cuda:0 cannot be used any more in this process"),
              0u)
        << infos[0].description;
}

/** A run whose n-th kernel faults, over memory that is pinned or not. */
void run_with_fault(int64_t n, bool is_pinned) {
    FakeWorld world(static_cast<uint64_t>(n));
    {
        PlannedScene<FakeWorld> planned({"jacobi[i, j]", 50, 5000, false});
        for (const auto &bytes : planned.scene.memory) {
            if (is_pinned)
                world.cuda.host().declare(byte_range(bytes.data(), bytes.size()),
                                          cudaMemoryTypeHost);
        }
        EXPECT_GE(planned.plan->summary.n_kernels, n);
        world.cuda.let_kernel_fault(n);
        EXPECT_EQ(planned.run(), POLYTILE_DEVICE);
        const std::string error = planned.session.error();
        EXPECT_NE(error.find("cudaErrorIllegalAddress"), std::string::npos) << error;
        expect_whole_or_marked(planned.scene, planned.plan->instance, error);
        EXPECT_EQ(world.cuda.n_pending(), 0);
    }
    world.expect_nothing_taken();
}

TEST(CudaFaults, AnyKernelOfARunCanFault) {
    for (const int64_t n : {1, 2, 3, 5}) {
        run_with_fault(n, false);
        run_with_fault(n, true);
    }
}

TEST(CudaFaults, AFaultOfTheLastKernelIsFoundBeforeTheRunEnds) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=64KiB)");
    Scene scene(session.ctx, FakeWorld::cases().of("scale[i]"), 100, &random);
    world.cuda.let_kernel_fault(1);
    EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_DEVICE);
    EXPECT_TRUE(session.says("cudaErrorIllegalAddress")) << session.error();
}

TEST(CudaFaults, WithoutAGpuHostIsRecommended) {
    for (const cudaError_t error : {cudaErrorNoDevice, cudaErrorInsufficientDriver}) {
        FakeCuda::Options options;
        options.n_devices = 0;
        options.no_gpu_error = error;
        FakeWorld world(1, options);
        Session session;
        EXPECT_EQ(session.try_to_open("cuda:0"), nullptr);
        EXPECT_EQ(session.status, POLYTILE_UNSUPPORTED);
        EXPECT_TRUE(session.says("use host")) << session.error();
        EXPECT_TRUE(session.says(cudaGetErrorString(error))) << session.error();
    }
}

TEST(CudaFaults, WhyThereIsNoGpuIsSaid) {
    const struct {
        cudaError_t error;
        int driver_version;
        const char *visible; /* CUDA_VISIBLE_DEVICES */
        const char *says;
    } rows[] = {
        {cudaErrorInsufficientDriver, 0, "", "there is no driver of NVIDIA's here"},
        {cudaErrorInsufficientDriver, 11040, "",
         "NVIDIA's driver here is for CUDA up to 11.4, and this library uses "},
        {cudaErrorNoDevice, 13000, nullptr, "NVIDIA's driver is here, but no GPU"},
        {cudaErrorNoDevice, 13000, "7", "shows no GPU"},
        {cudaErrorNoDevice, 13000, "7", "CUDA_VISIBLE_DEVICES is \"7\"; change that"},
        {cudaErrorSystemNotReady, 13000, nullptr, "CUDA finds no GPU that it can use"},
    };
    for (const auto &row : rows) {
        Environment environment;
        environment.set("CUDA_VISIBLE_DEVICES", row.visible);
        FakeCuda::Options options;
        options.n_devices = 0;
        options.no_gpu_error = row.error;
        options.driver_version = row.driver_version;
        FakeWorld world(1, options);
        Session session;
        EXPECT_EQ(session.try_to_open("cuda:0"), nullptr);
        EXPECT_EQ(session.status, POLYTILE_UNSUPPORTED);
        EXPECT_TRUE(session.says(row.says)) << session.error();
        EXPECT_TRUE(session.says("use host")) << session.error();
    }
}

TEST(CudaFaults, AGpuThatIsNotThereIsUnsupported) {
    FakeWorld world(1);
    Session session;
    EXPECT_EQ(session.try_to_open("cuda:7"), nullptr);
    EXPECT_EQ(session.status, POLYTILE_UNSUPPORTED);
    EXPECT_TRUE(session.says("cuda:7: there is 1 GPU here")) << session.error();
    world.expect_nothing_taken();
}

TEST(CudaFaults, AKernelThatCudaDoesNotKnowIsUnsupported) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=64KiB)");
    for (const void *contiguous :
         {static_cast<const void *>(nullptr), static_cast<const void *>(&random)}) {
        polytile_implementation unknown = *FakeWorld::cases().of("add[i]").implementation;
        unknown.cuda = &unknown;
        unknown.cuda_contiguous = contiguous;
        Case of = FakeWorld::cases().of("add[i]");
        of.implementation = &unknown;
        Scene scene(session.ctx, of, 100, &random);
        EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_UNSUPPORTED)
            << session.error();
        EXPECT_TRUE(session.says("cannot run the kernel of add")) << session.error();
    }
}

TEST(CudaFaults, AKernelWithoutCudaIsUnsupported) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    polytile_device *device = session.open("cuda:0(memory=64KiB)");
    Scene scene(session.ctx, all_cases()[0], 100, &random);
    EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_UNSUPPORTED) << session.error();
    EXPECT_TRUE(session.says("a CUDA kernel or launcher")) << session.error();
}

TEST(CudaFaults, ATeamKernelIsUnsupported) {
    FakeWorld world(1);
    Session session;
    const polytile_team team = {PT_RING_LAYOUT, nullptr, nullptr};
    polytile_implementation implementation = {};
    implementation.team = &team;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    int32_t element = 0;
    const int64_t extent = 1;
    polytile_device *device = session.open("cuda:0(memory=64KiB)");
    ASSERT_EQ(polytile_array_wrap(session.ctx, "A", POLYTILE_I32, 1, &extent, &element, &array),
              POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(session.ctx, "talk[s]: inout A[s]", &implementation, &kernel),
              POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, POLYTILE_EXTENTS(1), 1, &array, nullptr),
              POLYTILE_UNSUPPORTED);
    EXPECT_TRUE(session.says("talk: nvcc did not compile this team kernel")) << session.error();
}

TEST(CudaFaults, DeviceAndManagedMemoryIsRefusedByTheArraysName) {
    const struct {
        cudaMemoryType type;
        const char *word;
    } rows[] = {{cudaMemoryTypeDevice, "device memory"}, {cudaMemoryTypeManaged, "managed memory"}};
    for (const auto &row : rows) {
        FakeWorld world(1);
        Random random(1);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=64KiB)");
        Scene scene(session.ctx, FakeWorld::cases().of("add[i]"), 3000, &random);
        const auto &y = scene.memory[1];
        world.cuda.host().declare(byte_range(y.data(), y.size()), row.type);
        EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_INVALID) << session.error();
        EXPECT_TRUE(session.says("array y")) << session.error();
        EXPECT_TRUE(session.says(row.word)) << session.error();
        EXPECT_TRUE(scene.memory == scene.before);
        world.expect_idle();
    }
}

} // namespace
