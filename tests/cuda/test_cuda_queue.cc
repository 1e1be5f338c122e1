#include "cuda/kernels.h"
#include "cuda/worlds.h"
#include "queue/program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

/* Queues on the CUDA device: on a runtime that needs no GPU, and on a GPU if there is one. */

namespace {

/** What programs run, with symbols that stand for CUDA kernels. */
std::vector<polytile_implementation> cuda_implementations() {
    std::vector<polytile_implementation> made;
    for (const ProgramKernel &kernel : program_kernels()) {
        made.push_back(*kernel.implementation);
        made.back().cuda = reinterpret_cast<const void *>(kernel.implementation->host);
    }
    return made;
}

/** Launches that one random program ran; the seed is the streams' too. */
int64_t run_program(const std::string &device, uint64_t seed) {
    const std::vector<polytile_implementation> implementations = cuda_implementations();
    int64_t n_launched = 0;
    FakeCuda cuda(seed);
    for (const polytile_implementation &implementation : implementations)
        cuda.add_kernel(implementation.cuda, implementation);
    {
        Random random(seed);
        Program::Options options;
        options.n = random.one_of({5, 16, 24});
        options.n_steps = static_cast<int>(random.one_of({5, 30, 60}));
        options.implementations = &implementations;
        Program program(device, options, &random);
        program.run();
        n_launched = program.n_launched();
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.violations(), "");
    }
    EXPECT_EQ(cuda.leaks(), "");
    if (testing::Test::HasFailure())
        ADD_FAILURE() << device << " seed " << seed;
    return n_launched;
}

/** The same kernels as nvcc compiles them; empty without nvcc. */
std::vector<polytile_implementation> gpu_implementations() {
    std::vector<polytile_implementation> made;
    for (const ProgramKernel &kernel : program_kernels()) {
        const std::string declaration = kernel.declaration;
        const polytile_implementation *from_nvcc =
            cuda_program_kernel_of(declaration.substr(0, declaration.find('[')).c_str());
        if (from_nvcc == nullptr)
            return {};
        made.push_back(*from_nvcc);
    }
    return made;
}

bool gpu_is_there() {
    int n_devices = 0;
    const bool found = pti_cuda_runtime.cudaGetDeviceCount(&n_devices) == cudaSuccess;
    pti_cuda_runtime.cudaGetLastError();
    return found && n_devices > 0;
}

TEST(CudaGpu, QueuesGiveTheResultsOfRunningInOrder) {
    const std::vector<polytile_implementation> implementations = gpu_implementations();
    if (!gpu_is_there() || implementations.empty())
        GTEST_SKIP() << "no GPU, or no kernels for it";
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaGpu.QueuesGiveTheResultsOfRunningInOrder"));
    for (int64_t round = 0; round < scaled(100) && !testing::Test::HasFailure(); round++) {
        const int64_t memory_bytes = random.one_of({2500, 9 << 10, 64 << 10, 1 << 20, 64 << 20});
        Program::Options options;
        options.n = random.one_of({5, 24, 90});
        options.implementations = &implementations;
        Program program("cuda:0(memory=" + std::to_string(memory_bytes) + ")", options, &random);
        program.run();
    }
}

TEST(CudaQueue, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaQueue.ResultsAreThoseOfRunningInOrder"));
    int64_t n_launched = 0;
    for (int64_t round = 0; round < scaled(120) && !testing::Test::HasFailure(); round++) {
        const int64_t memory_bytes =
            random.one_of({1024, 2500, 6 << 10, 9 << 10, 14 << 10, 1 << 20});
        const std::string device = "cuda:0(memory=" + std::to_string(memory_bytes) +
                                   ",threads=" + std::to_string(random.number(1, 2)) + ")";
        n_launched +=
            run_program(device, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
    }
    EXPECT_GT(n_launched, 0);
}

} // namespace
