#include "launch/cuda/kernels.h"
#include "launch/cuda/programs.h"
#include "launch/cuda/worlds.h"
#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/failing_api.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "queue/member.h"
}

/* Queues on the CUDA device: on a runtime that needs no GPU, and on a GPU if there is one. */

namespace {

/** Launches that one random program ran; the seed is the streams' too. */
int64_t run_program(const std::string &device, uint64_t seed) {
    int64_t n_launched = 0;
    FakeCuda cuda(seed);
    add_program_kernels(cuda);
    {
        Random random(seed);
        Program::Options options = Program::Options::draw(&random, 60);
        options.exchanges_percent = static_cast<int>(random.one_of({0, 0, 25}));
        options.implementations = &fake_program_kernels();
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
        options.exchanges_percent = static_cast<int>(random.one_of({0, 0, 25}));
        options.implementations = &implementations;
        Program program("cuda:0(memory=" + std::to_string(memory_bytes) + "B)", options, &random);
        program.run();
    }
}

TEST(CudaQueue, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaQueue.ResultsAreThoseOfRunningInOrder"));
    const int64_t n_rounds = scaled(120);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const int64_t memory_bytes =
            random.one_of({1024, 2500, 6 << 10, 9 << 10, 14 << 10, 1 << 20});
        const std::string device = "cuda:0(memory=" + std::to_string(memory_bytes) +
                                   "B,threads=" + std::to_string(random.number(1, 2)) + ")";
        n_run += run_program(device, static_cast<uint64_t>(random.number(0, int64_t{1} << 62))) > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

/** An arena that grows for another array empties itself first, but not over what a window begins
 * with. */
TEST_F(QueueTest, MakingRoomBringsNothingOldBackOverWhatTheHostGot) {
    FakeCuda cuda(1);
    polytile_implementation doubling = scale_kernel;
    doubling.cuda = reinterpret_cast<const void *>(scale_kernel.host);
    cuda.add_kernel(doubling.cuda, doubling);
    std::vector<float> x_memory(100, 1), y_memory(1000, 1);
    polytile_queue *queue = open("cuda:0");
    polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory);
    polytile_kernel *kernel = create("scale[i]: inout x[i]", &doubling);
    ASSERT_EQ(attach(queue, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, kernel, line(100), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    const int64_t small_bytes = queue->arena_bytes;
    ASSERT_EQ(attach(queue, {y}), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    x_memory[0] = 5;
    const polytile_domain first = line(1);
    pti_boxes boxes = {};
    pti_boxes_add(&boxes, &first);
    ASSERT_EQ(pti_queue_invalidate(queue, x, &boxes), POLYTILE_OK) << error();
    pti_boxes_free(&boxes);
    ASSERT_EQ(launch(queue, kernel, line(1000), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_GT(queue->arena_bytes, small_bytes);
    EXPECT_EQ(x_memory[0], 5);
    EXPECT_EQ(x_memory[1], 2);
    polytile_queue_destroy(queue);
}

/** What a function saw, which cancels when it is called. */
struct Canceller {
    polytile_queue *queue;
    const float *memory;
    float seen;
    polytile_status status;
};

void see_and_cancel(polytile_status status, void *user) {
    Canceller &of = *static_cast<Canceller *>(user);
    of.seen = of.memory[0];
    of.status = status;
    polytile_queue_cancel(of.queue);
}

/** Streams that lag after: what a function reads has arrived, and nothing after it has begun. */
TEST_F(QueueTest, AFunctionSeesWhatHasComeFromTheGpuAndEndsWhatIsBehind) {
    Random random(test_seed("QueueTest.AFunctionSeesWhatHasComeFromTheGpuAndEndsWhatIsBehind"));
    polytile_implementation doubling = scale_kernel;
    doubling.cuda = reinterpret_cast<const void *>(scale_kernel.host);
    for (int64_t round = 0; round < scaled(60) && !HasFailure(); round++) {
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
        cuda.add_kernel(doubling.cuda, doubling);
        const int64_t n = random.one_of({1, 31, 1000, 5003});
        std::vector<float> x_memory(static_cast<size_t>(n), 1), y_memory(x_memory);
        const std::string memory = std::to_string(random.one_of({9 << 10, 64 << 10}));
        polytile_queue *queue = open(("cuda:0(memory=" + memory + "B)").c_str());
        polytile_array *x = wrap("x", x_memory), *y = wrap("y", y_memory);
        polytile_kernel *kernel = create("scale[i]: inout x[i]", &doubling);
        Canceller canceller = {queue, x_memory.data(), 0, POLYTILE_INTERNAL};
        ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        const int n_before = static_cast<int>(random.number(0, 4));
        for (int k = 0; k < n_before; k++)
            ASSERT_EQ(launch(queue, kernel, line(n), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_notify(queue, x, see_and_cancel, &canceller), POLYTILE_OK)
            << error();
        ASSERT_EQ(launch(queue, kernel, line(n), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, line(n), {y}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_CANCELLED);
        const float left = static_cast<float>(1 << n_before);
        EXPECT_EQ(canceller.status, POLYTILE_OK);
        EXPECT_EQ(canceller.seen, left);
        EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_UNTOUCHED);
        EXPECT_EQ(polytile_array_get_state(y), POLYTILE_ARRAY_UNTOUCHED);
        EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
        EXPECT_EQ(x_memory, std::vector<float>(x_memory.size(), left));
        EXPECT_EQ(y_memory, std::vector<float>(y_memory.size(), 1));
        polytile_queue_destroy(queue);
        polytile_array_destroy(x);
        polytile_array_destroy(y);
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
    }
}

/** Two arrays on a GPU, one with results that only the GPU has. */
class CudaQueueFailure : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        doubling.cuda = reinterpret_cast<const void *>(scale_kernel.host);
        cuda.add_kernel(doubling.cuda, doubling);
        queue = open("cuda:0(memory=64KiB)");
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        kernel = create("scale[i]: inout x[i]", &doubling);
        ASSERT_EQ(attach(queue, {x, y}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, line(100), {x}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(x_memory[0], 1) << "the result is to be on the GPU only";
    }
    void TearDown() override {
        QueueTest::TearDown();
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
    }

    FakeCuda cuda{1};
    FailingApi api;
    polytile_implementation doubling = scale_kernel;
    std::vector<float> x_memory = std::vector<float>(100, 1);
    std::vector<float> y_memory = std::vector<float>(100, 1);
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *x = nullptr, *y = nullptr;
};

TEST_F(CudaQueueFailure, LeavesFinishedResultsOfOtherArrays) {
    api.let_fail(1, "cudaLaunchKernel", cudaErrorUnknown);
    ASSERT_EQ(launch(queue, kernel, line(100), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_EQ(api.failed(), "cudaLaunchKernel");
    EXPECT_TRUE(polytile_array_is_complete(x)) << error();
    EXPECT_EQ(error().find("incomplete: x"), std::string::npos) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(100, 2));
}

/** After a fault nothing can be brought back from a GPU: saving fails, too. */
TEST_F(CudaQueueFailure, LosesResultsThatCannotBeSaved) {
    cuda.let_kernel_fault(1);
    ASSERT_EQ(launch(queue, kernel, line(100), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"a sub-kernel of scale faulted", "left incomplete: x, y"});
    EXPECT_EQ(error().find("any more"), std::string::npos) << "the first error is told";
    EXPECT_FALSE(polytile_array_is_complete(x));
    EXPECT_FALSE(polytile_array_is_complete(y));
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << "it was told";
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(100, 1));
}

} // namespace
