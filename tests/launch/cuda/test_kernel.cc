#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "support/launch.h"

extern "C" {
#include "access/set/boxes.h"
#include "launch/cuda/function.h"
#include "launch/cuda/kernel.h"
}

/* The runtime here knows one kernel, and notes what it is launched with. */

namespace {

struct Launched {
    const void *kernel;
    dim3 grid, block;
    polytile_domain threads;
    std::vector<void *> origins;
    cudaStream_t stream;
    std::vector<void *> after; /* of a coarse kernel: once more the origins */
};

struct Runtime {
    int max_threads;
    int resident_threads[4]; /* of blocks of 128, 256, 512, 1024 threads */
    size_t n_views;
    cudaError_t answer;  /* of a launch */
    cudaError_t lookup;  /* of a question about the kernel */
    cudaError_t pending; /* what cudaGetLastError finds */
    int current_device;
    int n_questions;
    std::vector<cudaFuncCache> caches; /* that were asked for */
    std::vector<Launched> launches;
};

Runtime runtime;
char the_kernel, another_kernel, contiguous_kernel, coarse_kernel;
polytile_sub_kernel told;
int launcher_returns;
cudaError_t launcher_leaves; /* pending */
int launcher_enters;         /* the device that it makes current */

cudaError_t get_attributes(cudaFuncAttributes *attributes, const void *) {
    runtime.n_questions++;
    *attributes = {};
    attributes->maxThreadsPerBlock = runtime.max_threads;
    return runtime.lookup;
}

cudaError_t count_blocks(int *n_blocks, const void *, int n_threads, size_t) {
    int row = 0;
    while ((128 << row) < n_threads)
        row++;
    *n_blocks = runtime.resident_threads[row] / n_threads;
    return cudaSuccess;
}

cudaError_t launch_kernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream) {
    EXPECT_EQ(shared_bytes, 0u);
    Launched launched = {kernel, grid,   block, *static_cast<polytile_domain *>(arguments[0]),
                         {},     stream, {}};
    for (size_t a = 0; a < runtime.n_views; a++)
        launched.origins.push_back(static_cast<polytile_view *>(arguments[1 + a])->origin);
    for (size_t a = 0; a < runtime.n_views && kernel == &coarse_kernel; a++)
        launched.after.push_back(*static_cast<void **>(arguments[1 + runtime.n_views + a]));
    runtime.launches.push_back(launched);
    return runtime.answer;
}

int launcher(const polytile_sub_kernel *launch) {
    told = *launch;
    runtime.pending = launcher_leaves;
    runtime.current_device = launcher_enters;
    return launcher_returns;
}

struct Gpu {
    explicit Gpu(int n_views = 2) : views(static_cast<size_t>(n_views)) {
        runtime = {};
        runtime.max_threads = 1024;
        std::fill_n(runtime.resident_threads, 4, 2048);
        runtime.n_views = views.size();
        told = {};
        launcher_returns = 0;
        launcher_leaves = cudaSuccess;
        launcher_enters = 0;
        api.cudaFuncGetAttributes = get_attributes;
        api.cudaOccupancyMaxActiveBlocksPerMultiprocessor = count_blocks;
        api.cudaLaunchKernel = launch_kernel;
        api.cudaGetLastError = [] { return std::exchange(runtime.pending, cudaSuccess); };
        api.cudaSetDevice = [](int number) {
            runtime.current_device = number;
            return cudaSuccess;
        };
        api.cudaFuncSetCacheConfig = [](const void *, cudaFuncCache cache) {
            runtime.caches.push_back(cache);
            return cudaSuccess;
        };
        api.cudaMemGetInfo = [](size_t *, size_t *) { return cudaSuccess; };
        polytile_context_create(&context);
        cuda.device.object.context = context;
        cuda.api = &api;
        cuda.capability = 90;
        cuda.stream[PTI_STREAM_COMPUTE] = reinterpret_cast<cudaStream_t>(7);
        cuda.n_lanes = 2;
        cuda.stream[PTI_STREAM_COMPUTE + 1] = reinterpret_cast<cudaStream_t>(8);
        instance.kernel_name = name;
        instance.n_operands = n_views;
        implementation.cuda = &the_kernel;
        for (size_t a = 0; a < views.size(); a++)
            views[a].origin = &views[a];
    }
    ~Gpu() { polytile_context_destroy(context); }
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    polytile_status launch(const std::vector<int64_t> &counts,
                           const std::vector<int64_t> &block = {}) {
        const polytile_domain threads =
            polytile_domain_from_extents(static_cast<int>(counts.size()), counts.data());
        return launch_box(threads, block.empty() ? nullptr : block.data());
    }
    polytile_status launch_box(const polytile_domain &threads, const int64_t *block = nullptr) {
        pti_sub_kernel sub_kernel = {};
        sub_kernel.instance = &instance;
        sub_kernel.config.implementation = &implementation;
        sub_kernel.threads = &threads;
        sub_kernel.views = views.data();
        sub_kernel.config.block = block;
        sub_kernel.config.character = character;
        sub_kernel.is_first = true;
        sub_kernel.lane = lane;
        return pti_cuda_launch(&cuda, &sub_kernel);
    }
    bool says(const char *words) const {
        return std::string(polytile_last_error(context)).find(words) != std::string::npos;
    }

