#include "launch/cuda/runs.h"
#include "support/environment.h"

#include <polytile/tuning.h>

#include <filesystem>
#include <fstream>

extern "C" {
#include "access/set/boxes.h"
#include "launch/cuda/block.h"
#include "launch/cuda/kernel.h"
#include "launch/cuda/tune.h"
}

/* Blocks by tuning tables, and by measuring. The runtime of most tests here says how long a block
 * takes, and counts how often the kernel ran. */

namespace {

namespace fs = std::filesystem;

struct Runtime {
    std::vector<const void *> kernels;
    std::vector<dim3> grids, blocks; /* of all launches */
    double coarse_cost = 1;          /* of the kernel that runs neighbours, times a block's */
    std::vector<size_t> marks;       /* how many launches there were when an event was recorded */
    std::vector<cudaFuncCache> caches;
    double (*cost_ms)(dim3 block) = [](dim3) { return 1.0; };
    int max_threads = 1024;
    int n_events = 0;  /* that were made and not destroyed */
    int fails_at = -1; /* the launch that fails, from 0 */
};

Runtime runtime;
char the_kernel, contiguous_kernel, coarse_kernel;

cudaError_t launch_kernel(const void *kernel, dim3 grid, dim3 block, void **, size_t,
                          cudaStream_t) {
    runtime.kernels.push_back(kernel);
    runtime.grids.push_back(grid);
    runtime.blocks.push_back(block);
    return static_cast<int>(runtime.blocks.size()) - 1 == runtime.fails_at ? cudaErrorLaunchFailure
                                                                           : cudaSuccess;
}

size_t number_of(cudaEvent_t event) {
    return reinterpret_cast<size_t>(event);
}

cudaError_t create_event(cudaEvent_t *event, unsigned) {
    runtime.n_events++;
    runtime.marks.push_back(0);
    *event = reinterpret_cast<cudaEvent_t>(runtime.marks.size());
    return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t) {
    runtime.marks[number_of(event) - 1] = runtime.blocks.size();
    return cudaSuccess;
}

cudaError_t elapsed(float *ms, cudaEvent_t from, cudaEvent_t to) {
    *ms = 0;
    for (size_t k = runtime.marks[number_of(from) - 1]; k < runtime.marks[number_of(to) - 1]; k++)
        *ms += static_cast<float>(runtime.cost_ms(runtime.blocks[k]) *
                                  (runtime.kernels[k] == &coarse_kernel ? runtime.coarse_cost : 1));
    return cudaSuccess;
}

class CudaBlock : public testing::Test {
  protected:
    void SetUp() override {
        char directory[] = "/tmp/polytile-block-XXXXXX";
        home = mkdtemp(directory);
        environment.set("POLYTILE_CACHE", (home / "cache").c_str());
        environment.set("POLYTILE_TUNING", nullptr);
        environment.set("POLYTILE_TUNE", nullptr);
        fill_in_api();
        instance.kernel_name = name;
        instance.n_operands = 2;
        instance.operand = operands;
        operands[0].name = input;
        operands[0].reads = true;
        operands[1].name = output;
        operands[1].writes = true;
        implementation.cuda = &the_kernel;
        start();
    }
    void TearDown() override {
        polytile_context_destroy(context);
        fs::remove_all(home);
    }

    static void fill_in_api() {
        api = {};
        api.cudaFuncGetAttributes = [](cudaFuncAttributes *attributes, const void *) {
            *attributes = {};
            attributes->maxThreadsPerBlock = runtime.max_threads;
            return cudaSuccess;
        };
        api.cudaFuncSetCacheConfig = [](const void *, cudaFuncCache cache) {
            runtime.caches.push_back(cache);
            return cudaSuccess;
        };
        api.cudaOccupancyMaxActiveBlocksPerMultiprocessor = [](int *n_blocks, const void *,
                                                               int n_threads, size_t) {
            *n_blocks = 2048 / n_threads;
            return cudaSuccess;
        };
        api.cudaLaunchKernel = launch_kernel;
        api.cudaEventCreateWithFlags = create_event;
        api.cudaEventDestroy = [](cudaEvent_t) {
            runtime.n_events--;
            return cudaSuccess;
        };
        api.cudaEventRecord = record;
        api.cudaEventSynchronize = [](cudaEvent_t) { return cudaSuccess; };
        api.cudaEventElapsedTime = elapsed;
        api.cudaGetLastError = [] { return cudaSuccess; };
        api.cudaSetDevice = [](int) { return cudaSuccess; };
        api.cudaMemGetInfo = [](size_t *, size_t *) { return cudaSuccess; };
    }

