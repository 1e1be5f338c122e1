#include "launch/cuda/failures.h"
#include "launch/cuda/gpu_arrays.h"
#include "launch/cuda/kernels.h"
#include "launch/cuda/memory_limit.h"
#include "launch/cuda/runs.h"

/* The same on a GPU, if there is one. */

namespace {

void add_kernels(const std::string &name, polytile_implementation *to) {
    const polytile_implementation *from_nvcc = cuda_kernel_of(name.c_str());
    if (from_nvcc != nullptr) {
        to->cuda = from_nvcc->cuda;
        to->cuda_contiguous = from_nvcc->cuda_contiguous;
        to->cuda_pieces = from_nvcc->cuda_pieces;
        to->cuda_coarse = from_nvcc->cuda_coarse;
        to->n_coarse = from_nvcc->n_coarse;
    }
}

/** A GPU takes back what it gave by itself; what a test left shows as memory that is not free. */
class GpuWorld {
  public:
    explicit GpuWorld(uint64_t) { free_before_bytes_ = free_bytes(); }

    static const CudaCases &cases() {
        static const CudaCases cases(add_kernels);
        return cases;
    }

    static bool is_there() {
        int n_devices = 0;
        const bool found = pti_cuda_runtime.cudaGetDeviceCount(&n_devices) == cudaSuccess;
        pti_cuda_runtime.cudaGetLastError();
        return found && n_devices > 0 && cases().all()[0].implementation->cuda != nullptr;
    }

    void expect_idle() const { EXPECT_EQ(pti_cuda_runtime.cudaGetLastError(), cudaSuccess); }

    /** Code of kernels stays loaded, which is less than any leak of an arena would be over many
     * rounds. */
    void expect_nothing_taken() const {
        EXPECT_GE(free_bytes() + most_code_bytes, free_before_bytes_);
    }

  private:
    static constexpr size_t most_code_bytes = size_t{64} << 20;

    static size_t free_bytes() {
        size_t free_bytes = 0, total_bytes = 0;
        EXPECT_EQ(pti_cuda_runtime.cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
        return free_bytes;
    }

    size_t free_before_bytes_;
};

/* GTEST_SKIP() returns from the function it is in. */
#define SKIP_WITHOUT_GPU()                                                                         \
    if (!GpuWorld::is_there())                                                                     \
    GTEST_SKIP() << "no GPU, or no kernels for it"

TEST(CudaGpu, EqualsAPlainLoopUnderAnyLimit) {
    SKIP_WITHOUT_GPU();
    expect_cases_run_under_any_limit<GpuWorld>(test_seed("CudaGpu.EqualsAPlainLoopUnderAnyLimit"),
                                               scaled(1500));
}

TEST(CudaGpu, EqualsAPlainLoopThoughThreadsRunSeveralNeighbours) {
    SKIP_WITHOUT_GPU();
    expect_coarse_cases_run<GpuWorld>(test_seed("CudaGpu.Coarse"), scaled(600));
}

TEST(CudaGpu, LargePageableArraysEqualAPlainLoop) {
    SKIP_WITHOUT_GPU();
    expect_large_arrays_run<GpuWorld>(test_seed("CudaGpu.LargePageableArraysEqualAPlainLoop"));
}

TEST(CudaGpu, ArraysOnTheGpuAreUsedInPlace) {
    SKIP_WITHOUT_GPU();
    expect_gpu_arrays_are_used_in_place<GpuWorld>(
        test_seed("CudaGpu.ArraysOnTheGpuAreUsedInPlace"));
}

TEST(CudaGpu, TheMemoryTakenStaysWithinTheLimit) {
    SKIP_WITHOUT_GPU();
    for (const int64_t memory_bytes :
         {int64_t{32} << 20, (int64_t{35} << 20) - 1, int64_t{512} << 20})
        expect_memory_within_limit<GpuWorld>(1, memory_bytes);
}

TEST(CudaGpu, EveryCallOfARunCanFail) {
    SKIP_WITHOUT_GPU();
    expect_every_failing_call_is_survived<GpuWorld>();
}

TEST(CudaGpu, EveryCallOfOpeningCanFail) {
    SKIP_WITHOUT_GPU();
    expect_opening_survives_every_failing_call<GpuWorld>();
}

} // namespace