    char name[8] = "fold";
    int lane = 0;
    polytile_context *context = nullptr;
    pti_cuda_api api = {};
    pti_cuda_device cuda = {};
    pti_instance instance = {};
    polytile_implementation implementation = {};
    const polytile_character *character = nullptr;
    std::vector<polytile_view> views;
};

void expect_dim3(dim3 found, unsigned x, unsigned y, unsigned z) {
    EXPECT_EQ(found.x, x);
    EXPECT_EQ(found.y, y);
    EXPECT_EQ(found.z, z);
}

TEST(CudaKernel, IsLaunchedWithItsThreadsAndViewsOnTheComputeStream) {
    Gpu gpu(3);
    ASSERT_EQ(gpu.launch({100, 1000}), POLYTILE_OK);
    ASSERT_EQ(runtime.launches.size(), 1u);
    const Launched &launched = runtime.launches[0];
    expect_dim3(launched.block, 32, 8, 1);
    expect_dim3(launched.grid, 32, 13, 1);
    EXPECT_EQ(launched.kernel, &the_kernel);
    EXPECT_EQ(launched.threads.range[1].hi, 999);
    EXPECT_EQ(launched.stream, gpu.cuda.stream[PTI_STREAM_COMPUTE]);
    for (size_t a = 0; a < 3; a++)
        EXPECT_EQ(launched.origins[a], &gpu.views[a]);
}

TEST(CudaKernel, GetsOneGridForEachPartOfTooLargeABox) {
    Gpu gpu;
    ASSERT_EQ(gpu.launch({3 * 65535, 1, 1}, {1, 1, 1}), POLYTILE_OK);
    ASSERT_EQ(runtime.launches.size(), 3u);
    for (size_t k = 0; k < 3; k++) {
        expect_dim3(runtime.launches[k].grid, 1, 1, 65535);
        EXPECT_EQ(runtime.launches[k].threads.range[0].lo, static_cast<int64_t>(k) * 65535);
        EXPECT_EQ(runtime.launches[k].threads.range[0].hi, static_cast<int64_t>(k + 1) * 65535 - 1);
    }
}

TEST(CudaKernel, HasABlockThatFillsTheGpu) {
    const struct {
        int max_threads;
        int resident_threads[4];
        unsigned n_threads;
    } rows[] = {
        {1024, {2048, 2048, 2048, 2048}, 256},
        {1024, {2048, 1024, 1024, 1024}, 128},
        {1024, {1024, 2048, 2048, 2048}, 256},
        {1024, {1024, 1536, 1024, 2048}, 1024},
        {512, {1024, 1536, 1024, 2048}, 256},
        {1024, {1024, 1024, 2048, 2048}, 512},
        {1024, {0, 0, 0, 0}, 256},
        {64, {2048, 2048, 2048, 2048}, 64},
    };
    for (const auto &row : rows) {
        Gpu gpu;
        runtime.max_threads = row.max_threads;
        std::copy(std::begin(row.resident_threads), std::end(row.resident_threads),
                  runtime.resident_threads);
        ASSERT_EQ(gpu.launch({1000000}), POLYTILE_OK);
        expect_dim3(runtime.launches[0].block, row.n_threads, 1, 1);
    }
}