    /** As a new process. */
    void start() {
        polytile_context_destroy(context);
        ASSERT_EQ(polytile_context_create(&context), POLYTILE_OK);
        runtime = {};
        cuda = {};
        cuda.device.object.context = context;
        cuda.api = &api;
        cuda.capability = 90;
        cuda.n_lanes = 1;
    }

    void tune() {
        environment.set("POLYTILE_TUNE", "1");
        start();
    }

    /** Let the body have one, for views side by side in memory. */
    void give_coarse_kernel() {
        static const polytile_view_shape shapes[] = {{4, 2, POLYTILE_ANY_NUMBER},
                                                     {4, 2, POLYTILE_ANY_NUMBER}};
        implementation.views = shapes;
        implementation.cuda_contiguous = &contiguous_kernel;
        implementation.cuda_coarse = &coarse_kernel;
        implementation.n_coarse = 4;
        for (int a = 0; a < 2; a++) {
            views[a].origin =
                reinterpret_cast<void *>(size_t{4000000} * static_cast<size_t>(a + 1));
            views[a].stride_bytes[0] = 4000;
            views[a].stride_bytes[1] = 4;
            views[a].resident = polytile_domain_from_extents(2, (const int64_t[]){1000, 1000});
            operands[a].element_bytes = 4;
        }
        instance.threads = views[0].resident;
        instance.n_indices = 2;
    }

    polytile_status launch(const std::vector<int64_t> &counts, const int64_t *block = nullptr) {
        const polytile_domain threads =
            polytile_domain_from_extents(static_cast<int>(counts.size()), counts.data());
        pti_sub_kernel sub_kernel = {};
        sub_kernel.instance = &instance;
        sub_kernel.config.implementation = &implementation;
        sub_kernel.config.character = &character;
        sub_kernel.threads = &threads;
        sub_kernel.views = views;
        sub_kernel.config.block = block;
        return pti_cuda_launch(&cuda, &sub_kernel);
    }

    /** The block of a launch, as "x y z". */
    std::string block_of(const std::vector<int64_t> &counts, const int64_t *block = nullptr) {
        EXPECT_EQ(launch(counts, block), POLYTILE_OK) << polytile_last_error(context);
        const dim3 b = runtime.blocks.empty() ? dim3(0, 0, 0) : runtime.blocks.back();
        return std::to_string(b.x) + " " + std::to_string(b.y) + " " + std::to_string(b.z);
    }

    void load(const std::string &rows) {
        std::ofstream(home / "table.json")
            << "{\"version\": 1, \"architectures\": {\"hopper\": [\"9.0\"]}, \"rows\": [" << rows
            << "]}";
        ASSERT_EQ(polytile_tuning_load(context, (home / "table.json").c_str()), POLYTILE_OK)
            << polytile_last_error(context);
    }

