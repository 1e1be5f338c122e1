#include "launch/cuda/gpu_arrays.h"

#include "support/environment.h"

/* Arrays in the memory of a GPU, on a runtime that needs none. */

namespace {

TEST(CudaGpuArrays, AreUsedInPlaceWhateverTheLimit) {
    expect_gpu_arrays_are_used_in_place<FakeWorld>(
        test_seed("CudaGpuArrays.AreUsedInPlaceWhateverTheLimit"));
}

/** A sum of two arrays on the GPU, and who may use it. */
class CudaGpuArraysOf : public testing::Test {
  protected:
    CudaGpuArraysOf()
        : device(session.open("cuda:0(memory=1MiB)")),
          scene(session.ctx, FakeWorld::cases().of("add[i]"), 100, &random),
          there(session.ctx, scene) {}

    polytile_status run(polytile_device *on) {
        return polytile_run(on, scene.kernel, &scene.domain, there.count(), there.arrays.data(),
                            &scene.options);
    }

    void expect_refused(polytile_status status, const std::string &text) {
        EXPECT_EQ(status, POLYTILE_INVALID);
        EXPECT_TRUE(session.says(text)) << session.error();
    }

    polytile_array *wrap(void *data) {
        polytile_device_memory of = {};
        of.data = data;
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap_device(session.ctx, "x", POLYTILE_F32,
                                             polytile_array_get_domain(scene.arrays[0]), &of,
                                             &array),
                  POLYTILE_OK);
        return array;
    }

    FakeWorld world{1};
    Random random{1};
    Session session;
    polytile_device *device;
    Scene scene;
    GpuArrays there;
};

TEST_F(CudaGpuArraysOf, TheHostSeesNoDataOfThem) {
    EXPECT_EQ(polytile_array_get_data(there.arrays[0]), nullptr);
    EXPECT_TRUE(polytile_array_is_complete(there.arrays[0]));
}

TEST_F(CudaGpuArraysOf, AHostDeviceRefusesThem) {
    expect_refused(run(session.open("host")),
                   "x lies in the memory of a GPU, which host does not reach");
    expect_refused(run(session.open("host(memory=1MiB)")), "lies in the memory of a GPU");
}

TEST_F(CudaGpuArraysOf, AreNotMixedWithThoseOfTheHost) {
    there.arrays[1] = scene.arrays[1];
    expect_refused(run(device), "array x lies in the memory of a GPU and array y on the host");
}

TEST_F(CudaGpuArraysOf, QueuesRefuseThem) {
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_queue_create(session.ctx, "cuda:0(memory=1MiB)", &queue), POLYTILE_OK);
    expect_refused(polytile_queue_attach(queue, there.count(), there.arrays.data()),
                   "array x lies in the memory of a GPU, which only polytile_run()");
    polytile_queue_destroy(queue);
}

TEST_F(CudaGpuArraysOf, ChecksThatRunTheKernelRefuseThem) {
    expect_refused(polytile_check_run(device, scene.kernel, &scene.domain, there.count(),
                                      there.arrays.data(), &scene.options, nullptr),
                   "a check that runs the kernel: array x lies in the memory of a GPU");
    EXPECT_EQ(polytile_check(scene.kernel, &scene.domain, there.count(), there.arrays.data(),
                             &scene.options),
              POLYTILE_OK);
}

TEST_F(CudaGpuArraysOf, APlanThatCopiesIsRefused) {
    polytile_launch_options options = scene.options;
    polytile_plan *plan = nullptr;
    options.plan.limit_bytes = 1 << 20;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain, there.count(), there.arrays.data(),
                                   &options, &plan),
              POLYTILE_OK);
    expect_refused(
        polytile_plan_run(plan, device, scene.kernel, there.count(), there.arrays.data(), nullptr),
        "the plan copies arrays, and those given lie in the memory of a GPU");
    polytile_plan_destroy(plan);
}