TEST(CudaKernel, IsLookedAtOnce) {
    Gpu gpu;
    for (int k = 0; k < 3; k++)
        ASSERT_EQ(gpu.launch({1000}), POLYTILE_OK);
    EXPECT_EQ(runtime.n_questions, 1);
    gpu.implementation.cuda = &another_kernel;
    ASSERT_EQ(gpu.launch({1000}), POLYTILE_OK);
    EXPECT_EQ(runtime.n_questions, 2);
}

TEST(CudaKernel, IsLookedAtOnceThoughLaunchesAlternate) {
    Gpu gpu;
    const polytile_character some = {POLYTILE_COALESCING_FULL, {}, {}, {}, {}};
    for (int k = 0; k < 8; k++) {
        gpu.implementation.cuda = k % 2 == 0 ? &the_kernel : &another_kernel;
        gpu.character = k % 4 < 2 ? nullptr : &some;
        ASSERT_EQ(gpu.launch({1000}), POLYTILE_OK);
    }
    EXPECT_EQ(runtime.n_questions, 4);
    for (int64_t k = 0; k < 2 * PTI_CUDA_N_CHOICES; k++) {
        const std::string another_name = "k" + std::to_string(k);
        std::copy_n(another_name.c_str(), another_name.size() + 1, gpu.name);
        ASSERT_EQ(gpu.launch({1000}), POLYTILE_OK);
    }
    EXPECT_EQ(runtime.n_questions, 4 + 2 * PTI_CUDA_N_CHOICES);
}

TEST(CudaKernel, IsTheOneForContiguousViewsWhereAllAre) {
    const polytile_view_shape shapes[] = {{4, 1, POLYTILE_ANY_NUMBER}, {8, 2, POLYTILE_ANY_NUMBER}};
    const struct {
        int64_t x_stride, y_stride; /* of the last dimensions */
        int64_t y_rows;             /* of the one before */
        int64_t last;               /* of the threads */
        bool has_shapes, is_contiguous;
    } rows[] = {{4, 8, 4096, 999, true, true},
                {8, 8, 4096, 999, true, false},
                {4, 4, 4096, 999, true, false},
                {4, -8, 4096, 999, true, false},
                {4, 8, 4096, 999, false, false},
                {4, 8, INT32_MAX, INT32_MAX, true, true},
                {4, 8, INT32_MIN, 999, true, true},
                {4, 8, INT32_MAX + int64_t{1}, 999, true, false},
                {4, 8, INT32_MIN - int64_t{1}, 999, true, false},
                {4, 8, 4096, INT32_MAX + int64_t{1}, true, false}};
    for (const auto &row : rows) {
        Gpu gpu;
        gpu.implementation.cuda_contiguous = &contiguous_kernel;
        gpu.implementation.views = row.has_shapes ? shapes : nullptr;
        gpu.views[0].stride_bytes[0] = row.x_stride;
        gpu.views[1].stride_bytes[0] = row.y_rows;
        gpu.views[1].stride_bytes[1] = row.y_stride;
        ASSERT_EQ(gpu.launch_box({1, {{row.last - 999, row.last, 1}}}), POLYTILE_OK);
        EXPECT_EQ(runtime.launches[0].kernel, row.is_contiguous ? &contiguous_kernel : &the_kernel)
            << "row " << &row - rows;
        EXPECT_EQ(gpu.cuda.choice[0].kernel, runtime.launches[0].kernel);
    }
}