    Environment environment;
    fs::path home;
    polytile_context *context = nullptr;
    static pti_cuda_api api;
    pti_cuda_device cuda = {};
    char name[8] = "fold", input[2] = "x", output[2] = "y";
    pti_operand operands[2] = {};
    pti_instance instance = {};
    polytile_implementation implementation = {};
    polytile_character character = {};
    polytile_view views[2] = {};
};

pti_cuda_api CudaBlock::api;

TEST_F(CudaBlock, IsTheTablesBeforeThatOfTheMostThreadsAndBehindTheUsers) {
    const int64_t asked[] = {4, 64};
    load(R"({"architecture": "hopper", "coalescing": "full", "block": [2, 64]})");
    EXPECT_EQ(block_of({1000, 1000}), "32 8 1");
    character.coalescing = POLYTILE_COALESCING_FULL;
    EXPECT_EQ(block_of({1000, 1000}), "64 2 1");
    EXPECT_EQ(block_of({1000, 1000}, asked), "64 4 1");
    cuda.capability = 80;
    character.coalescing = POLYTILE_COALESCING_SCATTER;
    EXPECT_EQ(block_of({1000, 1000}), "32 8 1");
}

TEST_F(CudaBlock, IsNewWhenATableIsLoaded) {
    EXPECT_EQ(block_of({1000}), "256 1 1");
    load(R"({"architecture": "hopper", "block": [64]})");
    EXPECT_EQ(block_of({1000}), "64 1 1");
    load(R"({"architecture": "hopper", "kernel": "fold", "block": [512]})");
    EXPECT_EQ(block_of({1000}), "512 1 1");
}

TEST_F(CudaBlock, IsFittedToTheLaunch) {
    const struct {
        const char *block;
        std::vector<int64_t> counts;
        int max_threads;
        const char *fitted;
    } rows[] = {
        {"[4, 64]", {1000, 1000}, 1024, "64 4 1"},
        {"[4, 64]", {1000, 33}, 1024, "64 4 1"},
        {"[4, 64]", {1000, 32}, 1024, "32 8 1"},
        {"[4, 64]", {1, 1000}, 1024, "256 1 1"},
        {"[4, 64]", {1, 1}, 1024, "1 1 1"},
        {"[4, 64]", {1000, 1000}, 128, "64 2 1"},
        {"[4, 64]", {1000, 1000}, 32, "32 1 1"},
        {"[96]", {1000}, 1024, "96 1 1"},
        {"[96]", {1000}, 64, "48 1 1"},
        {"[256]", {1000, 1000}, 1024, "32 8 1"},
        {"[4, 64]", {100000}, 1024, "256 1 1"},
        {"[4, 8, 16]", {100, 100}, 1024, "32 16 1"},
        {"[4, 8, 16]", {100, 100, 100}, 1024, "16 8 4"},
        {"[4, 8, 16]", {100, 100, 100}, 256, "16 8 2"},
        {"[4, 8, 16]", {2, 100, 100}, 1024, "32 8 2"},
        {"[4, 8, 16]", {9, 9, 100, 100}, 1024, "16 8 4"},
    };
    for (const auto &row : rows) {
        start();
        runtime.max_threads = row.max_threads;
        load(std::string(R"({"architecture": "hopper", "block": )") + row.block + "}");
        EXPECT_EQ(block_of(row.counts), row.fitted)
            << row.block << " row " << &row - rows << " at most " << row.max_threads;
    }
}

TEST_F(CudaBlock, ComesWithItsCachePreference) {
    const struct {
        const char *word;
        std::vector<cudaFuncCache> caches;
    } rows[] = {{"none", {}},
                {"shared", {cudaFuncCachePreferShared}},
                {"l1", {cudaFuncCachePreferL1}},
                {"equal", {cudaFuncCachePreferEqual}}};
    for (const auto &row : rows) {
        start();
        load(std::string(R"({"architecture": "hopper", "block": [64], "cache": ")") + row.word +
             "\"}");
        block_of({1000});
        block_of({2000});
        EXPECT_EQ(runtime.caches, row.caches) << row.word;
    }
}

TEST_F(CudaBlock, IsNotGuessedWhereTheEnvironmentsTableIsWrong) {
    std::ofstream(home / "wrong.json") << "{\n{";
    environment.set("POLYTILE_TUNING", (home / "wrong.json").c_str());
    start();
    EXPECT_EQ(launch({1000}), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(context)).find("wrong.json:2: "), std::string::npos);
    EXPECT_TRUE(runtime.blocks.empty());
}

double wide_is_best(dim3 block) {
    return block.x == 128 && block.y == 2 ? 0.5 : 1.0;
}