TEST_F(CudaGpuArraysOf, MemoryThatIsNoneOfTheGpusIsNamed) {
    there.arrays[0] = wrap(scene.memory[0].data());
    expect_refused(run(device), "array x was wrapped as memory of a GPU");
    there.arrays[0] = wrap(static_cast<char *>(there.memory[0]->data) + 4);
    expect_refused(run(device), "its end at");
}

TEST_F(CudaGpuArraysOf, WhatIsReadOnlyIsNotWritten) {
    polytile_device_memory of = {};
    of.data = there.memory[2]->data;
    of.read_only = true;
    ASSERT_EQ(polytile_array_wrap_device(session.ctx, "z", POLYTILE_F32,
                                         polytile_array_get_domain(scene.arrays[2]), &of,
                                         &there.arrays[2]),
              POLYTILE_OK);
    EXPECT_EQ(run(device), POLYTILE_INVALID);
    EXPECT_TRUE(session.says("array z is written")) << session.error();
}

TEST_F(CudaGpuArraysOf, OverlapsAreFound) {
    there.arrays[2] = wrap(there.memory[0]->data);
    expect_refused(run(device), "overlap in memory");
}

TEST_F(CudaGpuArraysOf, ViewsAreUsedInPlace) {
    const int64_t extents[] = {100};
    const polytile_domain reversed = polytile_domain_from_extents(1, extents);
    expect_of_plain_loop(session, &scene);
    for (polytile_array *&array : there.arrays)
        ASSERT_EQ(polytile_array_reshape(array, "view", &reversed, &array), POLYTILE_OK);
    EXPECT_EQ(run(device), POLYTILE_OK) << session.error();
    EXPECT_TRUE(there.memory[2]->get() == scene.expected[2]);
}

TEST_F(CudaGpuArraysOf, ARunWaitsForTheirStream) {
    polytile_device_memory of = {};
    std::vector<unsigned char> sevens(scene.memory[0].size());
    fill_elements(POLYTILE_F32, &sevens, &random);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(world.cuda.cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    of.data = there.memory[0]->data;
    of.stream = stream;
    ASSERT_EQ(polytile_array_wrap_device(session.ctx, "x", POLYTILE_F32,
                                         polytile_array_get_domain(scene.arrays[0]), &of,
                                         &there.arrays[0]),
              POLYTILE_OK);
    scene.before[0] = sevens;
    expect_of_plain_loop(session, &scene);
    world.cuda.host().declare(byte_range(sevens.data(), sevens.size()), cudaMemoryTypeHost);
    ASSERT_EQ(world.cuda.cudaMemcpyAsync(of.data, sevens.data(), sevens.size(),
                                         cudaMemcpyHostToDevice, stream),
              cudaSuccess);
    EXPECT_EQ(run(device), POLYTILE_OK) << session.error();
    EXPECT_TRUE(there.memory[2]->get() == scene.expected[2]);
    EXPECT_EQ(world.cuda.cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(world.cuda.violations(), "");
}

TEST_F(CudaGpuArraysOf, WrappingRefusesWhatIsNotThere) {
    const polytile_domain *domain = polytile_array_get_domain(scene.arrays[0]);
    polytile_array *array = there.arrays[0];
    EXPECT_EQ(polytile_array_wrap_device(session.ctx, "x", POLYTILE_F32, domain, nullptr, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(array, nullptr);
    const int64_t no_stride[] = {0};
    polytile_device_memory of = {};
    of.data = there.memory[0]->data;
    of.reserved[3] = 1;
    EXPECT_EQ(polytile_array_wrap_device(session.ctx, "x", POLYTILE_F32, domain, &of, &array),
              POLYTILE_INVALID);
    EXPECT_TRUE(session.says("reserved")) << session.error();
    of.reserved[3] = 0;
    of.stride_bytes = no_stride;
    EXPECT_EQ(polytile_array_wrap_device(session.ctx, "x", POLYTILE_F32, domain, &of, &array),
              POLYTILE_INVALID);
    EXPECT_EQ(array, nullptr);
}

} // namespace
