#ifndef POLYTILE_TESTS_LAUNCH_CUDA_GPU_ARRAYS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_GPU_ARRAYS_H

#include "launch/cuda/session.h"
#include "support/scale.h"

/* Arrays in the memory of a GPU, on one and on the runtime that needs none. */

/** Device memory of the test's own. */
class GpuMemory {
  public:
    explicit GpuMemory(size_t n_bytes) : n_bytes_(n_bytes) {
        EXPECT_EQ(pti_cuda_current_api->cudaMalloc(&data, n_bytes), cudaSuccess);
    }
    ~GpuMemory() { EXPECT_EQ(pti_cuda_current_api->cudaFree(data), cudaSuccess); }
    GpuMemory(const GpuMemory &) = delete;
    GpuMemory &operator=(const GpuMemory &) = delete;

    void set(const std::vector<unsigned char> &bytes) {
        copy(data, bytes.data(), cudaMemcpyHostToDevice);
    }
    std::vector<unsigned char> get() const {
        std::vector<unsigned char> bytes(n_bytes_);
        copy(bytes.data(), data, cudaMemcpyDeviceToHost);
        return bytes;
    }

    void *data = nullptr;

  private:
    void copy(void *to, const void *from, cudaMemcpyKind kind) const {
        cudaStream_t stream = nullptr;
        EXPECT_EQ(pti_cuda_current_api->cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                  cudaSuccess);
        EXPECT_EQ(pti_cuda_current_api->cudaMemcpyAsync(to, from, n_bytes_, kind, stream),
                  cudaSuccess);
        EXPECT_EQ(pti_cuda_current_api->cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_EQ(pti_cuda_current_api->cudaStreamDestroy(stream), cudaSuccess);
    }

    size_t n_bytes_;
};

/** The arrays of a scene, on the GPU. */
class GpuArrays {
  public:
    GpuArrays(polytile_context *ctx, const Scene &scene) {
        for (size_t a = 0; a < scene.arrays.size(); a++) {
            memory.push_back(std::make_unique<GpuMemory>(scene.memory[a].size()));
            memory.back()->set(scene.before[a]);
            polytile_device_memory there = {};
            there.data = memory.back()->data;
            polytile_array *array = nullptr;
            EXPECT_EQ(polytile_array_wrap_device(
                          ctx, scene.of_.arrays[a].name, scene.of_.arrays[a].type,
                          polytile_array_get_domain(scene.arrays[a]), &there, &array),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            arrays.push_back(array);
        }
    }

    int count() const { return static_cast<int>(arrays.size()); }

    std::vector<std::unique_ptr<GpuMemory>> memory;
    std::vector<polytile_array *> arrays;
};

/** What a plain loop makes of a scene. */
inline void expect_of_plain_loop(const Session &session, Scene *scene) {
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create(scene->kernel, &scene->domain,
                                   static_cast<int>(scene->arrays.size()), scene->arrays.data(),
                                   &scene->options, &plan),
              POLYTILE_OK)
        << session.error();
    scene->compute_expected(plan->instance);
    polytile_plan_destroy(plan);
}

inline void expect_nothing_moved(polytile_device *device) {
    polytile_report report;
    polytile_device_get_report(device, &report);
    EXPECT_EQ(report.n_kernels, 1);
    EXPECT_EQ(report.h2d_bytes, 0);
    EXPECT_EQ(report.d2h_bytes, 0);
    EXPECT_EQ(report.peak_device_bytes, 0);
}

template <class World> void expect_gpu_arrays_are_used_in_place(uint64_t seed) {
    Random random(seed);
    for (const Case &of : World::cases().all()) {
        World world(seed);
        Session session;
        /* Far less than any array: nothing of it is needed. */
        polytile_device *device = session.open("cuda:0(memory=64B)");
        Scene scene(session.ctx, of, random.number(3, of.largest_n), &random);
        expect_of_plain_loop(session, &scene);
        {
            GpuArrays there(session.ctx, scene);
            const polytile_status status =
                polytile_run(device, scene.kernel, &scene.domain, there.count(),
                             there.arrays.data(), &scene.options);
            if (std::string(of.declaration).find("scratch") != std::string::npos) {
                EXPECT_EQ(status, POLYTILE_UNSUPPORTED);
                continue;
            }
            EXPECT_EQ(status, POLYTILE_OK) << session.error();
            expect_nothing_moved(device);
            for (size_t a = 0; a < there.arrays.size(); a++)
                EXPECT_TRUE(there.memory[a]->get() == scene.expected[a])
                    << of.declaration << ": " << of.arrays[a].name << " is wrong, seed " << seed;
        }
        world.expect_idle();
    }
}

#endif