TEST_F(CudaBlock, IsMeasuredOnceAndKeptForLaterProcesses) {
    tune();
    runtime.cost_ms = wide_is_best;
    EXPECT_EQ(block_of({1000, 1000}), "128 2 1");
    const size_t n_runs = runtime.blocks.size();
    EXPECT_GT(n_runs, 40u);
    EXPECT_LT(n_runs, 80u);
    EXPECT_EQ(runtime.n_events, 0);
    EXPECT_EQ(block_of({1000, 1000}), "128 2 1");
    EXPECT_EQ(runtime.blocks.size(), n_runs + 1);
    for (const char *value : {"1", "0"}) {
        environment.set("POLYTILE_TUNE", value);
        start();
        EXPECT_EQ(block_of({1000, 1000}), "128 2 1");
        EXPECT_EQ(runtime.blocks.size(), 1u);
    }
    cuda.capability = 80;
    name[0] = 'h';
    EXPECT_EQ(block_of({1000, 1000}), "32 8 1") << "another kernel on another GPU";
}

TEST_F(CudaBlock, IsMeasuredForEachNumberOfIndices) {
    tune();
    runtime.cost_ms = [](dim3 block) { return block.x == 64 ? 0.5 : 1.0; };
    EXPECT_EQ(block_of({1 << 20}), "64 1 1");
    name[0] = 'h';
    runtime.cost_ms = [](dim3 block) { return block.z == 8 ? 0.5 : 1.0; };
    EXPECT_EQ(block_of({100, 100, 100}), "32 2 8");
    name[0] = 'm';
    runtime.cost_ms = [](dim3 block) { return block.z == 4 ? 0.5 : 1.0; };
    EXPECT_EQ(block_of({10, 10, 100, 100}), "32 4 4");
}

TEST_F(CudaBlock, IsMeasuredAnewForACharacterThatNoRowOfTheKernelFits) {
    tune();
    character.reuse = POLYTILE_LEVEL_HIGH;
    runtime.cost_ms = [](dim3 block) { return block.x == 1024 ? 0.5 : 1.0; };
    EXPECT_EQ(block_of({1 << 20}), "1024 1 1");
    character.reuse = POLYTILE_LEVEL_DEF;
    runtime.cost_ms = [](dim3 block) { return block.x == 64 ? 0.5 : 1.0; };
    EXPECT_EQ(block_of({1 << 20}), "64 1 1");
    character.reuse = POLYTILE_LEVEL_HIGH;
    EXPECT_EQ(block_of({1 << 20}), "1024 1 1");
    character.reuse = POLYTILE_LEVEL_LOW;
    EXPECT_EQ(block_of({1 << 20}), "64 1 1") << "the row of which nothing is known fits all";
}

TEST_F(CudaBlock, StaysThatOfTheMostThreadsWhereOthersGainNothing) {
    tune();
    runtime.cost_ms = [](dim3 block) { return block.x == 256 ? 1.0 : 0.99; };
    EXPECT_EQ(block_of({1 << 20}), "256 1 1");
}

TEST_F(CudaBlock, IsMeasuredOnlyWhereTheKernelCanHaveIt) {
    tune();
    runtime.max_threads = 128;
    runtime.cost_ms = [](dim3 block) { return 1.0 / (block.x * block.y); };
    EXPECT_EQ(block_of({1000, 1000}), "32 4 1");
    for (const dim3 &block : runtime.blocks)
        EXPECT_LE(block.x * block.y * block.z, 128u);
}

TEST_F(CudaBlock, IsNotMeasuredWhereThatIsNotAskedOrNotNeeded) {
    const int64_t asked[] = {128};
    block_of({1 << 20});
    EXPECT_EQ(runtime.blocks.size(), 1u) << "not asked";
    tune();
    block_of({1 << 20}, asked);
    EXPECT_EQ(runtime.blocks.size(), 1u) << "the user has chosen";
    block_of({1000});
    EXPECT_EQ(runtime.blocks.size(), 2u) << "too small to tell";
    load(R"({"architecture": "hopper", "block": [64]})");
    block_of({1 << 20});
    EXPECT_EQ(runtime.blocks.size(), 3u) << "there is a row";
}