/** A launch by declaration over arrays of 100 x 100 floats, one after the other in memory. */
struct Declared {
    Declared(const std::string &declaration, const std::string &threads)
        : launch(declaration, threads,
                 {{"A", "100x100"}, {"B", "100x100"}, {"C", "100x100"}, {"s", "1x1"}}) {
        EXPECT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        gpu.implementation.cuda_contiguous = &contiguous_kernel;
        gpu.implementation.cuda_coarse = &coarse_kernel;
        gpu.implementation.n_coarse = 4;
        gpu.implementation.views = shapes;
        gpu.implementation.n_views = launch.instance()->n_operands;
        gpu.views.resize(static_cast<size_t>(gpu.implementation.n_views));
        runtime.n_views = gpu.views.size();
        for (size_t a = 0; a < gpu.views.size(); a++) {
            const pti_operand &operand = launch.instance()->operand[a];
            shapes[a] = {4, 2, POLYTILE_ANY_NUMBER};
            gpu.views[a] = {};
            gpu.views[a].origin = reinterpret_cast<void *>((a + 1) * size_t{40000});
            gpu.views[a].stride_bytes[0] = 400;
            gpu.views[a].stride_bytes[1] = 4;
            gpu.views[a].resident = operand.domain;
        }
    }

    const Launched &run(const int64_t *block = nullptr) {
        return run_over(launch.instance(), block);
    }
    /** The same kernel's launch by another instance of its declaration. */
    const Launched &run_over(const pti_instance *instance, const int64_t *block = nullptr) {
        pti_sub_kernel sub = {};
        sub.instance = instance;
        sub.config.implementation = &gpu.implementation;
        sub.threads = &instance->threads;
        sub.views = gpu.views.data();
        sub.config.block = block;
        EXPECT_EQ(pti_cuda_launch(&gpu.cuda, &sub), POLYTILE_OK);
        return runtime.launches.back();
    }

    Gpu gpu;
    Launch launch;
    polytile_view_shape shapes[4];
};

const char *const five_points = "k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const ends = "1:98, 1:98";

TEST(CudaKernel, RunsNeighboursInOneThreadWhereTheyShareWhatTheyRead) {
    const struct {
        const char *declaration;
        bool is_coarse;
    } rows[] = {
        {five_points, true},
        {"k[i, j]: in A[i-1:i+1, j], C[i, j]; inout B[i, j]", true},
        {"k[i, j]: in A[i, j]; out B[i, j]", false},
        {"k[i, j]: in A[i, j-1:j+1]; out B[i, j]", false},
        {"k[i, j]: in A[i-1:i+1, j]; sum s[0, 0]", false},
        {"k[i, j]: in A[i, :], C[:, j]; out B[i, j]", false},
    };
    for (const auto &row : rows) {
        Declared of(row.declaration, ends);
        EXPECT_EQ(of.run().kernel, row.is_coarse ? &coarse_kernel : &contiguous_kernel)
            << row.declaration;
    }
}

TEST(CudaKernel, ThatRunsNeighboursGetsAThreadForEachGroupAndTheOriginsOfItsViews) {
    Declared of(five_points, ends);
    const Launched launched = of.run();
    expect_dim3(launched.block, 128, 2, 1);
    expect_dim3(launched.grid, 1, 13, 1);
    EXPECT_EQ(launched.threads.range[0].lo, 1);
    EXPECT_EQ(launched.threads.range[0].hi, 98);
    EXPECT_EQ(launched.after, launched.origins);
}

TEST(CudaKernel, RunsNeighboursInOneThreadThoughAnEarlierLaunchHadTooFew) {
    Declared one_row(five_points, "5:5, 1:98");
    const Launch all(five_points, ends, {{"A", "100x100"}, {"B", "100x100"}});
    EXPECT_EQ(one_row.run().kernel, &contiguous_kernel);
    EXPECT_EQ(one_row.run_over(all.instance()).kernel, &coarse_kernel);
    EXPECT_EQ(one_row.run().kernel, &coarse_kernel) << "then known, and there is nothing to fill";
}