TEST_F(CudaBlock, IsNotMeasuredByALaunchThatCannotBeRepeated) {
    environment.set("POLYTILE_LOG", "info");
    for (const bool reduces : {false, true}) {
        tune();
        operands[1].reads = !reduces;
        operands[1].reduces = reduces;
        testing::internal::CaptureStderr();
        block_of({1 << 20});
        block_of({1 << 20});
        const std::string told = testing::internal::GetCapturedStderr();
        EXPECT_EQ(runtime.blocks.size(), 2u);
        const size_t at = told.find("fold: no thread blocks are measured");
        EXPECT_NE(at, std::string::npos) << told;
        EXPECT_EQ(told.find("fold: no thread", at + 1), std::string::npos) << "once: " << told;
        EXPECT_NE(told.find("to y"), std::string::npos) << told;
    }
}

TEST_F(CudaBlock, AFailureWhileMeasuringIsThatOfTheLaunch) {
    tune();
    runtime.fails_at = 7;
    EXPECT_EQ(launch({1 << 20}), POLYTILE_DEVICE);
    EXPECT_NE(std::string(polytile_last_error(context)).find("cudaLaunchKernel"),
              std::string::npos);
    EXPECT_EQ(runtime.n_events, 0);
    EXPECT_FALSE(fs::exists(home / "cache/tuning.json"));
}

TEST_F(CudaBlock, ATableSaysWhetherAThreadRunsSeveralNeighbours) {
    give_coarse_kernel();
    EXPECT_EQ(block_of({1000, 1000}), "32 8 1") << "nothing is declared to be shared";
    load(R"({"architecture": "hopper", "block": [2, 64], "coarsening": 4})");
    EXPECT_EQ(block_of({1000, 1000}), "64 2 1");
    EXPECT_EQ(runtime.kernels.back(), &coarse_kernel);
    EXPECT_EQ(runtime.grids.back().y, 125u);
    load(R"({"architecture": "hopper", "block": [2, 64], "coarsening": 1})");
    EXPECT_EQ(block_of({1000, 1000}), "64 2 1");
    EXPECT_EQ(runtime.kernels.back(), &contiguous_kernel);
    EXPECT_EQ(runtime.grids.back().y, 500u);
}

TEST_F(CudaBlock, NeighboursInOneThreadAreMeasuredToo) {
    for (const bool is_best : {false, true}) {
        environment.set("POLYTILE_CACHE", (home / (is_best ? "1" : "0")).c_str());
        tune();
        give_coarse_kernel();
        runtime.coarse_cost = is_best ? 0.5 : 2.0;
        runtime.cost_ms = wide_is_best;
        EXPECT_EQ(block_of({1000, 1000}), "128 2 1");
        EXPECT_EQ(runtime.kernels.back() == &coarse_kernel, is_best);
        EXPECT_NE(std::count(runtime.kernels.begin(), runtime.kernels.end(), &coarse_kernel), 0);
        EXPECT_NE(std::count(runtime.kernels.begin(), runtime.kernels.end(), &contiguous_kernel),
                  0);
        environment.set("POLYTILE_TUNE", nullptr);
        start();
        EXPECT_EQ(block_of({1000, 1000}), "128 2 1") << "in a later process";
        EXPECT_EQ(runtime.kernels.back() == &coarse_kernel, is_best);
    }
}

TEST_F(CudaBlock, RunsAreRightWhileTheyAreMeasured) {
    environment.set("POLYTILE_TUNE", "1");
    expect_large_arrays_run<FakeWorld>(test_seed("CudaBlock.RunsAreRightWhileTheyAreMeasured"));
    EXPECT_TRUE(fs::exists(home / "cache/tuning.json"));
    std::ostringstream text;
    text << std::ifstream(home / "cache/tuning.json").rdbuf();
    EXPECT_NE(text.str().find("\"add\""), std::string::npos);
    EXPECT_NE(text.str().find("\"heat\""), std::string::npos);
    EXPECT_EQ(text.str().find("\"scale\""), std::string::npos) << "it updates in place";
}

} // namespace