TEST(CudaKernel, RunsOneThreadEachWhereTheUserAsksForABlockOrFewWouldBeLeft) {
    const int64_t block[] = {8, 32};
    Declared asked(five_points, ends);
    EXPECT_EQ(asked.run(block).kernel, &contiguous_kernel);
    for (const int n_multiprocessors : {1, 2}) {
        Declared of(five_points, ends);
        of.gpu.cuda.n_multiprocessors = n_multiprocessors;
        EXPECT_EQ(of.run().kernel, n_multiprocessors == 1 ? &coarse_kernel : &contiguous_kernel)
            << "98 * 98 / 4 groups, 2048 threads a multiprocessor";
    }
}

TEST(CudaKernel, RunsOneThreadEachWhereWhatIsWrittenIsInAnotherViewsMemory) {
    const struct {
        int64_t shift_bytes; /* of B, from after A */
        int64_t stride_bytes;
        bool is_coarse;
    } rows[] = {{0, 400, true},      {-4, 400, false},     {-40000, 400, false},
                {-80000, 400, true}, {-79996, 400, false}, {39600, -400, true},
                {39596, -400, false}};
    for (const auto &row : rows) {
        Declared of(five_points, ends);
        of.gpu.views[1].origin =
            reinterpret_cast<void *>(static_cast<intptr_t>(80000 + row.shift_bytes));
        of.gpu.views[1].stride_bytes[0] = row.stride_bytes;
        EXPECT_EQ(of.run().kernel, row.is_coarse ? &coarse_kernel : &contiguous_kernel)
            << row.shift_bytes << " " << row.stride_bytes;
    }
    Declared read_twice("k[i, j]: in A[i-1:i+1, j], C[i, j]; out B[i, j]", ends);
    read_twice.gpu.views[1].origin = read_twice.gpu.views[0].origin;
    EXPECT_EQ(read_twice.run().kernel, &coarse_kernel) << "what is only read may be the same";
}

TEST(CudaKernel, RunsOnTheStreamOfItsLane) {
    Gpu gpu;
    for (const int lane : {0, 1, 0, 5, 2}) {
        gpu.lane = lane;
        ASSERT_EQ(gpu.launch({1000}), POLYTILE_OK);
        EXPECT_EQ(runtime.launches.back().stream, gpu.cuda.stream[PTI_STREAM_COMPUTE + lane % 2]);
    }
}

TEST(CudaKernel, TakesTheBlockThatWasAskedFor) {
    Gpu gpu;
    ASSERT_EQ(gpu.launch({100, 100, 100}, {2, 4, 16}), POLYTILE_OK);
    expect_dim3(runtime.launches[0].block, 16, 4, 2);
    expect_dim3(runtime.launches[0].grid, 7, 25, 50);
}

TEST(CudaKernel, RefusesABlockThatItCannotBeLaunchedWith) {
    Gpu gpu;
    runtime.max_threads = 512;
    EXPECT_EQ(gpu.launch({100, 100}, {32, 32}), POLYTILE_INVALID);
    EXPECT_TRUE(gpu.says("1024 threads"));
    EXPECT_TRUE(gpu.says("at most 512"));
    EXPECT_EQ(gpu.launch({100, 1, 1}, {65, 1, 1}), POLYTILE_INVALID);
    EXPECT_TRUE(gpu.says("65 threads"));
    EXPECT_TRUE(gpu.says("at most 64"));
    EXPECT_TRUE(runtime.launches.empty());
}

TEST(CudaKernel, RefusesMoreViewsThanArgumentsHold) {
    const int n_views = static_cast<int>((PTI_CUDA_ARGUMENT_BYTES - sizeof(polytile_domain)) /
                                         sizeof(polytile_view));
    Gpu most(n_views);
    EXPECT_EQ(most.launch({100}), POLYTILE_OK);
    Gpu gpu(n_views + 1);
    EXPECT_EQ(gpu.launch({100}), POLYTILE_UNSUPPORTED);
    EXPECT_TRUE(gpu.says(std::to_string(PTI_CUDA_ARGUMENT_BYTES).c_str()));
    EXPECT_TRUE(runtime.launches.empty());
}

TEST(CudaKernel, SaysWhyCudaHasNoCodeForIt) {
    const struct {
        cudaError_t error;
        const char *advice;
    } rows[] = {{cudaErrorInvalidDeviceFunction, "-cudart shared"},
                {cudaErrorNoKernelImageForDevice, "-arch="}};
    for (const auto &row : rows) {
        Gpu gpu;
        runtime.lookup = row.error;
        EXPECT_EQ(gpu.launch({100}), POLYTILE_UNSUPPORTED);
        EXPECT_TRUE(gpu.says(row.advice));
        EXPECT_TRUE(gpu.says("cudaFuncGetAttributes"));
        runtime.lookup = cudaSuccess;
        runtime.answer = row.error;
        EXPECT_EQ(gpu.launch({100}), POLYTILE_UNSUPPORTED);
        EXPECT_TRUE(gpu.says("cudaLaunchKernel"));
    }
}

TEST(CudaKernel, NamesTheLaunchThatFails) {
    Gpu gpu;
    runtime.answer = cudaErrorLaunchFailure;
    EXPECT_EQ(gpu.launch({100}), POLYTILE_DEVICE);
    EXPECT_TRUE(gpu.says("cudaLaunchKernel"));
}

TEST(CudaKernel, IsNotLaunchedForAnEmptyBox) {
    Gpu gpu;
    EXPECT_EQ(gpu.launch_box(pti_box_empty(2)), POLYTILE_OK);
    gpu.implementation.cuda_launcher = launcher;
    EXPECT_EQ(gpu.launch_box(pti_box_empty(2)), POLYTILE_OK);
    EXPECT_TRUE(runtime.launches.empty());
    EXPECT_EQ(told.threads, nullptr);
}

TEST(CudaKernel, GoesBehindALauncher) {
    Gpu gpu;
    gpu.implementation.cuda_launcher = launcher;
    gpu.implementation.user = &gpu;
    ASSERT_EQ(gpu.launch({100}), POLYTILE_OK);
    EXPECT_TRUE(runtime.launches.empty());
    EXPECT_EQ(told.stream, gpu.cuda.stream[PTI_STREAM_COMPUTE]);
    EXPECT_EQ(told.views, gpu.views.data());
    EXPECT_EQ(told.n_views, 2);
    EXPECT_EQ(told.user, &gpu);
    EXPECT_TRUE(told.is_first);
}

TEST(CudaKernel, DoesNotBlameItsLauncherForAnErrorFromBefore) {
    Gpu gpu;
    gpu.implementation.cuda_launcher = [](const polytile_sub_kernel *) { return 0; };
    runtime.pending = cudaErrorMemoryAllocation;
    EXPECT_EQ(gpu.launch({100}), POLYTILE_OK) << polytile_last_error(gpu.context);
}

TEST(CudaKernel, ComesBackToItsDeviceAfterALauncher) {
    for (const int returned : {0, 3}) {
        Gpu gpu;
        gpu.cuda.number = 2;
        gpu.implementation.cuda_launcher = launcher;
        launcher_returns = returned;
        launcher_enters = 5;
        EXPECT_EQ(gpu.launch({100}), returned == 0 ? POLYTILE_OK : POLYTILE_DEVICE);
        EXPECT_EQ(runtime.current_device, 2);
    }
}

TEST(CudaKernel, AnswersForWhatItsLauncherDoes) {
    Gpu gpu;
    gpu.implementation.cuda_launcher = launcher;
    launcher_returns = 3;
    EXPECT_EQ(gpu.launch({100}), POLYTILE_DEVICE);
    EXPECT_TRUE(gpu.says("returned 3"));
    launcher_returns = 0;
    launcher_leaves = cudaErrorInvalidConfiguration;
    EXPECT_EQ(gpu.launch({100}), POLYTILE_DEVICE);
    EXPECT_TRUE(gpu.says("launcher"));
    EXPECT_TRUE(gpu.says("cudaErrorInvalidConfiguration"));
}

} // namespace
